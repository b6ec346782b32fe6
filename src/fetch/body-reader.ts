/** Reads a body by its framing and hands its bytes on, from bytes as they come. */

import { createChunked, nextStretch, type Chunked } from './chunked.ts';
import type { Framing } from './framing.ts';
import type { Span } from './span.ts';

/** Where the bytes of a body go. */
export interface Sink {
  /** Take this many bytes from the span (which it does not move); false when it cannot hold them all. */
  take(span: Span, count: number): boolean;
}

/** `more`: the body goes on. `done`: it is whole. `cut`: the sink is full. `bad`: the framing makes no sense. */
export type BodyState = 'more' | 'done' | 'cut' | 'bad';

export interface BodyReader {
  readonly framing: Framing;
  /** For `length`: what is still to come. */
  leftBytes: number;
  readonly chunked: Chunked | null;
}

export const createBodyReader = (framing: Framing): BodyReader => ({
  framing,
  leftBytes: framing.lengthBytes,
  chunked: framing.kind === 'chunked' ? createChunked() : null,
});

/** Read on. Bytes after the end of the body stay in the span. */
export const readBody = (reader: BodyReader, span: Span, sink: Sink): BodyState => {
  switch (reader.framing.kind) {
    case 'none':
      return 'done';
    case 'close':
      return pass(span, span.end - span.at, sink) ? 'more' : 'cut';
    case 'length': {
      const count = Math.min(reader.leftBytes, span.end - span.at);
      reader.leftBytes -= count;
      if (!pass(span, count, sink)) return 'cut';
      return reader.leftBytes === 0 ? 'done' : 'more';
    }
    case 'chunked':
      return readChunks(reader.chunked as Chunked, span, sink);
  }
};

/** The connection ended here: was that the end of the body? */
export const endsWithConnection = (reader: BodyReader): boolean => reader.framing.kind === 'close';

const readChunks = (chunked: Chunked, span: Span, sink: Sink): BodyState => {
  for (let count = nextStretch(chunked, span); count > 0; count = nextStretch(chunked, span)) {
    if (!pass(span, count, sink)) return 'cut';
  }
  return chunked.at === 'done' || chunked.at === 'bad' ? chunked.at : 'more';
};

const pass = (span: Span, count: number, sink: Sink): boolean => {
  if (count === 0) return true;
  const whole = sink.take(span, count);
  span.at += count;
  return whole;
};

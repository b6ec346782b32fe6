/** Takes the framing off a chunked body (RFC 9112, section 7.1), from bytes as they come. */

import type { Span } from './span.ts';

/** A size line with its extensions; servers that use any stay below 100 bytes. */
export const CHUNK_LINE_BYTES_MAX = 4 * 1024;
/** All trailer lines together; they are read over, never used. */
export const TRAILER_BYTES_MAX = 16 * 1024;
/** A larger chunk than any body we would keep; larger sizes are nonsense or an attack on arithmetic. */
export const CHUNK_BYTES_MAX = 2 ** 40;

export interface Chunked {
  at: 'size' | 'rest-of-line' | 'bytes' | 'line-end' | 'trailer' | 'done' | 'bad';
  /** The size being read, then the bytes of the chunk still to come. */
  leftBytes: number;
  digits: number;
  /** Bytes of the line being read; of all trailers in the trailer. */
  lineBytes: number;
  /** In the trailer: the line so far is empty. */
  lineIsEmpty: boolean;
}

export const createChunked = (): Chunked => ({ at: 'size', leftBytes: 0, digits: 0, lineBytes: 0, lineIsEmpty: true });

/**
 * Read up to the next stretch of body and say how long it is; it begins at `span.at`, and
 * whoever reads it moves on over it. 0: the span is at its end, or the body is `done` or `bad`.
 */
export const nextStretch = (chunked: Chunked, span: Span): number => {
  while (span.at < span.end) {
    if (chunked.at === 'bytes') {
      const count = Math.min(chunked.leftBytes, span.end - span.at);
      chunked.leftBytes -= count;
      if (chunked.leftBytes === 0) chunked.at = 'line-end';
      return count;
    }
    if (chunked.at === 'done' || chunked.at === 'bad') return 0;
    readByte(chunked, span.bytes[span.at++] as number);
  }
  return 0;
};

const LF = 10;
const CR = 13;

const readByte = (chunked: Chunked, byte: number): void => {
  chunked.lineBytes++;
  switch (chunked.at) {
    case 'size':
      return readSize(chunked, byte);
    case 'rest-of-line':
      if (byte === LF) return endSizeLine(chunked);
      if (chunked.lineBytes > CHUNK_LINE_BYTES_MAX) chunked.at = 'bad';
      return;
    case 'line-end':
      if (byte === LF) return beginSize(chunked);
      if (byte !== CR || chunked.lineBytes > 1) chunked.at = 'bad';
      return;
    case 'trailer':
      if (byte === LF && chunked.lineIsEmpty) chunked.at = 'done';
      else if (byte === LF) chunked.lineIsEmpty = true;
      else if (byte !== CR) chunked.lineIsEmpty = false;
      if (chunked.lineBytes > TRAILER_BYTES_MAX && chunked.at !== 'done') chunked.at = 'bad';
      return;
    case 'bytes':
    case 'done':
    case 'bad':
      return;
  }
};

const readSize = (chunked: Chunked, byte: number): void => {
  const digit = hexValue(byte);
  if (digit !== -1) {
    chunked.leftBytes = chunked.leftBytes * 16 + digit;
    chunked.digits++;
    if (chunked.leftBytes > CHUNK_BYTES_MAX || chunked.lineBytes > CHUNK_LINE_BYTES_MAX) chunked.at = 'bad';
    return;
  }
  if (chunked.digits === 0) chunked.at = 'bad';
  else if (byte === LF) endSizeLine(chunked);
  // An extension, or the blanks that some servers pad the size with.
  else if (byte === CR || byte === 0x3b || byte === 32 || byte === 9) chunked.at = 'rest-of-line';
  else chunked.at = 'bad';
};

const endSizeLine = (chunked: Chunked): void => {
  chunked.lineBytes = 0;
  chunked.lineIsEmpty = true;
  chunked.at = chunked.leftBytes === 0 ? 'trailer' : 'bytes';
};

const beginSize = (chunked: Chunked): void => {
  chunked.at = 'size';
  chunked.leftBytes = 0;
  chunked.digits = 0;
  chunked.lineBytes = 0;
};

const hexValue = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
};

/** Reads the head of a response from bytes as they come; lenient where browsers are. */

import type { Span } from './span.ts';

/** All heads of one response together, interim (1xx) ones included. Browsers stop at 256 KiB; real ones have 1-8. */
export const HEAD_BYTES_MAX = 64 * 1024;
/** Lines of one head. Real responses have fewer than 100. */
export const HEAD_LINES_MAX = 1_000;

export interface ResponseHead {
  readonly kind: 'head';
  /** As it came, latin1, with the empty line that ends it. */
  readonly text: string;
  readonly status: number;
  /** HTTP/1.1 or later within 1.x: connections persist unless the response says otherwise. */
  readonly persists: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

export interface BadHead {
  readonly kind: 'bad';
  readonly detail: string;
}

/** What was read so far of a head that came in pieces. */
export interface HeadReader {
  kept: Buffer | null;
  keptBytes: number;
  /** Bytes that earlier interim heads and empty lines took. */
  spentBytes: number;
}

export const createHeadReader = (): HeadReader => ({ kept: null, keptBytes: 0, spentBytes: 0 });

/** The final head, or null when more bytes are needed. The span is then read to its end. */
export const readHead = (reader: HeadReader, span: Span): ResponseHead | BadHead | null => {
  for (;;) {
    const text = reader.kept === null ? readWhole(reader, span) : readPiece(reader, span);
    if (text === null) {
      const readBytes = reader.spentBytes + reader.keptBytes;
      if (readBytes > HEAD_BYTES_MAX) return TOO_LARGE;
      return reader.kept !== null && !beginsAsHttp(reader.kept, reader.keptBytes) ? NOT_HTTP : null;
    }
    reader.spentBytes += text.length;
    if (reader.spentBytes > HEAD_BYTES_MAX) return TOO_LARGE;
    const head = parseHead(text);
    if (head.kind === 'bad' || head.status >= 200) return head;
    // Nothing was offered that a server could switch to: what follows would not be HTTP.
    if (head.status === 101) return { kind: 'bad', detail: 'switched protocols unasked' };
  }
};

const TOO_LARGE: BadHead = { kind: 'bad', detail: 'the head is over the ceiling' };
const NOT_HTTP: BadHead = { kind: 'bad', detail: 'the response is not HTTP' };
const LF = 10;
const CR = 13;

/** The usual case: the head lies whole in one read and is never copied. */
const readWhole = (reader: HeadReader, span: Span): string | null => {
  const { bytes } = span;
  while (span.at < span.end && (bytes[span.at] === LF || bytes[span.at] === CR)) {
    span.at++; // empty lines before a status line are skipped
    reader.spentBytes++;
  }
  if (span.at === span.end) return null;
  const end = findEnd(bytes, span.at, span.end);
  if (end !== -1) {
    const text = bytes.toString('latin1', span.at, end);
    span.at = end;
    return text;
  }
  reader.kept = Buffer.allocUnsafeSlow(Math.max(1024, sizeFor(span.end - span.at)));
  reader.keptBytes = 0;
  keep(reader, span, span.end);
  return null;
};

const readPiece = (reader: HeadReader, span: Span): string | null => {
  const before = reader.keptBytes;
  const at = span.at;
  // Never keep much more than the ceiling, whatever the size of the read.
  keep(reader, span, Math.min(span.end, span.at + HEAD_BYTES_MAX + 1 - before));
  const kept = reader.kept as Buffer;
  const end = findEnd(kept, Math.max(0, before - 3), reader.keptBytes);
  if (end === -1) return null;
  span.at = at + (end - before);
  reader.kept = null;
  reader.keptBytes = 0;
  return kept.toString('latin1', 0, end);
};

const keep = (reader: HeadReader, span: Span, until: number): void => {
  const needed = reader.keptBytes + Math.max(0, until - span.at);
  let kept = reader.kept as Buffer;
  if (needed > kept.length) {
    const larger = Buffer.allocUnsafeSlow(sizeFor(needed));
    kept.copy(larger, 0, 0, reader.keptBytes);
    reader.kept = kept = larger;
  }
  span.bytes.copy(kept, reader.keptBytes, span.at, until);
  reader.keptBytes = needed;
  span.at = span.end;
};

/**
 * Twice what is needed, so that it need not grow often, but not twice the ceiling: every socket may meet a head without
 * end.
 */
const sizeFor = (neededBytes: number): number => Math.max(neededBytes, Math.min(2 * neededBytes, HEAD_BYTES_MAX + 1));

/** Where the empty line ends, or -1. Lines end with CR LF or a bare LF. */
const findEnd = (bytes: Buffer, from: number, to: number): number => {
  for (let at = bytes.indexOf(LF, from); at !== -1 && at < to; at = bytes.indexOf(LF, at + 1)) {
    if (at + 1 < to && bytes[at + 1] === LF) return at + 2;
    if (at + 2 < to && bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return -1;
};

/** Garbage is known by its first bytes: no need to wait for an end that will not come. */
const beginsAsHttp = (bytes: Buffer, length: number): boolean => {
  const known = Math.min(length, 5);
  return bytes.toString('latin1', 0, known).toUpperCase() === 'HTTP/'.slice(0, known);
};

const STATUS_LINE = /^HTTP\/(\d)(?:\.(\d))?[ \t]+(\d{3})(?:[ \t]|$)/i;

/** Read a whole head. Lines that are no fields are passed over; they stay in the text. */
export const parseHead = (text: string): ResponseHead | BadHead => {
  let lineEnd = text.indexOf('\n');
  const found = STATUS_LINE.exec(text.slice(0, endOfLine(text, 0, lineEnd)));
  if (found === null) return NOT_HTTP;
  const status = Number(found[3]);
  if (status < 100) return { kind: 'bad', detail: `status ${found[3]}` };

  // No prototype: a field named __proto__ or constructor is a field like any other.
  const headers = Object.create(null) as Record<string, string>;
  let name = '';
  let lines = 0;
  for (let at = lineEnd + 1; at < text.length; at = lineEnd + 1) {
    if (++lines > HEAD_LINES_MAX) return { kind: 'bad', detail: 'the head has too many lines' };
    lineEnd = text.indexOf('\n', at);
    if (lineEnd === -1) lineEnd = text.length;
    const end = endOfLine(text, at, lineEnd);
    const first = text.charCodeAt(at);
    if (end > at && (first === 32 || first === 9)) {
      // Obsolete folding (RFC 9112, 5.2): the line goes on with the field before it.
      const more = trimmed(text, at, end);
      if (name !== '') headers[name] = headers[name] === '' ? more : `${headers[name]} ${more}`;
      continue;
    }
    const colon = text.indexOf(':', at);
    if (colon === -1 || colon >= end) {
      name = '';
      continue;
    }
    name = trimmed(text, at, colon).toLowerCase();
    if (name === '') continue;
    const value = trimmed(text, colon + 1, end);
    const former = headers[name];
    // A second Location is the first one again, or one that cannot be followed together with it.
    if (former !== undefined && name === 'location') continue;
    headers[name] = former === undefined ? value : `${former}, ${value}`;
  }
  return { kind: 'head', text, status, persists: found[1] === '1' && Number(found[2] ?? 0) >= 1, headers };
};

const endOfLine = (text: string, from: number, lineEnd: number): number =>
  lineEnd > from && text.charCodeAt(lineEnd - 1) === CR ? lineEnd - 1 : lineEnd;

/** Without spaces and tabs at its ends. String.trim would also take 0xA0, which may be half a UTF-8 letter. */
const trimmed = (text: string, from: number, to: number): string => {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
};

const isBlank = (code: number): boolean => code === 32 || code === 9;

/** The head of an HTTP message beside its stored body: what it says of the body must be true. */

import type { Answered } from '../model/exchange.ts';

/** Some readers take a line of nothing but white space for the empty one. */
const EMPTY_LINES = /\r?\n[\s\x1c-\x1f\x85]*\n/g;
const LAST_LINE_END = /\r?\n$/;
const TRANSFER_ENCODING = /^(?=transfer-encoding[ \t]*:)/gim;
const CONTENT_LENGTH = /^(?=content-length[ \t]*:)/gim;

/**
 * The head of an answer as it came, except where a reader would be misled: the chunk framing is
 * gone and a body may have been cut, so fields that speak of those are kept under another name
 * (`X-Crawler-`, as Common Crawl does) and the right length is added. An empty line ends a head
 * for every reader, so none may stand inside it.
 */
export const storedHead = (answer: Pick<Answered, 'head' | 'headers' | 'body'>): string => {
  const lines = answer.head.replace(EMPTY_LINES, '\r\n').replace(LAST_LINE_END, '');
  const told = answer.headers['content-length'];
  const length = String(answer.body.length);
  const chunked = answer.headers['transfer-encoding'] !== undefined;
  if (!chunked && (told === undefined || told === length)) return `${lines}\r\n\r\n`;
  let head = lines.replace(TRANSFER_ENCODING, 'X-Crawler-');
  if (told === length) return `${head}\r\n\r\n`;
  head = head.replace(CONTENT_LENGTH, 'X-Crawler-');
  return `${head}\r\nContent-Length: ${length}\r\n\r\n`;
};

/** A stored HTTP message in its two parts; the head keeps the empty line that ends it. */
export const splitHttp = (block: Buffer): { head: string; body: Buffer } => {
  let at = block.indexOf(LF);
  while (at !== -1) {
    const next = block[at + 1] === CR ? at + 2 : at + 1;
    if (block[next] === LF) return { head: block.toString('latin1', 0, next + 1), body: block.subarray(next + 1) };
    at = block.indexOf(LF, at + 1);
  }
  return { head: block.toString('latin1'), body: block.subarray(block.length) };
};

const CR = 13;
const LF = 10;

/** The fields of a head, names in lower case; repeated ones are joined with ", ", but of Location the first counts. */
export const readFields = (head: string): Record<string, string> => {
  const fields = new Map<string, string>();
  for (const line of head.split(/\r?\n/).slice(1)) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    const former = fields.get(name);
    if (former !== undefined && name === 'location') continue;
    fields.set(name, former === undefined ? value : `${former}, ${value}`);
  }
  return Object.fromEntries(fields);
};

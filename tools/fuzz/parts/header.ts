/** Responses: their head, chunks, and what single fields mean; in one read, and in many small ones. */

import { storedHead } from '../../../src/archive/head.ts';
import { createBodyReader, readBody, type Sink } from '../../../src/fetch/body-reader.ts';
import { frame } from '../../../src/fetch/framing.ts';
import { createHeadReader, readHead, type ResponseHead } from '../../../src/fetch/response-head.ts';
import { addHeader, createDirectives } from '../../../src/parse/directives.ts';
import { readRetryAfterMs } from '../../../src/politeness/retry-after.ts';
import { readLocation } from '../../../src/url/location.ts';
import type { Part } from '../growth.ts';

const OVER_ALL: Sink = { take: () => true };

/** Read in pieces of so many bytes, as they might come. */
const readResponse = (bytes: Buffer, pieceBytes: number): ResponseHead | null => {
  const reader = createHeadReader();
  let body: ReturnType<typeof createBodyReader> | null = null;
  let head: ResponseHead | null = null;
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const span = { bytes, at, end: Math.min(bytes.length, at + pieceBytes) };
    if (body === null) {
      const read = readHead(reader, span);
      if (read?.kind === 'bad') return null;
      if (read === null) continue;
      head = read;
      body = createBodyReader(frame(read));
    }
    if (readBody(body, span, OVER_ALL) !== 'more') break;
  }
  return head;
};

const chunkedBody = (input: string): Buffer =>
  Buffer.from(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${input}`, 'latin1');

export const header: Part = {
  name: 'header',
  pieces: [
    ...[
      'HTTP/1.1 200 OK\r\n',
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 103\r\n\r\n',
      '\r\n',
      '\n',
      '\r',
      '\r\r\n',
      ' ',
      '\t',
      ':',
    ],
    ...[
      'a: b\r\n',
      'a#: b\r\n',
      ' folded\r\n',
      'Content-Length: 1\r\n',
      'Transfer-Encoding: chunked\r\n',
      'Connection: close\r\n',
    ],
    ...[
      'chunked,',
      'gzip, ',
      'close,',
      ',',
      '1,',
      '0',
      '1\r\na\r\n',
      '1;a=b\r\na\r\n',
      '0\r\n',
      '0\r\n\r\n',
      'ffff',
      ';',
      'a',
      '\xe9',
      '\0',
    ],
    ...[
      'Location: /\r\n',
      '\xc3\xa4',
      '%',
      'noindex,',
      'gossamer:',
      'unavailable_after:',
      'x-y: ',
      '=',
      '"',
      'Set-Cookie: a=b\r\n',
    ],
  ],
  charactersMin: 4 * 1024,
  charactersMax: 256 * 1024,
  harmlessMs: 10,
  work: (input) => {
    for (const bytes of [Buffer.from(`HTTP/1.1 200 OK\r\n${input}\r\n\r\n`, 'latin1'), chunkedBody(input)]) {
      const head = readResponse(bytes, bytes.length);
      for (const pieceBytes of [1, 7, 1_460]) readResponse(bytes, pieceBytes);
      if (head) storedHead({ head: head.text, headers: head.headers, body: new Uint8Array(0) });
    }
    const value = input.slice(0, 64 * 1024);
    addHeader(createDirectives(), value, 'gossamer');
    readRetryAfterMs(value, 0);
    readLocation(value);
  },
};

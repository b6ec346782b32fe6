/** Responses by chance: right ones, odd ones that real servers send, and broken ones. */

import type { Chance } from '../../tests/support/broken-pages.ts';

const pick = <T>(chance: Chance, list: readonly T[]): T => list[chance(list.length)]!;

const VERSIONS = [
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.0',
  'http/1.1',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/1',
  'HTP/1.1',
];
const STATUSES = ['200', '200', '200', '204', '304', '404', '500', '299', '999', '099', '20', '2000', '-1', ''];
const REASONS = [' OK', ' OK', '', ' ', ' \xe9', ' Not Found\t', ' a:b'];
const ENDS = ['\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r'];
const NAMES = [
  'A',
  'X-Y',
  'Server',
  'Set-Cookie',
  'Content-Type',
  'Location',
  'A',
  'Vary',
  '__proto__',
  'X Y',
  '',
  'Z\xe9',
  'A\t',
];
const VALUES = [
  'b',
  '',
  ' b',
  'b ',
  '\tb\t',
  'b, c',
  'b: c',
  '"b"',
  '\xe9',
  'b\0c',
  '/x',
  'b\x01',
  'é',
  'b'.repeat(300),
];
const BODIES = ['', 'hello', 'a\r\nb', '0\r\n\r\n', 'x'.repeat(3_000), '\0\xff', '{"a":1}'];

const field = (chance: Chance): string => {
  const odd = chance(20);
  if (odd === 0) return `no colon here`;
  if (odd === 1) return ` folded`;
  if (odd === 2) return `${pick(chance, NAMES)} : ${pick(chance, VALUES)}`;
  return `${pick(chance, NAMES)}:${pick(chance, ['', ' '])}${pick(chance, VALUES)}`;
};

const chunked = (chance: Chance, body: string): string => {
  const size = body.length.toString(16);
  const line = pick(chance, [
    size,
    size,
    size.toUpperCase(),
    `0${size}`,
    `${size};a=b`,
    `${size} `,
    `0x${size}`,
    `-${size}`,
    `${size}g`,
  ]);
  const end = pick(chance, ['\r\n', '\r\n', '\r\n', '\n', '']);
  const chunks = body === '' ? '' : `${line}\r\n${body}${end}`;
  const last = pick(chance, [
    '0\r\n\r\n',
    '0\r\n\r\n',
    '0\r\n\r\n',
    '000\r\n\r\n',
    '0\r\nA: b\r\n\r\n',
    '0;x\r\n\r\n',
    '0\r\n',
    '',
  ]);
  return chunks + last;
};

/** All that the server sends, latin1, before it closes the connection. */
export const makeResponse = (chance: Chance): string => {
  const end = pick(chance, ENDS);
  const lines = [`${pick(chance, VERSIONS)} ${pick(chance, STATUSES)}${pick(chance, REASONS)}`];
  for (let i = chance(5); i > 0; i--) lines.push(field(chance));
  const body = pick(chance, BODIES);
  const length = String(body.length);
  const framing = chance(6);
  if (framing <= 1)
    lines.push(
      `Content-Length: ${pick(chance, [length, length, length, `${length}, ${length}`, `+${length}`, ` ${length} `, '99999', '1', 'x', ''])}`,
    );
  if (framing === 2) lines.push(`Content-Length: ${length}`, `Content-Length: ${pick(chance, [length, '3'])}`);
  const isChunked = framing === 3 || framing === 4;
  if (isChunked)
    lines.push(
      `Transfer-Encoding: ${pick(chance, ['chunked', 'chunked', 'Chunked', 'gzip, chunked', ' chunked ', 'chunked, identity', 'xchunked'])}`,
    );
  if (framing === 4 && chance(4) === 0) lines.push('Content-Length: 3');
  const interim = chance(10) === 0 ? 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n' : '';
  return `${interim}${lines.join(end)}${end}${pick(chance, [end, end, end, '\r\n'])}${isChunked ? chunked(chance, body) : body}`;
};

/** Reading responses: heads, framing and chunks, fed byte by byte, in pieces, and with garbage. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBodyReader, readBody, type BodyState } from '../src/fetch/body-reader.ts';
import { CHUNK_LINE_BYTES_MAX, TRAILER_BYTES_MAX } from '../src/fetch/chunked.ts';
import { frame, type Framing } from '../src/fetch/framing.ts';
import {
  createHeadReader,
  HEAD_BYTES_MAX,
  HEAD_LINES_MAX,
  parseHead,
  readHead,
  type ResponseHead,
} from '../src/fetch/response-head.ts';

interface Read {
  readonly head: ResponseHead | null;
  readonly bad: string;
  readonly body: string;
  readonly state: BodyState | 'head';
  /** Bytes after the end of the response. */
  readonly extraBytes: number;
}

/** Feed a response in pieces that end at these places. */
const read = (response: string, cuts: readonly number[] = []): Read => {
  const bytes = Buffer.from(response, 'latin1');
  const headReader = createHeadReader();
  let head: ResponseHead | null = null;
  let body = '';
  let state: Read['state'] = 'head';
  let reader: ReturnType<typeof createBodyReader> | null = null;
  let extraBytes = 0;
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    // A buffer longer than what is in it, as the one that sockets read into.
    const buffer = Buffer.concat([bytes.subarray(from, to), Buffer.from('\n\n\r\n\r\nstale')]);
    const span = { bytes: buffer, at: 0, end: to - from };
    from = to;
    if (head === null) {
      const step = readHead(headReader, span);
      if (step === null) {
        assert.equal(span.at, span.end);
        continue;
      }
      if (step.kind === 'bad') return { head: null, bad: step.detail, body, state, extraBytes };
      head = step;
      reader = createBodyReader(frame(head));
      state = 'more';
    }
    if (state === 'more') {
      state = readBody(reader as NonNullable<typeof reader>, span, {
        take(source, count) {
          body += source.bytes.toString('latin1', source.at, source.at + count);
          return true;
        },
      });
    }
    extraBytes += span.end - span.at;
  }
  return { head, bad: '', body, state, extraBytes };
};

const headersOf = (response: string): Record<string, string> => ({ ...read(response).head?.headers });
const framingOf = (fields: string, status = 200): Framing =>
  frame(parseHead(`HTTP/1.1 ${status} X\r\n${fields}\r\n\r\n`) as ResponseHead);

const seeded =
  (seed: number): (() => number) =>
  () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };

test('a status line is read in all the ways servers write it', () => {
  for (const [line, status] of [
    ['HTTP/1.1 200 OK', 200],
    ['HTTP/1.0 404 Not Found', 404],
    ['HTTP/1.1 200', 200],
    ['http/1.1 301 moved', 301],
    ['HTTP/1.1  503   busy', 503],
    ['HTTP/1.1 999 ', 999],
    ['HTTP/2 200', 200],
    ['\r\n\nHTTP/1.1 201 X', 201],
  ] as const) {
    for (const lineEnd of ['\r\n', '\n']) {
      assert.equal(read(`${line}${lineEnd}A: b${lineEnd}${lineEnd}`).head?.status, status, line);
    }
  }
});

test('what is not HTTP is refused, without waiting for the end of a head', () => {
  for (const response of [
    'SSH-2.0-OpenSSH_9.2\r\n',
    '<html><body>hello',
    'HTTP/1.1 20\r\n\r\n',
    'HTTP/1.1 099 no\r\n\r\n',
    'HTTQ',
    'HTTP/1.1 2000\r\n\r\n',
  ]) {
    assert.notEqual(read(response).bad, '', response);
  }
  assert.equal(read('HTT').bad, '');
});

test('interim responses are passed over, and a protocol switch is refused', () => {
  const early = 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';
  const final = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n';
  const response = read(`HTTP/1.1 100 Continue\r\n\r\n${early}${final}ok`);
  assert.equal(response.head?.status, 200);
  assert.equal(response.head?.text, final);
  assert.equal(response.body, 'ok');
  assert.match(read('HTTP/1.1 101 Switching\r\n\r\n').bad, /switched/);
  assert.match(read(early.repeat(2_000)).bad, /ceiling/);
});

test('header fields are read leniently and kept as latin1', () => {
  assert.deepEqual(
    headersOf(
      'HTTP/1.1 200 OK\r\nSERVER : x \r\nX-Fold: one\r\n\t two\r\nno field\r\n: nameless\r\nX-A0: caf\xc3\xa0\r\nX-Empty:\r\n\r\n',
    ),
    { server: 'x', 'x-fold': 'one two', 'x-a0': 'caf\xc3\xa0', 'x-empty': '' },
  );
});

test('repeated fields are joined, whatever their case', () => {
  assert.deepEqual(headersOf('HTTP/1.1 200 OK\nVary: a\nvary: b\nVARY: c\n\n'), { vary: 'a, b, c' });
});

test('a field named __proto__ is a field like any other', () => {
  const headers = read('HTTP/1.1 200 OK\r\n__proto__: a\r\n__proto__: b\r\nconstructor: c\r\n\r\n').head?.headers;
  assert.deepEqual(Object.entries(headers ?? {})[0], ['__proto__', 'a, b']);
  assert.equal(headers?.constructor, 'c');
  assert.equal(headers?.toString, undefined);
  assert.equal(({} as Record<string, unknown>).a, undefined);
});

test('a head over its ceiling is refused, however it comes', () => {
  const large = `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(HEAD_BYTES_MAX)}\r\n\r\n`;
  assert.match(read(large).bad, /ceiling/);
  assert.match(read(large, [10, 20_000, 65_000]).bad, /ceiling/);
  assert.match(read('\r\n'.repeat(HEAD_BYTES_MAX)).bad, /ceiling/);
  assert.match(read(`HTTP/1.1 200 OK\r\n${'a:b\n'.repeat(HEAD_LINES_MAX + 1)}\r\n`).bad, /lines/);
  assert.equal(read(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(HEAD_BYTES_MAX - 100)}\r\n\r\n`, [9_000]).head?.status, 200);
});

test('the framing of a body follows RFC 9112', () => {
  const cases: readonly [string, Framing['kind'], number, boolean][] = [
    ['Content-Length: 5', 'length', 5, true],
    ['Content-Length: 5, 5', 'length', 5, true],
    ['Content-Length: 5\r\nContent-Length: 6', 'close', 0, false],
    ['Content-Length: +5', 'close', 0, false],
    ['Content-Length: 0x5', 'close', 0, false],
    ['Content-Length: 99999999999999999999', 'close', 0, false],
    ['Transfer-Encoding: chunked', 'chunked', 0, true],
    ['Transfer-Encoding: gzip, Chunked', 'chunked', 0, true],
    ['Transfer-Encoding: chunked\r\nContent-Length: 5', 'chunked', 0, false],
    ['Transfer-Encoding: chunked, gzip', 'close', 0, false],
    ['Transfer-Encoding: identity\r\nContent-Length: 5', 'length', 5, true],
    ['Content-Length: 5\r\nConnection: Close', 'length', 5, false],
    ['X: y', 'close', 0, false],
  ];
  for (const [fields, kind, lengthBytes, reusable] of cases) {
    assert.deepEqual(framingOf(fields), { kind, lengthBytes, reusable }, fields);
  }
  assert.equal(framingOf('Content-Length: 5', 304).kind, 'none');
  assert.equal(framingOf('Transfer-Encoding: chunked', 204).kind, 'none');
});

test('an HTTP/1.0 connection is kept only when the server says so', () => {
  const old = (fields: string): boolean =>
    frame(parseHead(`HTTP/1.0 200 OK\r\nContent-Length: 1\r\n${fields}\r\n`) as ResponseHead).reusable;
  assert.equal(old(''), false);
  assert.equal(old('Connection: Keep-Alive\r\n'), true);
});

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

test('chunks are joined; extensions, padding and trailers are passed over', () => {
  const response = read(`${CHUNKED}5;name="v"\r\nhello\r\n1  \r\n \r\nA\n0123456789\n000\r\nTrailer: x\r\n\r\nmore`);
  assert.equal(response.body, 'hello 0123456789');
  assert.equal(response.state, 'done');
  assert.equal(response.extraBytes, 4);
});

test('chunk framing that makes no sense is noticed, and what came before it is kept', () => {
  for (const rest of [
    'zz\r\n',
    '\r\n',
    '-1\r\n',
    '5\r\nhelloXX',
    '10000000000000000\r\n',
    `1;${'x'.repeat(CHUNK_LINE_BYTES_MAX)}`,
    '0'.repeat(CHUNK_LINE_BYTES_MAX + 1),
    `0\r\n${'T: x\r\n'.repeat(TRAILER_BYTES_MAX)}`,
    '5\r\nhello\r\r\n',
  ]) {
    const response = read(`${CHUNKED}3\r\nabc\r\n${rest}`);
    assert.equal(response.state, 'bad', rest.slice(0, 20));
    assert.ok(response.body.startsWith('abc'));
  }
});

test('a response reads the same however its bytes are split', () => {
  const random = seeded(7);
  const responses = [
    `HTTP/1.1 100 Continue\r\n\r\n${CHUNKED}5;x\r\nhello\r\n6\r\n world\r\n0\r\nT: y\r\n\r\n`,
    'HTTP/1.1 200 OK\nA: b\n c\nContent-Length: 11\n\nhello world',
    'HTTP/1.0 200\r\nServer: old\r\n\r\nhello world',
    '\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello worldEXTRA',
  ];
  for (const response of responses) {
    const whole = read(response);
    assert.equal(whole.body, 'hello world');
    const everyByte = Array.from({ length: response.length }, (_, at) => at);
    assert.deepEqual(read(response, everyByte), whole);
    for (let round = 0; round < 300; round++) {
      const cuts = everyByte.filter(() => random() < 0.15);
      assert.deepEqual(read(response, cuts), whole, `cuts ${cuts.join()}`);
    }
  }
});

test('garbage never throws and never holds more than the ceilings', () => {
  const random = seeded(11);
  const words = [
    'HTTP/1.1 ',
    '200',
    ' OK',
    '\r\n',
    '\n',
    '\r',
    ':',
    ' ',
    'Transfer-Encoding: chunked',
    'Content-Length: ',
    '5',
    'ffffffff',
    ';',
    '0',
    '\0',
    '\xff',
    'a'.repeat(500),
  ];
  for (let round = 0; round < 3_000; round++) {
    const valid = random() < 0.6 ? (random() < 0.5 ? CHUNKED : 'HTTP/1.1 200 OK\r\n') : '';
    const length = Math.floor(random() * 60);
    const response = valid + Array.from({ length }, () => words[Math.floor(random() * words.length)]).join('');
    const cuts = Array.from({ length: response.length }, (_, at) => at).filter(() => random() < 0.02);
    const got = read(response, cuts);
    assert.ok(got.body.length <= response.length);
    assert.ok((got.head?.text.length ?? 0) <= HEAD_BYTES_MAX);
  }
});

test('a head without an end never takes more memory than its ceiling, in pieces of whatever size', () => {
  for (const pieceBytes of [1_000, 5_000, 40_000, HEAD_BYTES_MAX]) {
    const reader = createHeadReader();
    const piece = Buffer.from(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(pieceBytes)}`).subarray(0, pieceBytes);
    let step: ReturnType<typeof readHead> = null;
    for (let pieces = 0; step === null && pieces < 1_000; pieces++) {
      step = readHead(reader, { bytes: piece, at: 0, end: piece.length });
      assert.ok((reader.kept?.length ?? 0) <= HEAD_BYTES_MAX + 1, `${reader.kept?.length} bytes are held`);
    }
    assert.equal(step?.kind, 'bad');
  }
});

test('of several Location fields the first counts', () => {
  const head = parseHead(
    'HTTP/1.1 301 Moved\r\nLocation: /target\r\nX: 1\r\nlocation: /target\r\n\r\n',
  ) as ResponseHead;
  assert.deepEqual([head.headers.location, head.headers.x], ['/target', '1']);
});

/** Undoing the content-encoding of a body: all codings, broken ones, bombs, and what that may cost. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  inflateRawSync,
  zstdCompressSync,
} from 'node:zlib';
import { createRequestHeads } from '../src/fetch/request-head.ts';
import { inflate, inflateInSteps } from '../src/parse/inflate.ts';
import { parsePage } from '../src/parse/page.ts';
import { openDeflate } from '../src/parse/unpack/deflate.ts';
import { createChance } from './support/broken-pages.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const HTML = 'text/html; charset=utf-8';

const parse = (body: string | Uint8Array, headers: Record<string, string>, textBytesMax = MIB) =>
  parsePage({
    url: 'http://example.org/dir/page',
    headers,
    body: Buffer.from(body),
    textBytesMax,
    productToken: 'gossamer',
  });

/** RFC 8878, 3.1.2: a frame that says nothing. */
const SKIPPED_FRAME = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2]);

const PAGE = '<title>Hello</title><p>One two three. <a href="x">more</a>';
const packed: readonly (readonly [string, Uint8Array])[] = [
  ['gzip', gzipSync(PAGE)],
  ['x-gzip', gzipSync(PAGE)],
  ['GZIP', gzipSync(PAGE)],
  ['deflate', deflateSync(PAGE)],
  ['deflate', deflateRawSync(PAGE)],
  ['br', brotliCompressSync(PAGE)],
  ['zstd', zstdCompressSync(PAGE)],
  ['zstd', Buffer.concat([zstdCompressSync(PAGE.slice(0, 20)), SKIPPED_FRAME, zstdCompressSync(PAGE.slice(20))])],
  ['identity', Buffer.from(PAGE)],
  ['gzip, br', brotliCompressSync(gzipSync(PAGE))],
  ['deflate,identity,gzip', gzipSync(deflateSync(PAGE))],
];

packed.forEach(([encoding, body], at) => {
  test(`a body encoded as "${encoding}" is read (${at})`, () => {
    const { findings, cut, broken } = parse(body, { 'content-type': HTML, 'content-encoding': encoding });
    assert.deepEqual([findings.title, findings.text, cut, broken], ['Hello', 'One two three. more', false, false]);
  });
});

const long = Buffer.from(
  `<title>Long</title>${Array.from({ length: 40_000 }, (_, i) => `word${(i * 7919) % 1_000_003} `).join('')}`,
);

for (const [encoding, body] of [
  ['gzip', gzipSync(long)],
  ['deflate', deflateSync(long)],
  ['br', brotliCompressSync(long)],
  ['zstd', zstdCompressSync(long)],
] as const) {
  test(`a ${encoding} body that ends too early is read as far as it came`, () => {
    const { findings, broken } = parse(body.subarray(0, body.length >> 1), {
      'content-type': HTML,
      'content-encoding': encoding,
    });
    assert.equal(findings.title, 'Long');
    assert.ok(findings.text.length > long.length / 5, `${findings.text.length} characters`);
    assert.equal(broken, false);
  });

  test(`a ${encoding} body with bad bytes in the middle is read up to them and counts as broken`, () => {
    const bad = Buffer.from(body);
    const middle = bad.length >> 1;
    bad.fill(0xff, middle, middle + 2_000);
    const { findings, broken } = parse(bad, { 'content-type': HTML, 'content-encoding': encoding });
    assert.equal(findings.title, 'Long');
    assert.equal(broken, true);
    assert.ok(findings.text.startsWith('word0 word7919 '));
  });
}

for (const [encoding, pack] of [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const) {
  test(`a ${encoding} bomb gives exactly the first bytes up to the ceiling`, () => {
    const bomb = Buffer.alloc(64 * MIB, 'bomb ');
    const { findings, cut, broken } = parse(
      pack(bomb),
      { 'content-type': 'text/plain', 'content-encoding': encoding },
      100_000,
    );
    assert.equal(findings.text.length, 99_999); // the last of 100,000 is a space
    assert.deepEqual([cut, broken], [true, false]);
  });
}

test('a page a little over the ceiling is cut there, encoded or not', () => {
  for (const [encoding, body] of [
    ['', long],
    ['gzip', gzipSync(long)],
  ] as const) {
    const { findings, cut } = parse(body, { 'content-type': 'text/plain', 'content-encoding': encoding }, 1_000);
    assert.equal(cut, true);
    assert.ok(findings.text.length <= 1_000 && findings.text.length > 990);
  }
});

test('a body that is not what its encoding says is taken as it is, if it is text', () => {
  for (const encoding of ['gzip', 'br', 'zstd', 'gzip, gzip, gzip, gzip']) {
    const { findings, broken } = parse(PAGE, { 'content-type': HTML, 'content-encoding': encoding });
    assert.deepEqual([findings.title, broken], ['Hello', true], encoding);
  }
  const { findings, broken } = parse(gzipSync(PAGE), { 'content-type': HTML, 'content-encoding': 'br' });
  assert.deepEqual([findings.text, broken], ['', true]);
});

test('zstd is not asked for', () => {
  const headOf = createRequestHeads({ userAgent: 'Gossamer', from: 'me@example.org' });
  assert.match(headOf(new URL('http://example.org/'), true).sent, /^Accept-Encoding: gzip, deflate, br\r$/m);
});

test('a zstd body that needs more memory than RFC 9659 allows is not unpacked', () => {
  const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_enableLongDistanceMatching]: 1 };
  const { bytes, end } = inflate(zstdCompressSync(Buffer.alloc(16 * MIB), { params }), 'zstd', { bytesMax: MIB });
  assert.deepEqual([bytes.length > MIB, end], [false, 'broken']);
});

test('a bad byte costs what comes after it, and nothing that comes before', () => {
  for (const [encoding, pack] of [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
  ] as const) {
    const body = pack(long);
    const bad = Buffer.from(body);
    bad.fill(0xff, body.length - 600, body.length - 300);
    const { bytes, end } = inflate(bad, encoding, { bytesMax: MIB });
    // Bare deflate has no checksum: what came out may be wrong, but it is whole.
    assert.equal(end, pack === deflateRawSync ? 'whole' : 'broken', encoding);
    const before = inflate(body.subarray(0, body.length - 600), encoding, { bytesMax: MIB }).bytes;
    assert.ok(Buffer.from(bytes.subarray(0, before.length)).equals(before), `${encoding}: ${before.length} bytes`);
  }
});

test('a gzip body whose checksum is wrong, or that has something behind it, is read whole and counts as broken', () => {
  const body = gzipSync(PAGE);
  const wrong = Buffer.from(body);
  wrong[wrong.length - 6]! ^= 1;
  for (const bad of [wrong, Buffer.concat([body, Buffer.from('\x1f\x8b and more', 'latin1')])]) {
    const { bytes, end } = inflate(bad, 'gzip', { bytesMax: MIB });
    assert.deepEqual([Buffer.from(bytes).toString(), end], [PAGE, 'broken']);
  }
});

test('a gzip body in several parts is read as one, also where one of them is broken', () => {
  const bad = gzipSync('three');
  bad[bad.length - 6]! ^= 1;
  const named = Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 8 | 4, 0, 0, 0, 0, 0, 3]), Buffer.from('\x02\0xxname\0')]);
  const parts = [gzipSync('one '), Buffer.concat([named, gzipSync('two ').subarray(10)]), bad];
  const { bytes, end } = inflate(Buffer.concat(parts), 'gzip', { bytesMax: MIB });
  assert.deepEqual([Buffer.from(bytes).toString(), end], ['one two three', 'broken']);
});

/** How many pieces of work unpacking takes. */
const stepsOf = (body: Uint8Array, encoding: string, bytesMax: number): number => {
  const steps = inflateInSteps(body, encoding, { bytesMax });
  let count = 1;
  while (!steps.next().done) count += 1;
  return count;
};

const large = Buffer.concat(Array.from({ length: 8 }, () => long));

test('a broken body or a bomb is unpacked once, in pieces: their number follows from what comes out', () => {
  const packed = gzipSync(large);
  const bad = Buffer.from(packed);
  bad.fill(0xff, packed.length - 600, packed.length - 300);
  const most = Math.ceil(large.length / (128 * KIB)) + 2;
  const steps = stepsOf(bad, 'gzip', 16 * MIB);
  assert.ok(steps > 3 && steps <= most, `${steps} of ${most}`);
  assert.ok(stepsOf(gzipSync(Buffer.alloc(100 * MIB)), 'gzip', MIB) <= 10);
  assert.equal(stepsOf(packed, 'gzip', 16 * MIB), 1, 'Node unpacks one that is whole');
  // Blocks with nothing in them: much work that nothing comes out of.
  const empty = Buffer.concat([Buffer.from('\0\0\0\xff\xff'.repeat(100_000), 'latin1'), Buffer.from([0xff])]);
  assert.ok(stepsOf(empty, 'deflate', MIB) > 10);
});

test('where there is no decoder of our own, the end of what can be read is sought in a handful of tries', () => {
  for (const [encoding, pack] of [
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const) {
    const bad = Buffer.from(pack(large));
    bad.fill(0xff, bad.length >> 1, (bad.length >> 1) + 300);
    assert.ok(stepsOf(bad, encoding, 16 * MIB) <= 13, encoding);
    assert.ok(stepsOf(pack(Buffer.alloc(40 * MIB)), encoding, MIB) <= 13, encoding);
  }
});

test('a body whose time is up is read as far as it came by then', () => {
  for (const [encoding, pack] of [
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const) {
    const bad = Buffer.from(pack(large));
    bad.fill(0xff, bad.length - 600, bad.length - 300);
    let asked = 0;
    const { bytes, end } = inflate(bad, encoding, { bytesMax: 16 * MIB, isLate: () => (asked += 1) > 2 });
    assert.deepEqual([end, asked], ['late', 3], encoding);
    assert.ok(bytes.length > 100_000 && Buffer.from(bytes).equals(large.subarray(0, bytes.length)), encoding);
  }
});

test('our decoder of deflate reads what Node packs, in slices of any size, and stops where Node stops', () => {
  const below = createChance(11);
  const strategies = [constants.Z_DEFAULT_STRATEGY, constants.Z_FIXED, constants.Z_HUFFMAN_ONLY, constants.Z_RLE];
  const ceiling = 300_000;
  for (let round = 0; round < 300; round += 1) {
    const letters = 1 + below(256);
    const plain = Buffer.from(Array.from({ length: below(20_000) }, () => below(letters)));
    const body = deflateRawSync(plain, {
      level: below(10),
      memLevel: 1 + below(9),
      strategy: strategies[below(strategies.length)]!,
    });
    const sliced = openDeflate(body, 0, ceiling);
    let to = 0;
    while (sliced.read((to += 1 + below(9_000))) === 'more');
    assert.ok(Buffer.from(sliced.output()).equals(plain), `round ${round}`);
    assert.equal(sliced.place(), body.length);

    const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: ceiling };
    const early = body.subarray(0, below(body.length));
    const cut = openDeflate(early, 0, ceiling);
    assert.equal(cut.read(ceiling), 'short');
    assert.ok(Buffer.from(cut.output()).equals(inflateRawSync(early, options)), `round ${round}, cut`);

    const bad = Buffer.from(body);
    bad[below(bad.length)]! ^= 1 << below(8);
    const read = openDeflate(bad, 0, ceiling);
    const state = read.read(ceiling);
    try {
      assert.ok(Buffer.from(read.output()).equals(inflateRawSync(bad, options)), `round ${round}, changed`);
      assert.notEqual(state, 'bad');
    } catch (fault) {
      if (fault instanceof assert.AssertionError) throw fault;
      assert.ok(state === 'bad' || read.output().length >= ceiling, `round ${round}: ${state}`);
    }
  }
});

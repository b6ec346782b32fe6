/** What a visit leaves in the archive: records that any WARC reader reads, and so do we. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';

import { WARCParser } from 'warcio';

import { ArchiveFault } from '../src/archive/archive.ts';
import { readRecordAt, readRecords, splitHttp, type WarcRecord } from '../src/archive/reader.ts';
import { payloadDigest, recordGroup, warcinfoRecord } from '../src/archive/records.ts';
import type { Answered } from '../src/model/exchange.ts';

const dir = mkdtempSync(join(tmpdir(), 'gossamer-archive-'));
after(() => rmSync(dir, { recursive: true }));

let files = 0;
const saved = (...parts: readonly Uint8Array[]): string => {
  const path = join(dir, `${files++}.warc.gz`);
  writeFileSync(path, Buffer.concat(parts));
  return path;
};

const bytes = (text: string | Buffer): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text as string));

const headersOf = (head: string): Record<string, string> =>
  Object.fromEntries(
    head
      .split('\r\n')
      .slice(1)
      .filter((line) => line !== '')
      .map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
  );

const answered = (change: Partial<Answered> = {}): Answered => {
  const body = change.body ?? bytes('<p>hello</p>');
  const head = change.head ?? `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\n\r\n`;
  return {
    kind: 'answered',
    url: 'https://example.org/a?b=c|d',
    startedAt: 1_794_776_700_123.5,
    answeredAt: 0,
    endedAt: 0,
    address: '2001:db8::7',
    requestHead: 'GET /a?b=c|d HTTP/1.1\r\nHost: example.org\r\n\r\n',
    head,
    status: 200,
    headers: headersOf(head),
    body,
    truncated: null,
    ...change,
  };
};

/** SHA-1 in base 32 by another road than ours. */
const digestOf = (block: Uint8Array): string => {
  const digits = BigInt(`0x${createHash('sha1').update(block).digest('hex')}`)
    .toString(32)
    .padStart(32, '0');
  return `sha1:${digits.replace(/./g, (digit) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[parseInt(digit, 32)] as string)}`;
};

const types = (records: readonly WarcRecord[]): string[] =>
  records.map((record) => record.headers['warc-type'] as string);

const groupRecords = (input: Partial<Parameters<typeof recordGroup>[0]>): WarcRecord[] => [
  ...readRecords(saved(recordGroup({ robots: [], page: null, text: null, keep: 'all', ...input }).bytes)),
];

test('a page becomes a response, its request and its text, tied to each other', () => {
  const page = answered();
  const group = recordGroup({ robots: [], page, text: 'hello ✓', keep: 'all', charset: 'windows-1252' });
  const path = saved(group.bytes);
  const [response, request, text, ...rest] = [...readRecords(path)] as [WarcRecord, WarcRecord, WarcRecord];
  assert.deepEqual([...types([response, request, text]), rest.length], ['response', 'request', 'conversion', 0]);
  assert.deepEqual([group.pageAt, group.pageLength], [0, response.length]);
  assert.equal(response.headers['content-type'], 'application/http;msgtype=response');
  assert.equal(response.headers['warc-target-uri'], page.url);
  assert.equal(response.headers['warc-date'], '2026-11-15T21:05:00.123Z');
  assert.equal(response.headers['warc-ip-address'], '2001:db8::7');
  assert.equal(response.headers['warc-truncated'], undefined);
  assert.match(response.headers['warc-record-id'] as string, /^<urn:uuid:[0-9a-f-]{36}>$/);
  assert.deepEqual(splitHttp(response.block), { head: page.head, body: Buffer.from(page.body) });
  assert.equal(request.headers['warc-concurrent-to'], response.headers['warc-record-id']);
  assert.equal(request.block.toString('latin1'), page.requestHead);
  assert.equal(text.headers['warc-refers-to'], response.headers['warc-record-id']);
  assert.equal(text.headers['content-type'], 'text/plain;charset=utf-8');
  assert.equal(text.headers['gossamer-charset'], 'windows-1252');
  assert.equal(text.block.toString(), 'hello ✓');
  assert.equal(new Set([response, request, text].map((record) => record.headers['warc-record-id'])).size, 3);
});

test('an independent reader reads every record with its right payload and digests', async () => {
  const html = '<p>käse</p>'.repeat(9_000);
  const pages = [
    answered({ body: bytes(html) }),
    answered({
      body: bytes(gzipSync(html)),
      head: 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n',
    }),
    answered({
      body: bytes(brotliCompressSync(html)),
      head: 'HTTP/1.1 200 OK\r\nContent-Encoding: br\r\ncontent-length: 9\r\n\r\n',
    }),
    answered({ body: bytes(''), head: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 99000\r\n\r\n' }),
    answered({ body: bytes(html), head: 'HTTP/1.0 200 OK\nServer: old\n\n' }),
  ];
  const info = warcinfoRecord({
    software: 'Gossamer/0.1.0',
    fileName: 'one.warc.gz',
    at: 0,
    operator: 'you@example.org',
    userAgent: 'Gossamer',
    robots: 'classic',
  });
  const path = saved(
    info,
    ...pages.map((page) => recordGroup({ robots: [page], page, text: 'käse ✓', keep: 'all' }).bytes),
  );

  const seen: string[] = [];
  for await (const record of WARCParser.iterRecords([readFileSync(path)])) {
    const type = record.warcType;
    seen.push(type);
    if (type !== 'response') {
      const payload = Buffer.from(await record.readFully(false));
      if (type === 'warcinfo')
        assert.match(payload.toString(), /^software: Gossamer\/0\.1\.0\r\nformat: WARC File Format 1\.1\r\n/);
      if (type === 'conversion') assert.equal(payload.toString(), 'käse ✓');
      if (type === 'request') assert.equal(record.httpHeaders?.method, 'GET');
      continue;
    }
    const page = pages[Math.floor((seen.filter((each) => each === 'response').length - 1) / 2)] as Answered;
    const body = Buffer.from(await record.readFully(false));
    assert.ok(body.equals(page.body));
    assert.equal(record.warcPayloadDigest, digestOf(body));
    assert.equal(record.httpHeaders?.statusCode, page.status === 200 && page.body.length > 0 ? 200 : 304);
  }
  assert.deepEqual(seen, [
    'warcinfo',
    ...pages.flatMap(() => ['response', 'request', 'response', 'request', 'conversion']),
  ]);

  // brotli is not decoded by that reader: the plain and the gzip page are
  const decoded: string[] = [];
  for await (const record of WARCParser.iterRecords([readFileSync(path)])) {
    const encoding = record.httpHeaders?.headers.get('content-encoding');
    if (record.warcType === 'response' && encoding !== 'br')
      decoded.push(Buffer.from(await record.readFully(true)).toString());
  }
  assert.deepEqual(decoded, [html, html, html, html, '', '', html, html]);

  for (const { headers, block } of readRecords(path))
    assert.equal(headers['warc-block-digest'], headers['warc-type'] === 'conversion' ? digestOf(block) : undefined);
});

test('gzip itself finds every member whole', (t) => {
  const page = answered({ body: bytes('abc '.repeat(50_000)) });
  const packed = answered({ body: bytes(noise(200_000)) });
  const path = saved(
    ...[page, packed].map((each) => recordGroup({ robots: [], page: each, text: 'abc', keep: 'all' }).bytes),
  );
  const run = spawnSync('gzip', ['-t', path]);
  if (run.error) return t.skip('there is no gzip here');
  assert.deepEqual([run.status, run.stderr.toString()], [0, '']);
});

test('the head that is stored agrees with the body that is stored', () => {
  const headAs = (head: string, headers: Record<string, string>): string => {
    const [response] = groupRecords({ page: answered({ head, headers }) }) as [WarcRecord];
    const { head: stored, body } = splitHttp(response.block);
    assert.equal(body.toString(), '<p>hello</p>');
    return stored;
  };
  assert.equal(
    headAs('HTTP/1.1 200 OK\r\nTRANSFER-encoding : chunked\r\nX: Transfer-Encoding: y\r\n\r\n', {
      'transfer-encoding': 'chunked',
    }),
    'HTTP/1.1 200 OK\r\nX-Crawler-TRANSFER-encoding : chunked\r\nX: Transfer-Encoding: y\r\nContent-Length: 12\r\n\r\n',
  );
  assert.equal(
    headAs('HTTP/1.1 200 OK\r\nContent-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n', {
      'transfer-encoding': 'chunked',
      'content-length': '12',
    }),
    'HTTP/1.1 200 OK\r\nContent-Length: 12\r\nX-Crawler-Transfer-Encoding: chunked\r\n\r\n',
  );
  assert.equal(
    headAs('HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Length: 12\r\n\r\n', { 'content-length': '12, 12' }),
    'HTTP/1.1 200 OK\r\nX-Crawler-Content-Length: 12\r\nX-Crawler-Content-Length: 12\r\nContent-Length: 12\r\n\r\n',
  );
  assert.equal(headAs('HTTP/1.1 200 OK\r\nServer: \xe9\r\n\r\n', {}), 'HTTP/1.1 200 OK\r\nServer: \xe9\r\n\r\n');
});

test('an empty line inside a head does not move the beginning of the body', () => {
  for (const line of ['\n', '\r\n', ' \t\r\n', '\r\r\n']) {
    const [response] = groupRecords({
      page: answered({ head: `HTTP/1.1 200 OK\r\nA: b\r\n${line}C: d\r\n\r\n`, headers: {} }),
    }) as [WarcRecord];
    assert.equal(splitHttp(response.block).head, 'HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n\r\n');
  }
  const hostile = answered({ head: `HTTP/1.1 200 OK\r\nA:${'\n'.repeat(30_000)}${' \r'.repeat(30_000)}x\r\n\r\n` });
  assert.equal(groupRecords({ page: hostile }).length, 2);
});

test('a body that was cut says so, and its head gives the length that was kept', () => {
  const page = answered({
    body: bytes('half'),
    truncated: 'length',
    head: 'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n',
  });
  const [response] = groupRecords({ page }) as [WarcRecord];
  assert.equal(response.headers['warc-truncated'], 'length');
  assert.equal(
    splitHttp(response.block).head,
    'HTTP/1.1 200 OK\r\nX-Crawler-Content-Length: 5000\r\nContent-Length: 4\r\n\r\n',
  );
  const [text] = groupRecords({ page, text: 'half', keep: 'text' }) as [WarcRecord];
  assert.equal(text.headers['warc-truncated'], 'length');
});

test('a page without text has no text record when all is kept, and an empty one when only text is', () => {
  const empty = answered({ body: bytes('') });
  for (const text of [null, '']) {
    assert.deepEqual(types(groupRecords({ page: empty, text })), ['response', 'request']);
    const [only, ...rest] = groupRecords({ page: empty, text, keep: 'text' }) as [WarcRecord];
    assert.deepEqual([only.headers['warc-type'], only.block.length, rest.length], ['conversion', 0, 0]);
  }
  const [only, ...rest] = groupRecords({ page: answered(), text: 'hello', keep: 'text' }) as [WarcRecord];
  assert.deepEqual([only.block.toString(), only.headers['warc-refers-to'], rest.length], ['hello', undefined, 0]);
});

test('robots.txt comes before the page and is never taken for one', () => {
  const robots = [
    answered({ url: 'http://example.org/robots.txt' }),
    answered({ url: 'https://example.org/robots.txt' }),
  ];
  for (const keep of ['all', 'text'] as const) {
    const group = recordGroup({ robots, page: answered(), text: 'hello', keep });
    const records = [...readRecords(saved(group.bytes))];
    assert.deepEqual(types(records.slice(0, 4)), ['response', 'request', 'response', 'request']);
    const kinds = records.map((record) => record.headers['gossamer-kind'] ?? 'page');
    assert.deepEqual(kinds, ['robots', 'robots', 'robots', 'robots', ...kinds.slice(4).fill('page')]);
    assert.equal(records[0]?.headers['warc-target-uri'], 'http://example.org/robots.txt');
    assert.deepEqual([group.pageAt, group.pageLength], [records[4]?.offset, records[4]?.length]);
  }
});

test('a visit that fetched only robots.txt has no page, and one that fetched nothing has no bytes', () => {
  const only = recordGroup({ robots: [answered()], page: null, text: null, keep: 'all' });
  assert.deepEqual([only.pageAt, only.pageLength], [-1, 0]);
  assert.equal([...readRecords(saved(only.bytes))].length, 2);
  assert.deepEqual(recordGroup({ robots: [], page: null, text: null, keep: 'all' }), {
    bytes: new Uint8Array(0),
    pageAt: -1,
    pageLength: 0,
  });
});

test('no value can add a field or a record', () => {
  const evil = 'x\r\nWARC-Type: request\r\nContent-Length: 0\r\n\r\n\0';
  const page = answered({ url: `https://example.org/${evil}`, address: evil });
  const records = groupRecords({ page, text: 'hello', charset: evil });
  assert.deepEqual(types(records), ['response', 'request', 'conversion']);
  assert.equal(
    records[0]?.headers['warc-ip-address'],
    'x%0D%0AWARC-Type: request%0D%0AContent-Length: 0%0D%0A%0D%0A%00',
  );
  const info = warcinfoRecord({
    software: evil,
    fileName: evil,
    at: 0,
    operator: evil,
    userAgent: evil,
    robots: evil,
    description: evil,
  });
  const [record, ...rest] = [...readRecords(saved(info))] as [WarcRecord];
  assert.deepEqual([record.headers['warc-type'], rest.length], ['warcinfo', 0]);
  assert.equal(record.block.toString().split('\r\n').length, 8);
});

test('the digest of a body is written as archives write it, and one that is known already is used', () => {
  assert.equal(payloadDigest(bytes('')), 'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ');
  assert.equal(payloadDigest(bytes('abc')), digestOf(bytes('abc')));
  const [response] = groupRecords({ page: answered(), digest: 'sha1:KNOWN' }) as [WarcRecord];
  assert.equal(response.headers['warc-payload-digest'], 'sha1:KNOWN');
});

test('a body that is packed already is stored as it is, a plain one shrinks', () => {
  const packed = bytes(noise(150_000));
  const stored = recordGroup({ robots: [], page: answered({ body: packed }), text: null, keep: 'all' });
  assert.ok(Buffer.from(stored.bytes).includes(Buffer.from(packed.subarray(0, 60_000))));
  const plain = bytes('Sätze über Käse. '.repeat(9_000));
  assert.ok(
    recordGroup({ robots: [], page: answered({ body: plain }), text: null, keep: 'all' }).bytes.length <
      plain.length / 10,
  );
});

test('the bytes of a group can be given to another thread', () => {
  const { bytes: small } = recordGroup({ robots: [], page: answered(), text: null, keep: 'all' });
  assert.deepEqual([small.byteOffset, small.buffer.byteLength], [0, small.length]);
});

test('one record is read at its place, and records between two places', () => {
  const big = recordGroup({ robots: [], page: answered({ body: bytes(noise(700_000)) }), text: 'big', keep: 'all' });
  const small = recordGroup({ robots: [], page: answered(), text: 'small', keep: 'all' });
  const path = saved(small.bytes, big.bytes, small.bytes);
  const at = small.bytes.length;
  assert.equal(splitHttp(readRecordAt(path, at).block).body.length, 700_000);
  assert.equal(readRecordAt(path, at).length, big.pageLength);
  const between = [...readRecords(path, at, at + big.bytes.length)];
  assert.deepEqual(types(between), ['response', 'request', 'conversion']);
  assert.equal(between[2]?.block.toString(), 'big');
});

test('damage is named with its file and offset', () => {
  const group = recordGroup({
    robots: [],
    page: answered({ body: bytes(noise(900).toString('hex')) }),
    text: null,
    keep: 'all',
  });
  const fault =
    (path: string, offset: number) =>
    (error: unknown): boolean =>
      error instanceof ArchiveFault &&
      error.message.includes(path) &&
      error.message.includes(`offset ${offset} `) &&
      error.advice !== '';
  const drained = (path: string): void => void [...readRecords(path)];

  const half = saved(group.bytes, group.bytes);
  truncateSync(half, group.bytes.length + group.pageLength - 3);
  assert.throws(() => drained(half), fault(half, group.bytes.length));
  assert.throws(() => drained(half), /not whole where the archive ends/);
  assert.throws(() => drained(saved(bytes('WARC/1.1 but not packed'))), ArchiveFault);
  const whole = [...readRecords(saved(group.bytes))];
  let harmless = 0;
  for (let at = 10; at < group.pageLength; at += 7) {
    const copy = group.bytes.slice();
    copy[at] = (copy[at] as number) ^ 0x10;
    const flipped = saved(copy);
    try {
      // a few bits mean nothing, such as those that fill up the last byte: then all is as it was
      assert.deepEqual(
        [...readRecords(flipped)].map((record) => record.block),
        whole.map((record) => record.block),
      );
      harmless++;
    } catch (error) {
      assert.ok(fault(flipped, 0)(error), `a flipped bit at ${at}: ${String(error)}`);
    }
  }
  assert.ok(harmless < 5);
  const foreign = saved(gzipSync('WARC/1.1\r\nContent-Length: 3\r\n\r\nfour\r\n\r\n'));
  assert.throws(() => readRecordAt(foreign, 0), fault(foreign, 0));
  assert.throws(() => readRecordAt(half, 10_000_000), fault(half, 10_000_000));
  assert.throws(() => readRecordAt(join(dir, 'none.warc.gz'), 0), /is not there/);
});

test('3,000 random groups read back in order, each at its place', () => {
  const seed = 20_261_115;
  const chance = randomFrom(seed);
  const upTo = (max: number): number => Math.floor(chance() * max);
  const inputs = Array.from({ length: 3_000 }, (_, index) => {
    const length = chance() < 0.02 ? upTo(200_000) : upTo(3_000);
    const body = chance() < 0.5 ? bytes(noise(length)) : bytes('<p>words</p>'.repeat(length / 12));
    const page = answered({ url: `https://example.org/${index}`, body, truncated: chance() < 0.1 ? 'time' : null });
    return {
      robots: Array.from({ length: chance() < 0.3 ? upTo(3) : 0 }, () =>
        answered({ url: 'https://example.org/robots.txt', body: bytes(noise(upTo(900))) }),
      ),
      page: chance() < 0.9 ? page : null,
      text: [null, '', 'text '.repeat(upTo(300))][upTo(3)] as string | null,
      keep: chance() < 0.8 ? ('all' as const) : ('text' as const),
    };
  });
  const groups = inputs.map((input) => recordGroup(input));
  const path = saved(...groups.map((group) => group.bytes));
  const reading = readRecords(path);
  const next = (): WarcRecord => reading.next().value as WarcRecord;
  let at = 0;
  for (const [index, input] of inputs.entries()) {
    const context = `seed ${seed}, group ${index}`;
    const group = groups[index] as ReturnType<typeof recordGroup>;
    for (const robots of input.robots) {
      assert.ok(splitHttp(next().block).body.equals(robots.body), context);
      assert.equal(next().headers['warc-type'], 'request', context);
    }
    const expected =
      input.page === null
        ? []
        : input.keep === 'text'
          ? ['conversion']
          : ['response', 'request', ...(input.text ? ['conversion'] : [])];
    const records = expected.map(() => next());
    assert.deepEqual(types(records), expected, context);
    const first = records[0];
    if (first !== undefined && input.page !== null) {
      assert.deepEqual(
        [first.offset, first.length, first.headers['warc-target-uri']],
        [at + group.pageAt, group.pageLength, input.page.url],
        context,
      );
      if (input.keep === 'all') assert.ok(splitHttp(first.block).body.equals(input.page.body), context);
      if (expected.includes('conversion')) assert.equal(records.at(-1)?.block.toString(), input.text ?? '', context);
    }
    if (index % 100 === 0 && first !== undefined) assert.deepEqual(readRecordAt(path, first.offset), first, context);
    at += group.bytes.length;
  }
  assert.equal(reading.next().done, true);
});

/** Bytes that do not compress, the same in every run. */
function noise(length: number): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; at < length; at += 64) blocks.push(createHash('sha512').update(`${length} ${at}`).digest());
  return Buffer.concat(blocks).subarray(0, length);
}

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

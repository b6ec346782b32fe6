/** What a visit leaves in the archive: records that any WARC reader reads, and so do we. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { WARCParser } from 'warcio';
import { readRecords, splitHttp, type WarcRecord } from '../src/archive/reader.ts';
import { newRecordId, payloadDigest, recordGroup, warcinfoRecord } from '../src/archive/records.ts';
import type { Answered } from '../src/model/exchange.ts';
import { answered, bytes, digestOf, groupRecords, noise, saved, types } from './support/archive-scene.ts';

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
    tlsVerification: 'none',
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
    tlsVerification: evil as 'none',
    description: evil,
  });
  const [record, ...rest] = [...readRecords(saved(info))] as [WarcRecord];
  assert.deepEqual([record.headers['warc-type'], rest.length], ['warcinfo', 0]);
  assert.equal(record.block.toString().split('\r\n').length, 9);
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

/**
 * Which fields a record of each type may have besides the four that all must have: WARC 1.1, 5. Own fields begin with
 * Gossamer-.
 */
const MUST = ['warc-record-id', 'content-length', 'warc-date', 'warc-type'];
const ANY = ['content-type', 'warc-block-digest', 'warc-payload-digest', 'warc-truncated', 'warc-segment-number'];
const ABOUT_URI = ['warc-target-uri', 'warc-warcinfo-id', 'warc-identified-payload-type'];
const EXCHANGED = [...ANY, ...ABOUT_URI, 'warc-concurrent-to', 'warc-ip-address'];
const MAY: Readonly<Record<string, readonly string[]>> = {
  warcinfo: [...ANY, 'warc-filename'],
  response: EXCHANGED,
  request: EXCHANGED,
  metadata: [...EXCHANGED, 'warc-refers-to'],
  conversion: [...ANY, ...ABOUT_URI, 'warc-refers-to'],
};

test('records have the fields that WARC 1.1 asks of their type, and none that it forbids there', () => {
  const page = answered({ truncated: 'length' });
  const links = { urls: ['http://a.example/'], cut: 1 };
  const info = warcinfoRecord({
    software: 'Gossamer/0.1.0',
    fileName: 'one.warc.gz',
    at: 0,
    operator: 'you@example.org',
    userAgent: 'Gossamer',
    robots: 'classic',
    tlsVerification: 'none',
  });
  const warcinfoId = newRecordId();
  const groups = (['all', 'text'] as const).map(
    (keep) =>
      recordGroup({ robots: [answered()], page, text: 'text', keep, charset: 'utf-8', links, warcinfoId }).bytes,
  );
  const records = [...readRecords(saved(Buffer.concat([info, ...groups])))];
  assert.deepEqual(new Set(types(records)), new Set(Object.keys(MAY)));
  for (const { headers } of records) {
    const type = String(headers['warc-type']);
    const names = Object.keys(headers).filter((name) => !name.startsWith('gossamer-'));
    assert.deepEqual(
      MUST.filter((name) => !names.includes(name)),
      [],
      `${type} lacks`,
    );
    assert.deepEqual(
      names.filter((name) => !MUST.includes(name) && !MAY[type]!.includes(name)),
      [],
      `${type} has`,
    );
    // A warcinfo record is the one that must not have it.
    assert.equal(headers['warc-warcinfo-id'], type === 'warcinfo' ? undefined : warcinfoId, type);
  }
});

/**
 * The pieces of an export: keys of an index, sorting more than fits, files that are whole or not there, links in the
 * archive.
 */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { CDXIndexer } from 'warcio';
import { readRecords } from '../src/archive/reader.ts';
import { recordGroup } from '../src/archive/records.ts';
import { readArchived } from '../src/results/archived.ts';
import { cdxjLine } from '../src/results/export/cdxj.ts';
import { PAGE_TABLE } from '../src/results/export/columns.ts';
import { PageRecords } from '../src/results/export/links.ts';
import { OutFile } from '../src/results/export/out.ts';
import { csv, jsonLines } from '../src/results/export/text.ts';
import { LineSorter } from '../src/lib/sort-lines.ts';
import type { Answered } from '../src/model/exchange.ts';
import type { CanonicalUrl } from '../src/model/link.ts';
import { UsageError } from '../src/model/read-settings.ts';
import { NO_PLACE, type NoPlace, type Page, type PageRow, type WarcPlace } from '../src/model/page.ts';
import { KEPT_LINKS_BYTES_MAX, keptLinksOf } from '../src/url/page-links.ts';
import { surtOf } from '../src/url/surt.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-export-'));
after(() => rmSync(home, { recursive: true }));

/** What the package `surt`, by which pywb looks pages up, makes of these. */
const KEYS: Readonly<Record<string, string>> = {
  'http://archive.org/': 'org,archive)/',
  'https://www34.archive.org/': 'org,archive)/',
  'http://www2foo.com/': 'com,www2foo)/',
  'http://archive.org/goo/?b&a': 'org,archive)/goo?a&b',
  'http://archive.org/goo/?a=2&b&a=1': 'org,archive)/goo?a=1&a=2&b',
  'http://archive.org/a?b=b&a=b&b=a&a=a&a': 'org,archive)/a?a&a=a&a=b&b=a&b=b',
  'http://archive.org/x?a=&a': 'org,archive)/x?a&a=',
  'http://archive.org/q?a=1&': 'org,archive)/q?&a=1',
  'http://archive.org:8080/Goo/Index.HTML': 'org,archive:8080)/goo/index.html',
  'http://127.0.0.1:3000/': '1,0,0,127:3000)/',
  'http://xn--bcher-kva.ch/': 'ch,xn--bcher-kva)/',
  'http://host.com//twoslashes?more//slashes': 'com,host)/twoslashes?more//slashes',
  'http://host.com/a%2Fb/%252e%252E/c': 'com,host)/a/c',
  'http://host.com/asdf%25%32%35asd': 'com,host)/asdf%25asd',
  'http://host.com/%257Ea%2521b%2540c%2523d': 'com,host)/~a!b@c%23d',
  'http://host.com/caf%C3%A9': 'com,host)/caf%c3%a9',
  'http://archive.org/index.php?PHPSESSID=0123456789abcdefghijklemopqrstuv&action=profile;u=4221':
    'org,archive)/index.php?action=profile;u=4221',
  'http://archive.org/x?sid=9682993c8daa2c5497996114facdc805': 'org,archive)/x',
  'http://archive.org/x?sid=9682993c8daa2c5497996114facdc8051': 'org,archive)/x?sid=9682993c8daa2c5497996114facdc8051',
  'http://archive.org/?CFID=1169580&CFTOKEN=48630702&d=22%2F08': 'org,archive)/?d=22/08',
  'http://archive.org/(S(4hqa0555fwsecu455xqckv45))/mileg.aspx': 'org,archive)/mileg.aspx',
  'http://visit.yahoo.com/v.gif?&r=http%3A//w.org/&b=Netscape%205.0%20%28Windows%3B%29':
    'com,yahoo,visit)/v.gif?&b=netscape%205.0%20(windows;)&r=http://w.org/',
};

test('the key of a URL is the one by which pywb looks it up', () => {
  for (const [url, key] of Object.entries(KEYS)) assert.equal(surtOf(url), key, url);
});

const collected = (chunks: Iterable<Uint8Array | string>): string[] =>
  [...chunks]
    .map((chunk) => Buffer.from(chunk as string).toString())
    .join('')
    .split('\n')
    .slice(0, -1);

test('lines that do not fit into one run are sorted by their bytes, and nothing is left on the disk', () => {
  const dir = join(home, 'sort');
  mkdirSync(dir);
  let state = 7;
  const random = (max: number): number => (state = Math.imul(state, 48_271) >>> 0) % max;
  const lines = Array.from(
    { length: 20_000 },
    (_, n) => `${'Za,)-%!~'[random(8)]}${'x'.repeat(random(90))} ${n % 700}`,
  );
  for (const runBytes of [2 ** 30, 300_000, 20_000]) {
    const sorter = new LineSorter({ dir, runBytes });
    for (const line of lines) sorter.add(line);
    assert.deepEqual(
      collected(sorter.sorted()),
      lines.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      `runs of ${runBytes} bytes`,
    );
    assert.deepEqual(readdirSync(dir), []);
    sorter.close();
  }
  const empty = new LineSorter({ dir });
  assert.deepEqual(collected(empty.sorted()), []);
  empty.close();
});

test('a file is there when it is kept, and never in part', () => {
  const path = join(home, 'out.csv');
  const out = new OutFile(path, false);
  out.write('a,b\r\n');
  assert.equal(existsSync(path), false);
  out.write(Buffer.from('ü'));
  out.keep();
  out.drop(); // of a kept file nothing is left to drop
  assert.equal(readFileSync(path, 'utf8'), 'a,b\r\nü');
  assert.throws(() => new OutFile(path, false), UsageError);

  const forced = new OutFile(path, true);
  forced.write('new');
  forced.drop();
  assert.equal(readFileSync(path, 'utf8'), 'a,b\r\nü');
  const late = new OutFile(join(home, 'late'), false);
  writeFileSync(join(home, 'late'), 'of another');
  assert.throws(() => late.keep(), /is there already/);
  late.drop();
  assert.equal(readFileSync(join(home, 'late'), 'utf8'), 'of another');
  assert.deepEqual(
    readdirSync(home).filter((name) => name.endsWith('.part')),
    [],
  );
  assert.throws(
    () => new OutFile(join(home, 'no', 'such', 'folder'), false),
    /cannot be written .*: choose another --out/,
  );
});

const pageOf = (change: Partial<Page> & (Partial<WarcPlace> | NoPlace) = {}): PageRow => ({
  url: 'http://a.example/x' as CanonicalUrl,
  site: 'a.example',
  outcome: 'fetched',
  status: 200,
  time: Date.UTC(2026, 10, 15, 20, 45, 1, 999) + 0.7,
  duration_ms: 12.5,
  content_type: 'text/html; charset=utf-8',
  bytes: 3,
  title: '',
  language: '',
  redirect: '',
  digest: 'sha1:ABC',
  truncated: '',
  noindex: false,
  depth: 1,
  via: '',
  tries: 1,
  robots: '',
  detail: '',
  extracted: null,
  tls: '',
  charset: 'utf-8',
  charset_guessed: false,
  warc_file: 'f.warc.gz',
  warc_offset: 10,
  warc_length: 20,
  warc_group_length: 50,
  ...change,
});

test('a line of the index has what pywb reads: key, time, type, status, digest and place', () => {
  assert.equal(
    cdxjLine(pageOf()),
    'example,a)/x 20261115204501 {"url":"http://a.example/x","mime":"text/html","status":"200","digest":"ABC","length":"20","offset":"10","filename":"f.warc.gz"}',
  );
  assert.match(
    cdxjLine(pageOf({ content_type: '', digest: '' }))!,
    /"mime":"unk".*"digest":"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"/,
  );
  assert.match(cdxjLine(pageOf({ content_type: 'té/é' }))!, /"mime":"t\\u00e9\/\\u00e9"/);
  assert.equal(cdxjLine(pageOf(NO_PLACE)), null);
});

const table = pageOf({
  title: 'one, "two"\nthree',
  noindex: true,
  status: null,
  extracted: '{"a":[1]}',
  ...NO_PLACE,
});

test('CSV follows RFC 4180: a head, quotes where they must be, nothing for what is not there', () => {
  assert.equal(csv.head(PAGE_TABLE), `${PAGE_TABLE.map(({ name }) => name).join(',')}\r\n`);
  assert.equal(
    csv.line(PAGE_TABLE, table),
    'http://a.example/x,a.example,fetched,,2026-11-15T20:45:01.999Z,12.5,text/html; charset=utf-8,3,"one, ""two""\nthree",,,sha1:ABC,,true,1,,1,,,"{""a"":[1]}",,,,,,utf-8,false\r\n',
  );
  assert.match(csv.line(PAGE_TABLE, pageOf({ title: '=cmd()' })), /,'=cmd\(\),/, 'no spreadsheet runs it');
});

test('a JSON line has every column by its name, numbers as numbers and what a hook extracted as it was', () => {
  const line = JSON.parse(jsonLines.line(PAGE_TABLE, table)) as Record<string, unknown>;
  assert.deepEqual(
    Object.keys(line),
    PAGE_TABLE.map(({ name }) => name),
  );
  assert.deepEqual(
    [line.time, line.duration_ms, line.status, line.noindex, line.extracted, line.warc_file],
    ['2026-11-15T20:45:01.999Z', 12.5, null, true, { a: [1] }, null],
  );
  assert.equal(jsonLines.head(PAGE_TABLE), '');
});

test('every property of a page is in a column', () => {
  const marked = pageOf(NO_PLACE);
  const read = new Set<string>();
  const watched = new Proxy(marked, { get: (page, name) => (read.add(String(name)), page[name as keyof PageRow]) });
  for (const { of } of PAGE_TABLE) of(watched);
  assert.deepEqual([...read].toSorted(), Object.keys(marked).toSorted());
});

test('the links of a page are kept in their canonical form, in its order, each once', () => {
  const base = 'http://a.example/dir/page';
  const hrefs = ['/b#x', 'c', 'HTTP://B.example', '/b', 'mailto:x@y', 'http://[', './c?'];
  assert.deepEqual(keptLinksOf({ hrefs, base }), {
    urls: ['http://a.example/b', 'http://a.example/dir/c', 'http://b.example/'],
    cut: 0,
  });
  const long = Array.from({ length: 1_000 }, (_, n) => `/${'x'.repeat(1_900)}${n}`);
  const { urls, cut } = keptLinksOf({ hrefs: long, base });
  assert.equal(urls.length + cut, long.length);
  const same = Array.from({ length: 1_000 }, (_, n) => `${long[0]}#${n}`);
  assert.deepEqual(keptLinksOf({ hrefs: same, base }).cut, 0, 'one address counts once, however often it is written');
  assert.ok(urls.join('').length <= KEPT_LINKS_BYTES_MAX && urls.join('').length > KEPT_LINKS_BYTES_MAX - 2_000);
});

const answered: Answered = {
  kind: 'answered',
  url: 'http://a.example/',
  startedAt: 1_794_776_700_123,
  answeredAt: 0,
  endedAt: 0,
  address: '192.0.2.1',
  requestHead: 'GET / HTTP/1.1\r\n\r\n',
  head: 'HTTP/1.1 200 OK\r\n\r\n',
  status: 200,
  headers: {},
  body: new Uint8Array(Buffer.from('<p>x')),
  truncated: null,
};

for (const keep of ['all', 'text'] as const) {
  test(`with --keep ${keep} the links of a page are a record of their own, found from the place of the page`, async () => {
    const dir = join(home, `links-${keep}`);
    mkdirSync(join(dir, 'warc'), { recursive: true });
    const links = { urls: ['http://a.example/1', 'http://b.example/'], cut: 3 };
    const group = recordGroup({
      robots: [{ ...answered, url: 'http://a.example/robots.txt' }],
      page: answered,
      text: 'x',
      keep,
      links,
    });
    writeFileSync(join(dir, 'warc', 'f.warc.gz'), group.bytes);
    const place = {
      warc_file: 'f.warc.gz',
      warc_offset: group.pageAt,
      warc_length: group.pageLength,
      warc_group_length: group.bytes.length - group.pageAt,
    };

    const [first, record, ...rest] = [...readRecords(join(dir, 'warc', 'f.warc.gz'), group.pageAt)];
    assert.deepEqual(
      rest.map(({ headers }) => headers['warc-type']),
      keep === 'all' ? ['request', 'conversion'] : [],
    );
    const { headers, block } = record!;
    assert.deepEqual(
      [
        headers['warc-type'],
        headers['content-type'],
        headers['warc-target-uri'],
        headers['warc-concurrent-to'],
        headers['warc-truncated'],
        headers['gossamer-links-cut'],
      ],
      ['metadata', 'application/warc-fields', answered.url, first!.headers['warc-record-id'], 'length', '3'],
    );
    assert.equal(block.toString(), 'outlink: http://a.example/1\r\noutlink: http://b.example/\r\n');

    const records = new PageRecords([dir]);
    assert.deepEqual(records.linksOf(pageOf(place)), links);
    assert.equal(records.hasResponse(place), keep === 'all');
    assert.equal(records.linksOf(pageOf({ ...place, warc_file: 'of-another.warc.gz' })), null);
    assert.deepEqual(records.linksOf(pageOf(NO_PLACE)), { urls: [], cut: 0 });
    assert.deepEqual(records.linksOf(pageOf(place)), links, 'after a look at another file');
    records.close();
    assert.equal(readArchived([dir], place, 'text'), 'x');
    assert.equal(readArchived([dir], place, 'html'), keep === 'all' ? '<p>x' : '');

    const others: string[] = [];
    for await (const line of new CDXIndexer({}).iterIndex([{ filename: 'f', reader: [group.bytes] as never }]))
      others.push(String(line.mime));
    assert.ok(!others.includes('application/warc-fields'), 'an index made by others passes over it');
  });
}

test('a page without links, or whose links are not kept, has no such record', () => {
  for (const links of [undefined, { urls: [], cut: 0 }]) {
    const { bytes, pageLength } = recordGroup({ robots: [], page: answered, text: null, keep: 'text', links });
    assert.equal(bytes.length, pageLength);
  }
});

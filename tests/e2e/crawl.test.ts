/** One whole crawl of the small web by the real binary, looked at from every side. */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { VERSION } from '../../src/folder/version.ts';
import { PAGE_COLUMN_NAMES } from '../../src/model/page.ts';
import { CHARSET_TITLES, HIDDEN_TEXT } from '../../src/world/curios-bodies.ts';
import { tinyPlan } from '../../src/world/presets.ts';
import { urlOf } from '../../src/world/seen.ts';
import { archivedIn, assertArchivedOnce, countByUrl, type Archived } from '../support/archive-check.ts';
import type { Ran } from '../support/binary.ts';
import {
  assertAddsUp,
  assertCode,
  assertNoFault,
  onStage,
  openStage,
  plainPlan,
  type ListedPage,
  type Stage,
} from '../support/stage.ts';

let stage: Stage;
let crawled: Ran;
let rows: ListedPage[];
let records: Archived[];

before(async () => {
  stage = await openStage(tinyPlan);
  crawled = await stage.crawl();
  rows = await stage.pages();
  records = await archivedIn(stage.dir);
});
after(() => stage.close());

const rowEnding = (ending: string): ListedPage => {
  const row = rows.find(({ url }) => url.endsWith(ending));
  assert.ok(row, `no page ends with ${ending}`);
  return row;
};

const shown = async (url: string, ...flags: readonly string[]): Promise<string> => {
  const ran = await stage.gossamer('show', stage.dir, url, ...flags);
  assertCode(ran, 0);
  return ran.stdout;
};

test('a crawl of the small web ends by itself with exit code 0 and says that it is finished', () => {
  assertCode(crawled, 0);
  assert.match(crawled.stdout, /is finished after/);
  assert.equal(crawled.stderr, '');
});

test('by the record of the small web nothing is missing, twice, too early, overlapping, forbidden, unexpected or before its robots.txt', () => {
  const report = stage.report();
  assert.ok(report.pages >= stage.world.reachable().pages.size);
  assertNoFault(report);
});

test('the status adds up and agrees with what the small web saw', async () => {
  const status = await stage.status();
  assertAddsUp(status);
  assert.deepEqual([status.waiting, status.leased, status.held, status.process], [0, 0, 0, null]);
  const answered = new Set(rows.filter((row) => row.status !== null).map((row) => row.url as string));
  assert.equal(status.pages, answered.size);
  const { requests } = stage.served.record;
  const asked = new Set(requests.map(urlOf));
  assert.deepEqual(
    [...answered].filter((url) => !asked.has(url)),
    [],
  );
  assert.deepEqual(
    requests.filter((seen) => seen.kind === 'page' && seen.whole && !answered.has(urlOf(seen))).map(urlOf),
    [],
  );
});

test('there is one row for every settled link, with every reachable page once and every forbidden one denied', async () => {
  const { settled, settledByOutcome } = await stage.status();
  assert.equal(rows.length, settled);
  const byUrl = new Map(rows.map((row) => [row.url as string, row]));
  assert.equal(byUrl.size, rows.length);
  assert.deepEqual(
    settledByOutcome,
    Object.fromEntries(
      Object.entries(Object.groupBy(rows, (row) => row.outcome)).map(([name, of]) => [name, of.length]),
    ),
  );
  const { pages, forbidden } = stage.world.reachable();
  assert.deepEqual(
    [...pages].filter((url) => !byUrl.has(url)),
    [],
  );
  assert.deepEqual(
    [...forbidden].filter((url) => byUrl.get(url)?.outcome !== 'robots-denied'),
    [],
  );
});

test('every page has exactly one response in the archive, at its place, with its URL and digest, for two readers', () => {
  assertArchivedOnce(records, stage.world.reachable().pages);
  const placed = rows.filter((row) => row.warc_file !== null);
  assert.equal(placed.length, countByUrl(records).size);
  assert.deepEqual(
    rows.filter((row) => (row.warc_file !== null) !== (row.status !== null)),
    [],
  );
  const at = new Map(records.map((record) => [`${record.file}:${record.offset}`, record]));
  for (const { url, warc_file, warc_offset, warc_length, digest, bytes } of placed) {
    const record = at.get(`${warc_file}:${warc_offset}`);
    assert.deepEqual(
      [record?.type, record?.url, record?.length, record?.payload.length],
      ['response', url, warc_length, bytes],
      url,
    );
    assert.equal(digest, bytes === 0 ? '' : record?.digest, url);
  }
});

/** RFC 4180, enough for a file of ours. */
const readCsv = (text: string): string[][] => {
  const table: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? bare ?? '');
    if (end === ',') continue;
    table.push(row);
    row = [];
  }
  return table.filter((cells) => cells.length > 1);
};

test('the same pages come as CSV, and a filter picks some of them', async () => {
  const ran = await stage.gossamer('pages', stage.dir, '--format', 'csv');
  assertCode(ran, 0);
  const [head, ...table] = readCsv(ran.stdout);
  assert.deepEqual(head, PAGE_COLUMN_NAMES);
  assert.deepEqual(
    table,
    rows.map((row) => PAGE_COLUMN_NAMES.map((name) => String(row[name] ?? ''))),
  );

  const denied = await stage.pages({ outcome: 'robots-denied', limit: 5 });
  assert.deepEqual(denied, rows.filter((row) => row.outcome === 'robots-denied').slice(0, 5));
  const { site } = rowEnding('/curios/not-found');
  assert.deepEqual(
    await stage.pages({ site, status: 404 }),
    rows.filter((row) => row.site === site && row.status === 404),
  );
});

test('a table on a terminal has a line for every page', async () => {
  const ran = await stage.gossamer('pages', stage.dir);
  assertCode(ran, 0);
  assert.equal(ran.stdout.trimEnd().split('\n').length, rows.length + 1);
  for (const row of rows) assert.ok(ran.stdout.includes(`  ${row.url}  `), row.url);
});

test('show tells what is known of a page', async () => {
  const row = rowEnding('/curios/moved');
  const text = await shown(row.url);
  assert.match(text, /outcome +redirected/);
  assert.match(text, /status +301/);
  assert.ok(
    text.includes(row.redirect) && text.includes(row.digest) && text.includes(`offset ${row.warc_offset}`),
    text,
  );
});

test('show finds a page without its scheme, over http too', async () => {
  for (const scheme of ['http://', 'https://']) {
    const other = scheme === 'http://' ? 'https://' : 'http://';
    const row = rows.find(
      ({ url, warc_file }) =>
        url.startsWith(scheme) &&
        warc_file !== null &&
        !rows.some((one) => one.url === url.replace(scheme, other) && one.warc_file !== null),
    )!;
    assert.equal((await shown(row.url.replace(scheme, ''))).split('\n')[0], row.url);
  }
});

test('pages in odd charsets are decoded right, in the list and in what show prints', async () => {
  await Promise.all(
    Object.entries(CHARSET_TITLES).map(async ([name, title]) => {
      const row = rowEnding(`/curios/${name}`);
      assert.equal(row.title, title);
      assert.ok((await shown(row.url, '--html')).includes(`<title>${title}</title>`), name);
      assert.ok((await shown(row.url, '--text')).includes(title), name);
    }),
  );
});

test('what is hidden is not in the text of a page, and hides nothing that follows it', async () => {
  const text = await shown(rowEnding('/curios/hidden-unended').url, '--text');
  for (const word of HIDDEN_TEXT.seen) assert.ok(text.includes(word), word);
  assert.ok(!text.includes(HIDDEN_TEXT.unseen));
});

test('a compressed page is shown as it reads', async () => {
  await Promise.all(
    ['gzip', 'deflate', 'brotli'].map(async (name) => {
      const { url } = rowEnding(`/curios/${name}`);
      assert.match(await shown(url, '--html'), /<a href="[^"]*\/leaf">/);
      const text = await shown(url, '--text');
      assert.match(text, /a page of the small web/);
      assert.doesNotMatch(text, /<a /);
    }),
  );
});

test('show --headers prints the request and the head of the response', async () => {
  const { url } = rowEnding('/curios/gone');
  const text = await shown(url, '--headers');
  assert.match(text, new RegExp(`^GET ${new URL(url).pathname} HTTP/1\\.1\r\n`, 'm'));
  assert.match(text, /^From: test@example\.org\r$/im);
  assert.match(text, /^HTTP\/1\.1 410 /m);
});

test('show says so when a URL is not known, or when nothing of it was archived', async () => {
  const unknown = await stage.gossamer('show', stage.dir, `${rows[0]?.url}never-linked`);
  assertCode(unknown, 1);
  assert.match(unknown.stdout, /is not known/);
  const elsewhere = await stage.gossamer('show', stage.dir, 'https://nowhere.example/');
  assertCode(elsewhere, 1);
  assert.match(elsewhere.stdout, /is not known; its site nowhere\.example neither/);
  const refused = rows.find((row) => row.outcome === 'robots-denied');
  const denied = await stage.gossamer('show', stage.dir, refused?.url ?? '', '--text');
  assertCode(denied, 2);
  assert.match(denied.stderr, /^gossamer: nothing was archived of .*robots-denied\n$/);
});

test('every request names the crawler and its contact', () => {
  const agents = new Set(stage.served.record.requests.map((seen) => seen.userAgent));
  assert.deepEqual([...agents], [`Gossamer/${VERSION} (+contact; test@example.org)`]);
});

test("the From header and a product token of one's own reach the server", async () => {
  const heads: [string | undefined, string | undefined, string | undefined][] = [];
  const server = createServer((request, response) => {
    heads.push([request.url, request.headers['user-agent'], request.headers.from]);
    response.setHeader('content-type', 'text/html').end('<p>one page</p>');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  try {
    await onStage(plainPlan(1, 1), async ({ gossamer, dir }) => {
      const { port } = server.address() as AddressInfo;
      const ran = await gossamer(
        'crawl',
        '--url',
        'http://one.example/',
        '--dir',
        dir,
        '--email',
        'me@example.net',
        '--user-agent',
        'MyBot/2.1',
        '--disk-reserve',
        '10MiB',
        '--connect-to',
        `*:80:127.0.0.1:${port}`,
      );
      assertCode(ran, 0);
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
  const sent = ['MyBot/2.1 (+contact; me@example.net)', 'me@example.net'];
  assert.deepEqual(heads, [
    ['/robots.txt', ...sent],
    ['/', ...sent],
  ]);
});

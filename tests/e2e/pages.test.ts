/** The pages of a crawl in a program of one's own: while it runs, after it, slowly, and more than once at a time. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { crawl, openCrawl, UsageError, type Crawl, type CrawledPage, type CrawlOptions } from '../../src/index.ts';
import { readFields } from '../../src/archive/head.ts';
import { pagesFrom } from '../../src/results/pages.ts';
import { openSqliteCrawl } from '../../src/store/sqlite/crawl.ts';
import { sqlitePlace } from '../support/sqlite-place.ts';
import { serveHeldSites, type HeldSites } from '../support/held-site.ts';
import { makeCrawl } from '../support/made-crawl.ts';
import { DELAY_MS, onStage, plainPlan, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

const QUICK = {
  email: 'test@example.org',
  delayMs: DELAY_MS,
  timeoutMs: 60_000,
  diskReserveBytes: 0,
  fetchers: 1,
  parsers: 1,
} as const;

const optionsFor = (stage: Stage, more: Partial<CrawlOptions> = {}): CrawlOptions => ({
  ...QUICK,
  dir: stage.dir,
  seeds: stage.world.seeds(),
  connectTo: stage.served.connectTo,
  ...more,
});

const urlsOf = async (pages: AsyncIterable<CrawledPage>): Promise<string[]> => {
  const urls: string[] = [];
  for await (const page of pages) urls.push(page.url);
  return urls;
};

/** Sites whose last pages are held back, so that the crawl cannot end before they are let go. */
const onHeldCrawl = async (story: (run: Crawl, sites: HeldSites) => Promise<void>): Promise<void> => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-pages-'));
  const sites = await serveHeldSites();
  const run = await crawl({
    ...QUICK,
    timeoutMs: 600_000,
    dir: join(home, 'crawl'),
    seeds: sites.seeds,
    connectTo: sites.connectTo,
  });
  try {
    await story(run, sites);
  } finally {
    sites.release();
    await run.stop();
    await sites.close();
    rmSync(home, { recursive: true });
  }
};

test('pages are given while the crawl runs, each once, to every loop over them, and the loops end with it', () =>
  onHeldCrawl(async (run, sites) => {
    const other = urlsOf(run.pages());
    const urls: string[] = [];
    for await (const page of run.pages()) {
      urls.push(page.url);
      // All but the held ones: they cannot have come if pages were given only at the end.
      if (urls.length === sites.pages.length - sites.seeds.length) {
        assert.equal(run.status().phase, 'crawling');
        sites.release();
      }
    }
    assert.equal((await run.ended).reason, 'finished');
    assert.deepEqual(urls.toSorted(), sites.pages.toSorted());
    assert.deepEqual(await other, urls);
    assert.deepEqual(await urlsOf(run.pages()), urls, 'after the end they can be read again');
  }));

test('a loop that is left lets the crawl go on', () =>
  onHeldCrawl(async (run, sites) => {
    for await (const page of run.pages()) {
      assert.ok(page.url);
      break;
    }
    sites.release();
    const end = await run.ended;
    assert.deepEqual([end.reason, end.census?.pages], ['finished', sites.pages.length]);
  }));

test('a slow loop gets every page, also those that were settled long before it comes to them', () =>
  onStage(plainPlan(10, 150, 30), async (stage) => {
    const run = await crawl(optionsFor(stage));
    const urls: string[] = [];
    for await (const page of run.pages()) {
      if (urls.length === 0) assert.equal((await run.ended).reason, 'finished');
      urls.push(page.url);
    }
    assert.equal(urls.length, new Set(urls).size);
    assert.deepEqual(urls.toSorted(), [...stage.world.reachable().pages].toSorted());
  }));

test('pages of this run are given, or those of the whole crawl, in the order they were settled', () =>
  onStage(plainPlan(6, 120, 30), async (stage) => {
    const first = await crawl(optionsFor(stage, { maxPages: 20 }));
    const before = await urlsOf(first.pages());
    assert.equal((await first.ended).reason, 'max-pages');
    assert.equal(before.length, 20);

    const second = await crawl(optionsFor(stage, { maxPages: null }));
    const [later, all, some] = await Promise.all([
      urlsOf(second.pages()),
      urlsOf(second.pages({ from: 'start' })),
      urlsOf(second.pages({ from: 'start', limit: 30 })),
    ]);
    assert.equal((await second.ended).reason, 'finished');
    assert.deepEqual(all.slice(0, 20), before);
    assert.deepEqual(all.slice(20), later);
    assert.deepEqual(some, all.slice(0, 30));
    assert.deepEqual(all.toSorted(), [...stage.world.reachable().pages].toSorted());
    assert.deepEqual(
      all,
      (await stage.pages()).map((row) => row.url as string),
    );
  }));

test('a crawl that was stopped ends the loops over its pages', () =>
  onHeldCrawl(async (run, sites) => {
    const urls = urlsOf(run.pages());
    await until('every site holds a response back', () => sites.holding() === sites.seeds.length);
    const stopped = run.stop();
    sites.release();
    assert.equal((await stopped).reason, 'stopped');
    assert.equal((await urls).length, run.status().census?.pages);
  }));

test('a page brings what was archived of it, as `show` prints it', () =>
  onStage(plainPlan(2, 6), async (stage) => {
    await (await crawl(optionsFor(stage))).ended;
    const read = await openCrawl(stage.dir);
    try {
      assert.equal(read.settings.delayMs, DELAY_MS);
      assert.equal((await read.status()).pages, stage.world.reachable().pages.size);
      const [url] = await urlsOf(read.pages({ limit: 1 }));
      const page = await read.page(url!);
      assert.ok(page);
      const shown = async (flag: string): Promise<string> =>
        (await stage.gossamer('show', stage.dir, url!, flag)).stdout;
      assert.equal(`${await page.text()}\n`, await shown('--text'));
      assert.equal(await page.html(), await shown('--html'));
      assert.match(await page.html(), /<html/);
      const headers = await page.headers();
      assert.equal(headers['content-type'], page.content_type);
      assert.match(
        await shown('--headers'),
        new RegExp(
          `^HTTP/1.1 200 OK\r\n[^]*content-length: ${headers['content-length']}\r\n[^]*\r\nGET / HTTP/1.1\r\n`,
          'i',
        ),
      );
      assert.equal(await read.page('http://nowhere.example/'), null);
      assert.equal(await read.page('nonsense'), null);
    } finally {
      await read.close();
    }
  }));

test('headers that are there more than once are joined, and what is no header is left out', () => {
  assert.deepEqual(readFields('HTTP/1.1 200 OK\r\nVary: a\r\nnonsense\r\nX: y: z\r\nvary: b\r\n\r\n'), {
    vary: 'a, b',
    x: 'y: z',
  });
});

test('a crawl that is not running is read in slices, filtered, and one that kept nothing has empty texts', async () => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-pages-'));
  try {
    await assert.rejects(openCrawl(join(home, 'nothing')), UsageError);
    await makeCrawl({ dir: join(home, 'made'), sites: 7, pages: 350, waiting: 5, keep: 'none', fileBytesMax: 2 ** 30 });
    const read = await openCrawl(join(home, 'made'));
    const all: CrawledPage[] = [];
    for await (const page of read.pages()) all.push(page);
    assert.equal(new Set(all.map((page) => page.url)).size, 350);
    for (const filter of [
      { site: 's3.example' },
      { status: 200 },
      { outcome: 'robots-denied' },
      { status: 404 },
      { site: 's3.example', status: 200, limit: 3 },
    ]) {
      const wanted = all.filter((page) =>
        Object.entries(filter).every(([name, value]) => name === 'limit' || page[name as 'site'] === value),
      );
      assert.deepEqual(
        await urlsOf(read.pages(filter)),
        wanted.slice(0, filter.limit).map((page) => page.url),
        JSON.stringify(filter),
      );
    }
    assert.deepEqual(
      [await all[0]!.text(), await all[0]!.html(), await all[0]!.headers(), all[0]!.extracted],
      ['', '', {}, undefined],
    );
    await read.close();
    const crawl = await openSqliteCrawl(sqlitePlace(join(home, 'made')));
    assert.deepEqual(
      await crawl.pagesAfter(0, { status: 404 }),
      { pages: [], row: 350, end: 350 },
      'rows that do not match are not read again',
    );
    let isClosed = false;
    const close = async (): Promise<void> => {
      await crawl.close();
      isClosed = true;
    };
    const open = async () => ({ ...crawl, close });
    const listed = pagesFrom({ dir: join(home, 'made'), open, after: () => 0, isOver: () => true }, {});
    assert.deepEqual(
      await urlsOf(listed),
      all.map((page) => page.url),
    );
    assert.ok(isClosed, 'the list ends when its crawl is closed');
  } finally {
    rmSync(home, { recursive: true });
  }
});

/** Your own code on each page of a crawl: `onPage` of the library, and what a running crawl takes and tells. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { crawl, openCrawl, UsageError, type CrawledPage, type RunEnd } from '../../src/index.ts';
import { createGate } from '../../src/lib/gate.ts';
import { PAGES_WAITING_MAX } from '../../src/results/page-calls.ts';
import { startBinary } from '../support/binary.ts';
import { optionsFor } from '../support/library-options.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startRedis } from '../support/redis-server.ts';
import { onStage, plainPlan } from '../support/stage.ts';
import { until } from '../support/until.ts';

const sorted = (urls: Iterable<string>): string[] => [...urls].toSorted();

test('every fetched page comes to onPage once, with its html, text and links, some at a time', () =>
  onStage(plainPlan(6, 60, 20), async (stage) => {
    const seen: string[] = [];
    const links = new Set<string>();
    let underWay = 0;
    let most = 0;
    const run = await crawl(
      optionsFor(stage, {
        onPageConcurrency: 3,
        onPage: async (page) => {
          most = Math.max(most, ++underWay);
          const [html, text] = [await page.html(), await page.text()];
          assert.ok(html.includes('<') && text.length > 100 && !text.includes('<p'), page.url);
          for (const link of await page.links()) links.add(link);
          const [title, ...titles] = await page.select('head > title');
          assert.deepEqual([title?.text, titles.length], [page.title, 0], page.url);
          await new Promise((resolve) => setTimeout(resolve, 5));
          seen.push(page.url);
          underWay--;
        },
      }),
    );
    const { reason } = await run.ended;
    assert.deepEqual([reason, underWay], ['finished', 0]);
    const wanted = stage.world.reachable().pages;
    assert.deepEqual(sorted(seen), sorted(wanted));
    assert.ok(most > 1 && most <= 3, `${most} at a time`);
    for (const url of wanted) assert.ok(links.has(url) || new URL(url).pathname === '/', url);
  }));

test('so they do where the crawl is in Redis or PostgreSQL, also after a stop', async () => {
  const redis = await startRedis();
  const postgres = await startPostgres();
  try {
    for (const store of [redis.url, await postgres.database()]) {
      await onStage(plainPlan(6, 60, 20), async (stage) => {
        const seen: string[] = [];
        const options = optionsFor(stage, { store, name: 'handled', onPage: (page) => void seen.push(page.url) });
        const run = await crawl({ ...options, maxPages: 25 });
        let listed = 0;
        for await (const _ of run.pages()) listed++;
        assert.equal(listed, 25);
        const first = await run.ended;
        assert.deepEqual([first.reason, first.fault], ['max-pages', null]);
        assert.equal(seen.length, 25);
        const { seeds: _, ...again } = options;
        assert.equal((await (await crawl({ ...again, maxPages: null })).ended).reason, 'finished');
        assert.deepEqual(sorted(seen), sorted(stage.world.reachable().pages));
      });
    }
  } finally {
    await redis.remove();
    await postgres.remove();
  }
});

test('a handler that is slow holds the crawl back, and all its pages come in the end', () =>
  onStage(plainPlan(60, 700, 20), async (stage) => {
    const concurrency = 10;
    const gate = createGate();
    let isOpen = false;
    let done = 0;
    const run = await crawl(
      optionsFor(stage, {
        concurrency,
        delayMs: 0,
        onPage: async () => {
          if (!isOpen) await gate.passed();
          done++;
        },
      }),
    );
    const { size } = stage.world.reachable().pages;
    const pages = (): number => run.status().census?.pages ?? 0;
    await until('nothing is visited any more', async () => {
      const before = pages();
      if (before < PAGES_WAITING_MAX) return false;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return pages() === before && run.status().visits === 0;
    });
    // Between two looks of the handlers, and of the claims, some more are settled.
    assert.ok(pages() < 2 * PAGES_WAITING_MAX && size > 3 * PAGES_WAITING_MAX, `${pages()} of ${size}`);
    assert.equal(done, 0);
    isOpen = true;
    gate.open();
    assert.equal((await run.ended).reason, 'finished');
    assert.equal(done, size);
  }));

test('stop waits for the handlers under way, and the next start goes on with the rest, each page once', () =>
  onStage(plainPlan(6, 120, 30), async (stage) => {
    const seen: string[] = [];
    const onPage = async (page: CrawledPage): Promise<void> => {
      await page.html();
      seen.push(page.url);
    };
    const first = await crawl(optionsFor(stage, { onPage }));
    await until('some pages were seen', () => seen.length >= 20);
    assert.equal((await first.stop()).reason, 'stopped');
    const before = seen.length;
    const { seeds: _, ...rest } = optionsFor(stage, { onPage });
    const second = await crawl(rest);
    assert.equal((await second.ended).reason, 'finished');
    assert.ok(before < seen.length);
    assert.deepEqual(sorted(seen), sorted(stage.world.reachable().pages));
    // Another handler for a crawl that is over has nothing to do.
    await (await crawl({ ...rest, onPage: () => assert.fail('a page came twice') })).ended;
  }));

test('a limit of pages ends a crawl when all of them were with onPage', () =>
  onStage(plainPlan(6, 120, 30), async (stage) => {
    const seen: string[] = [];
    const run = await crawl(optionsFor(stage, { maxPages: 30, onPage: ({ url }) => void seen.push(url) }));
    assert.equal((await run.ended).reason, 'max-pages');
    const read = await openCrawl(stage.dir);
    const fetched: string[] = [];
    for await (const { url } of read.pages({ outcome: 'fetched' })) fetched.push(url);
    await read.close();
    assert.deepEqual(sorted(seen), sorted(fetched));
  }));

test('after a crash every page comes at least once, and those that were done do not come again', () =>
  onStage(plainPlan(6, 200, 40), async (stage) => {
    const program = new URL('../support/note-pages.ts', import.meta.url).pathname;
    const seenFile = join(stage.home, 'seen.txt');
    const words = [program, JSON.stringify(optionsFor(stage)), seenFile];
    const seen = (): string[] => (existsSync(seenFile) ? readFileSync(seenFile, 'utf8').trimEnd().split('\n') : []);
    const first = startBinary(words, { command: [process.execPath] });
    await until('some pages were seen', () => seen().length >= 60);
    first.send('SIGKILL');
    await first.ended;
    const before = seen().length;
    const second = await startBinary(words, { command: [process.execPath] }).ended;
    assert.equal(second.stdout, 'finished\n');
    const all = seen();
    assert.deepEqual(sorted(new Set(all)), sorted(stage.world.reachable().pages));
    assert.ok(all.length - new Set(all).size < before, `${all.length} calls, ${before} before the crash`);
  }));

test('a handler that throws ends the crawl with its error, and its page comes again', () =>
  onStage(plainPlan(4, 40), async (stage) => {
    const told: string[] = [];
    const seen = new Set<string>();
    let failing = '';
    const onPage = async ({ url }: CrawledPage): Promise<void> => {
      if (failing === '' && seen.size >= 5) {
        failing = url;
        throw new TypeError('price is not a number');
      }
      seen.add(url);
    };
    const onLog = (level: string, message: string): void => void told.push(`${level} ${message}`);
    const { reason, fault } = await (await crawl(optionsFor(stage, { onPage, onLog }))).ended;
    assert.equal(reason, 'fault');
    assert.equal(fault?.message, `onPage threw for ${failing}: price is not a number`);
    assert.match(fault.stack, /library-pages/);
    assert.ok(told.includes(`error ${fault.message}`), told.join('\n'));
    assert.ok(!seen.has(failing));
    assert.equal((await (await crawl(optionsFor(stage, { onPage }))).ended).reason, 'finished');
    assert.deepEqual(sorted(seen), sorted(stage.world.reachable().pages));
  }));

test('follow adds links of a page, and the crawl is not finished before they are settled', () =>
  onStage(plainPlan(1, 1), async (stage) => {
    const run = await crawl(
      optionsFor(stage, {
        maxDepth: 1,
        onPage: async (page) => {
          if (page.depth > 0) return;
          await until('nothing else is left to do', () => run.status().census?.leased === 0);
          await new Promise((resolve) => setTimeout(resolve, 1_000)); // and the crawl has looked at that
          assert.equal(await page.follow(['not-there-1', '/not-there-2#part', 'mailto:a@b.example']), 2);
          assert.equal(await page.follow('/not-there-2'), 0);
          void page.follow('http://127.0.0.1:25/');
        },
      }),
    );
    assert.equal((await run.ended).reason, 'finished');
    const [seed] = stage.world.reachable().pages;
    const read = await openCrawl(stage.dir);
    for (const path of ['/not-there-1', '/not-there-2']) {
      const page = await read.page(new URL(path, seed).href);
      assert.deepEqual([page?.outcome, page?.depth, page?.via], ['client-error', 1, seed], path);
    }
    assert.equal((await read.page('http://127.0.0.1:25/'))?.outcome, 'blocked-port');
    await read.close();
  }));

test('add brings seeds into a running crawl for good, and refuses them where it cannot', () =>
  onStage(plainPlan(3, 60, 20), async (stage) => {
    const others = [1, 2, 3].map((i) => new URL(`/added-${i}`, [...stage.world.reachable().pages][0]).href);
    const run = await crawl(optionsFor(stage, { delayMs: 1_000 })); // it takes longer than the lines below
    await assert.rejects(run.add([others[0]!, 'ftp://x.example/']), (error) => {
      assert.ok(error instanceof UsageError);
      return /^seeds: "ftp:/.test(error.message);
    });
    assert.equal(await run.add(others), others.length);
    assert.equal(await run.add(others[0]!), 0);
    assert.equal((await run.stop()).reason, 'stopped');
    await assert.rejects(run.add(others), /^UsageError: the crawl is about to end/);
    const { seeds: _, ...rest } = optionsFor(stage);
    const end = await (await crawl(rest)).ended;
    assert.deepEqual([end.reason, end.census?.pages], ['finished', stage.world.reachable().pages.size + others.length]);
    const read = await openCrawl(stage.dir);
    for (const url of others) assert.equal((await read.page(url))?.depth, 0, url);
    await read.close();
  }));

test('an aborted signal stops a crawl in order, and one that is aborted already lets none begin', () =>
  onStage(plainPlan(6, 120, 30), async (stage) => {
    const stopping = new AbortController();
    const run = await crawl(optionsFor(stage, { signal: stopping.signal }));
    await until('20 requests were seen', () => stage.served.record.requests.length >= 20);
    stopping.abort();
    const { reason, census } = await run.ended;
    assert.deepEqual([reason, census?.leased], ['stopped', 0]);
    const dir = join(stage.home, 'other');
    await assert.rejects(crawl(optionsFor(stage, { dir, signal: stopping.signal })), { name: 'AbortError' });
    assert.equal(existsSync(dir), false);
  }));

test('a crawl tells of its pages, its state, its log and its end', () =>
  onStage(plainPlan(4, 40), async (stage) => {
    const urls: string[] = [];
    const phases = new Set<string>();
    const run = await crawl(optionsFor(stage));
    const deaf = (): void => assert.fail('it was taken off');
    const ended = new Promise<RunEnd>((resolve) => run.once('end', resolve));
    run
      .on('page', ({ url }) => void urls.push(url))
      .on('snapshot', ({ phase }) => void phases.add(phase))
      .on('page', deaf)
      .off('page', deaf);
    assert.deepEqual(await ended, await run.ended);
    assert.deepEqual(sorted(urls), sorted(stage.world.reachable().pages));
    assert.ok(phases.has('ended'));
  }));

test('onPage is refused where nothing is kept to read', () =>
  onStage(plainPlan(1, 1), async (stage) => {
    const onPage = (): void => {};
    await assert.rejects(crawl(optionsFor(stage, { keep: 'none', onPage })), (error) => {
      assert.ok(error instanceof UsageError);
      assert.match(
        error.message,
        /^onPage reads pages from the archive, and keep: 'none' has none: choose keep: 'all'/,
      );
      return true;
    });
    await assert.rejects(
      crawl(optionsFor(stage, { onPage, onPageConcurrency: 0 })),
      /^UsageError: onPageConcurrency 0 /,
    );
    assert.equal(existsSync(stage.dir), false);
  }));

/** Stopping a crawl by signals, in order and at once, and what others see of it while it runs. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { lookAt } from '../support/sqlite-place.ts';
import { tinyPlan } from '../../src/world/presets.ts';
import { archivedIn, assertArchivedOnce, countByUrl } from '../support/archive-check.ts';
import { serveHeldSites } from '../support/held-site.ts';
import {
  assertAddsUp,
  assertCode,
  assertNoFault,
  onStage,
  plainPlan,
  type Flags,
  type Stage,
} from '../support/stage.ts';
import { until } from '../support/until.ts';

const pagesAsked = ({ served }: Stage): number => served.record.requests.filter((seen) => seen.kind === 'page').length;

for (const [signal, plan] of [
  ['SIGINT', tinyPlan],
  ['SIGTERM', plainPlan(12, 200, 40)],
] as const) {
  test(`${signal} stops a crawl in order with exit code 3, and a resume completes it with nothing twice`, () =>
    onStage(plan, async (stage) => {
      const run = stage.startCrawl();
      await until('40 pages were asked for', () => pagesAsked(stage) >= 40);
      run.send(signal);
      const ran = await run.ended;
      assertCode(ran, 3);
      assert.match(ran.stderr, new RegExp(`^${signal}: no new visits`));
      assert.match(ran.stdout, /was stopped after/);
      assert.match(ran.stdout, /gossamer resume/);
      const status = await stage.status();
      assertAddsUp(status);
      assert.deepEqual([status.leased, status.process], [0, null]);
      assert.ok(status.waiting > 0, 'the crawl was not over yet');

      assertCode(await stage.resume(), 0);
      assertNoFault(stage.report());
      assertArchivedOnce(await archivedIn(stage.dir), stage.world.reachable().pages);
    }));
}

const onHeldSites = async (
  story: (stage: Stage, sites: Awaited<ReturnType<typeof serveHeldSites>>, flags: Flags) => Promise<void>,
): Promise<void> => {
  const sites = await serveHeldSites();
  try {
    await onStage(plainPlan(1, 1), async (stage) => {
      writeFileSync(stage.seedFile, sites.seeds.map((seed) => `${seed}\n`).join(''));
      await story(stage, sites, { 'connect-to': sites.connectTo, timeout: '10m' });
    });
  } finally {
    await sites.close();
  }
};

test('a stop in order waits for the visits under way and settles them', () =>
  onHeldSites(async (stage, sites, flags) => {
    const run = stage.startCrawl(flags);
    await until('every site holds a response back', () => sites.holding() === sites.seeds.length);
    run.send('SIGINT');
    await until('the crawl says that it stops', () => run.said().includes('no new visits'));
    assert.equal(run.isOver(), false);
    sites.release();
    assertCode(await run.ended, 3);
    const rows = await stage.pages();
    assert.equal(
      rows.filter((row) => row.url.endsWith('/held') && row.outcome === 'fetched').length,
      sites.seeds.length,
    );
    assert.equal((await stage.status()).leased, 0);
  }));

test(
  '--max-duration does not wait for servers that do not answer: their links wait, and a resume completes the crawl',
  {
    timeout: 300_000, // half of the time that a server has to answer
  },
  () =>
    onHeldSites(async (stage, sites, flags) => {
      const ran = await stage.crawl({ ...flags, 'max-duration': '2s' });
      assertCode(ran, 0);
      assert.match(ran.stdout, /reached --max-duration/);
      const status = await stage.status();
      assertAddsUp(status);
      assert.equal(status.leased, 0);
      assert.deepEqual(status.settledByOutcome['failed-aborted'], undefined);
      sites.release();
      assertCode(await stage.resume({ 'max-duration': '10m' }), 0);
      const after = await stage.status();
      assert.deepEqual([after.waiting, after.parked, after.held], [0, 0, 0]);
      const rows = await stage.pages();
      const held = rows.filter((row) => row.url.endsWith('/held') && row.outcome === 'fetched');
      assert.equal(held.length, sites.seeds.length);
      assert.deepEqual(
        held.map((row) => row.tries),
        held.map(() => 1),
        'the visits that were cut off do not count as tries',
      );
      assert.deepEqual(
        [...countByUrl(await archivedIn(stage.dir)).values()].filter((count) => count !== 1),
        [],
      );
    }),
);

test('a second SIGINT stops at once with exit code 130 and loses nothing', () =>
  onHeldSites(async (stage, sites, flags) => {
    const run = stage.startCrawl(flags);
    await until('every site holds a response back', () => sites.holding() === sites.seeds.length);
    run.send('SIGINT');
    await until('the crawl says that it stops', () => run.said().includes('no new visits'));
    run.send('SIGINT');
    assertCode(await run.ended, 130);
    const status = await stage.status();
    assertAddsUp(status);
    assert.equal(status.leased, 0);
    const settled = (await stage.pages()).map((row) => row.url as string);
    assert.deepEqual(
      settled.filter((url) => url.endsWith('/held')),
      [],
    );

    const before = sites.asked.length;
    sites.release();
    assertCode(await stage.resume(), 0);
    assert.deepEqual(
      sites.asked.slice(before).filter((url) => settled.includes(url)),
      [],
    );
    const rows = await stage.pages();
    assert.deepEqual(rows.map((row) => row.url as string).toSorted(), [...sites.pages].toSorted());
    assert.ok(
      rows.every((row) => row.outcome === 'fetched' && row.tries === 1),
      'a claim that was dropped on purpose counts as no try',
    );
    assert.deepEqual(new Set(countByUrl(await archivedIn(stage.dir)).values()), new Set([1]));
  }));

test('a running crawl can be looked at, and no other process can go on with it', () =>
  onHeldSites(async (stage, sites, flags) => {
    const run = stage.startCrawl(flags);
    await until('every site holds a response back', () => sites.holding() === sites.seeds.length);
    const status = await stage.status();
    assertAddsUp(status);
    assert.deepEqual([status.process, status.leased], [run.pid, sites.seeds.length]);
    assert.match((await stage.gossamer('status', stage.dir)).stdout, new RegExp(`runs in process ${run.pid}`));
    assert.equal((await stage.pages()).length, status.settled);
    const shown = await stage.gossamer('show', stage.dir, sites.pages.at(-1) as string);
    assertCode(shown, 0);
    assert.match(shown.stdout, /is being visited/);

    const resumed = await stage.resume({ 'max-pages': 1 });
    assertCode(resumed, 2);
    assert.match(
      resumed.stderr,
      new RegExp(`^gossamer: crawl ".*" is open in process ${run.pid}; stop it or choose another --dir\n$`),
    );
    const again = await stage.crawl(flags);
    assertCode(again, 2);
    assert.match(again.stderr, /^gossamer: ".*" holds a crawl already: go on with it by "gossamer resume/);

    sites.release();
    assertCode(await run.ended, 0);
    assert.equal((await stage.status()).settled, sites.pages.length);
  }));

const SEED_LINES = 200_000;

test('a crawl that is stopped while it loads its seeds goes on loading where it was', () =>
  onStage(plainPlan(4, 8), async (stage) => {
    const known = stage.world.seeds();
    const more = Array.from({ length: SEED_LINES - known.length }, (_, n) => `http://site-${n % 5_000}.example/${n}`);
    writeFileSync(stage.seedFile, [...known, ...more].map((line) => `${line}\n`).join(''));
    const loaded = (): Promise<number> => lookAt(stage.dir, async (crawl) => (await crawl.census()).marks.seeds ?? 0);
    const run = stage.startCrawl({ 'max-pages': 1, json: true });
    await until('some seeds are loaded', async () => {
      try {
        return (await loaded()) > 0;
      } catch {
        return false; // the store is not there yet
      }
    });
    run.send('SIGINT');
    assertCode(await run.ended, 3);
    const mark = await loaded();
    assert.ok(mark > 0 && mark < SEED_LINES, `${mark} of ${SEED_LINES} were loaded`);
    assert.equal((await stage.status()).known, mark);

    assertCode(await stage.resume(), 0);
    assert.equal(await loaded(), SEED_LINES);
    const status = await stage.status();
    assertAddsUp(status);
    assert.equal(status.pages, 1);
    assert.ok(status.known >= SEED_LINES);
  }));

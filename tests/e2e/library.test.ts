/** The library entry: the same crawl in a program of one's own. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { crawl, openCrawl, UsageError, VERSION, type Snapshot } from '../../src/index.ts';
import { archivedIn, assertArchivedOnce } from '../support/archive-check.ts';
import { optionsFor } from '../support/library-options.ts';
import { assertNoFault, onStage, plainPlan } from '../support/stage.ts';
import { until } from '../support/until.ts';

test('a crawl runs to its end, tells how it is, and leaves what the binary can read', () =>
  onStage(plainPlan(6, 60, 20), async (stage) => {
    const snapshots: Snapshot[] = [];
    const run = await crawl(optionsFor(stage, { onSnapshot: (snapshot) => void snapshots.push(snapshot) }));
    assert.equal(run.dir, stage.dir);
    const end = await run.ended;
    assert.deepEqual([end.reason, end.fault], ['finished', null]);
    const { size } = stage.world.reachable().pages;
    assert.deepEqual(
      [end.census?.pages, end.snapshot.pagesThisRun, run.status().phase, run.status().census?.pages],
      [size, size, 'ended', size],
    );
    assert.ok(snapshots.some(({ phase }) => phase === 'crawling'));
    assert.equal(snapshots.at(-1)?.phase, 'ended');
    assertNoFault(stage.report());
    assert.equal((await stage.status()).pages, size);
  }));

test('a crawl that was stopped goes on when it is started again, with other settings if they are given', () =>
  onStage(plainPlan(6, 120, 30), async (stage) => {
    const first = await crawl(optionsFor(stage));
    await until('20 requests were seen', () => stage.served.record.requests.length >= 20);
    const end = await first.stop();
    assert.equal(end.reason, 'stopped');
    assert.equal(end.census?.leased, 0);
    assert.deepEqual(await first.ended, end);

    const { seeds, ...rest } = optionsFor(stage, { parsers: 0 });
    assert.ok(seeds);
    const second = await crawl(rest);
    assert.equal((await second.ended).reason, 'finished');
    assertNoFault(stage.report());
    assertArchivedOnce(await archivedIn(stage.dir), stage.world.reachable().pages);
    assert.equal(
      (JSON.parse(readFileSync(join(stage.dir, 'crawl.json'), 'utf8')) as { settings: { parsers: number } }).settings
        .parsers,
      0,
    );
  }));

test('a wrong option is refused with a UsageError that names it, before anything is made', () =>
  onStage(plainPlan(1, 1), async (stage) => {
    const wrong: readonly (readonly [Record<string, unknown>, RegExp])[] = [
      [{ email: '' }, /^email is missing/],
      [{ email: 'nobody' }, /^email "nobody" is not an e-mail address/],
      [{ delayMs: -1 }, /^delayMs -1 /],
      [{ delayMs: '5s' }, /^delayMs "5s" is not understood: give a number of milliseconds$/],
      [{ delayMs: Number.NaN }, /^delayMs /],
      [{ maxPages: 0 }, /^maxPages 0 /],
      [{ keep: 'some' }, /^keep "some" /],
      [{ keep: 'none', keepLinks: true }, /^keepLinks .* keep: 'none' .* keep: 'text'/],
      [{ frontier: 'files' }, /^frontier: 'files' is for a crawl in Redis: give its address by store/],
      [{ store: 5 }, /^store 5 /],
      [{ store: 'mysql://x' }, /^store "mysql/],
      [{ name: 'No Name' }, /^name "No Name" /],
      [{ metrics: 'nonsense' }, /^metrics "nonsense" /],
      [{ hooks: './nothing.ts' }, /^hooks "\.\/nothing\.ts" /],
      [{ concurrency: 20_000, fetchers: 64 }, /lower concurrency$/],
      [{ allowPrivateAddresses: '10.0.0.0/8' }, /^allowPrivateAddresses .*a list of networks$/],
      [{ seeds: [] }, /^there is no good seed among those given: give a domain, host or URL$/],
      [{ seeds: 'one.example' }, /^seeds "one\.example" is not understood: give a list/],
      [{ seeds: ['ftp://one.example/'] }, /give a domain, host or URL$/],
      [{ connectTo: ['nonsense'] }, /^connectTo "nonsense" /],
      [{ nameServers: ['nonsense'] }, /^nameServers? "nonsense" /],
      [{ excludeFile: join(stage.home, 'nothing') }, /does not exist/],
      [{ dir: stage.seedFile }, /choose another dir$/],
      [{ onLog: 'stdout' }, /^onLog "stdout" is not understood: give a function$/],
      [{ noSuchSetting: 1 }, /^there is no option "noSuchSetting"$/],
    ];
    for (const [more, says] of wrong) {
      await assert.rejects(crawl(optionsFor(stage, more)), (error) => {
        assert.ok(error instanceof UsageError && error.name === 'UsageError', JSON.stringify(more));
        assert.match(error.message, says);
        assert.doesNotMatch(error.message, /--[a-z]/);
        return true;
      });
      assert.equal(existsSync(stage.dir), false, JSON.stringify(more));
    }
    await assert.rejects(openCrawl(stage.dir), /^UsageError: there is no crawl in .*: start one by crawl\(/);
  }));

test('bad seeds are told to whoever listens', () =>
  onStage(plainPlan(1, 3), async (stage) => {
    const told: string[] = [];
    const run = await crawl(
      optionsFor(stage, {
        seeds: ['ftp://one.example/', ...stage.world.seeds()],
        onLog: (level, message) => void told.push(`${level} ${message}`),
      }),
    );
    assert.equal((await run.ended).reason, 'finished');
    assert.match(told.join('\n'), /^warn .*ftp:\/\/one\.example.*skipped$/m);
  }));

test('two crawls run in one process, and one directory is open only once', () =>
  onStage(plainPlan(6, 60, 20), (one) =>
    onStage(plainPlan(6, 60, 20), async (two) => {
      const first = await crawl(optionsFor(one));
      await assert.rejects(
        crawl(optionsFor(one)),
        (error) => error instanceof UsageError && error.message.includes(`is open in process ${process.pid}`),
      );
      const runs = [first, await crawl(optionsFor(two))];
      for (const run of runs) assert.equal((await run.ended).reason, 'finished');
      for (const stage of [one, two]) {
        assertNoFault(stage.report());
        assertArchivedOnce(await archivedIn(stage.dir), stage.world.reachable().pages);
      }
      const again = await crawl(optionsFor(one));
      assert.equal((await again.ended).reason, 'finished');
    }),
  ));

test('the version is that of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  assert.equal(VERSION, version);
});

/** Threads that die, a full disk, an archive that is taken away: the crawl goes on or stops in order. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TRIES_MAX } from '../../src/contract/store.ts';
import { articleUrl } from '../../src/world/articles.ts';
import { archivedIn, assertArchivedOnce, countByUrl } from '../support/archive-check.ts';
import { POISON_FILE, type Poison } from '../support/poison-parse-thread.ts';
import { FAULT_WHEN_CLOSED, FAULT_WHEN_OPENED } from '../support/poison-store-thread.ts';
import { entry, runHere } from '../support/run-here.ts';
import { assertAddsUp, assertCode, assertNoFault, onStage, plainPlan } from '../support/stage.ts';
import { until } from '../support/until.ts';

test('a page that kills its parse thread is tried a few times and given up, and all others are fetched', () =>
  onStage(plainPlan(4, 60, 20), async (stage) => {
    const { world } = stage;
    // The last articles of a site are leaves: no other page is found through them alone.
    const leaves = world.sites.map((site) => articleUrl(world.plan, site, site.pages - 1));
    const poisons = Object.fromEntries(
      (['throw', 'exit', 'exhaust', 'loop-once'] as const).map((poison, n) => [leaves[n] as string, poison]),
    ) as Record<string, Poison>;
    const { end, logged } = await runHere(stage, {
      entries: { parse: entry('poison-parse-thread') },
      prepare: () => writeFileSync(join(stage.dir, POISON_FILE), JSON.stringify(poisons)),
    });
    assert.deepEqual([end.reason, end.fault], ['finished', null], logged.join('\n'));
    const rows = await stage.pages();
    for (const row of rows) {
      const poison = poisons[row.url];
      assert.deepEqual(
        [row.url, row.outcome, row.tries],
        [
          row.url,
          ...(poison === undefined
            ? ['fetched', row.tries]
            : poison === 'loop-once'
              ? ['fetched', 2]
              : ['parse-failed', TRIES_MAX]),
        ],
      );
    }
    assert.deepEqual(new Set(rows.map((row) => row.url as string)), world.reachable().pages);
    // A page that exits or exhausts ends a thread with each try, one that loops a single time.
    assert.ok(end.snapshot.restarts >= 2 * TRIES_MAX + 1, logged.join('\n'));
    const counts = countByUrl(await archivedIn(stage.dir));
    assert.deepEqual(
      [...counts].filter(([, count]) => count !== 1),
      [],
    );
    assert.equal(counts.size, rows.length - 3);
    assertAddsUp(await stage.status());
  }));

test('a fetch thread that dies is started again, its leases are freed and its sites wait their delay', () =>
  onStage(plainPlan(16, 160, 20), async (stage) => {
    const { end, logged } = await runHere(stage, { entries: { fetch: entry('poison-fetch-thread') } });
    assert.deepEqual([end.reason, end.snapshot.restarts], ['finished', 1], logged.join('\n'));
    assert.match(logged.join('\n'), /^warn thread fetch-1 died: planted: the fetch thread dies$/m);
    assertNoFault(stage.report(), 'twice'); // what was under way when it died is asked for again
    assertArchivedOnce(await archivedIn(stage.dir), stage.world.reachable().pages);
    assert.ok(
      (await stage.pages()).some((row) => row.tries === 2),
      'a claim that its thread did not survive counts as a try',
    );
  }));

test('threads that die again and again stop the crawl in order with a fault, and a resume completes it', () =>
  onStage(plainPlan(30, 120), async (stage) => {
    const { end, logged } = await runHere(stage, { entries: { parse: entry('dying-parse-thread') } });
    assert.equal(end.reason, 'fault', logged.join('\n'));
    assert.match(end.fault?.message ?? '', /^threads died 21 times.*: planted: dies young$/);
    assert.match(end.fault?.advice ?? '', /resume/);
    const status = await stage.status();
    assertAddsUp(status);
    assert.ok(status.waiting > 0 && status.leased === 0);
    assert.ok(
      stage.served.record.requests.some((seen) => seen.kind === 'page'),
      'visits were under way',
    );

    const again = await runHere(stage, { again: true });
    assert.equal(again.end.reason, 'finished', again.logged.join('\n'));
    assertNoFault(stage.report(), 'twice');
    assertArchivedOnce(await archivedIn(stage.dir), stage.world.reachable().pages);
    assert.equal((await stage.status()).settledByOutcome.fetched, stage.world.reachable().pages.size);
  }));

test('why a store thread ended is told, whether it did not open or did not close', () =>
  onStage(plainPlan(2, 6), async (stage) => {
    const ends = [];
    for (const [again, timeoutMs] of [
      [false, FAULT_WHEN_CLOSED],
      [true, FAULT_WHEN_OPENED],
    ] as const) {
      // This thread sleeps while the store thread starts, so that it hears what that said and its end in one moment.
      const prepare = (): void =>
        void setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000));
      const { end } = await runHere(stage, {
        again,
        entries: { store: entry('poison-store-thread') },
        settings: { timeoutMs },
        prepare,
      });
      ends.push([end.reason, end.fault?.message, end.fault?.advice]);
    }
    assert.deepEqual(ends, [
      ['fault', 'planted: it does not close', 'a planted advice'],
      ['fault', 'planted: it does not open', 'a planted advice'],
    ]);
    const { end, logged } = await runHere(stage, { again: true, settings: { timeoutMs: 60_000 } });
    assert.deepEqual([end.reason, end.fault], ['finished', null], logged.join('\n'));
    assertArchivedOnce(await archivedIn(stage.dir), stage.world.reachable().pages);
  }));

const mount = (...args: readonly string[]): boolean => spawnSync('mount', args, { stdio: 'ignore' }).status === 0;

test('a full disk stops the crawl in order with exit code 4 and a sentence, and with more room a resume completes it', async (t) => {
  const plan = { ...plainPlan(12, 240, 40), pageBytes: 40_000 };
  await onStage(plan, async (stage) => {
    mkdirSync(stage.dir);
    if (!mount('-t', 'tmpfs', '-o', 'size=3m', 'gossamer-test', stage.dir))
      return t.skip('no file system can be mounted here');
    try {
      const ran = await stage.crawl({ 'disk-reserve': '0' });
      assertCode(ran, 4);
      assert.match(ran.stderr, /^error .*(full|ENOSPC|no space).*: .*free .*resume\n$/i);
      assert.match(ran.stdout, /stopped because the disk is full/);
      const asked = stage.served.record.requests.length;
      assert.ok(asked > 0 && stage.report().missing.length > 0, 'the disk was full in the middle of the crawl');

      assert.ok(mount('-o', 'remount,size=100m', stage.dir));
      const { waiting } = await stage.status();
      assert.ok(waiting > 0);
      assertCode(await stage.resume(), 0);
      assertArchivedOnce(await archivedIn(stage.dir), stage.world.reachable().pages);
      assertNoFault(stage.report(), 'twice');
      assertAddsUp(await stage.status());
    } finally {
      spawnSync('umount', ['-l', stage.dir], { stdio: 'ignore' });
    }
  });
});

/** What somebody does to the archive of a running crawl. */
const TAKEN: Readonly<Record<string, { take: (path: string) => void; says: RegExp }>> = {
  deleted: { take: unlinkSync, says: /^error the archive file ".*" was deleted or moved away while it was written/m },
  emptied: {
    take: (path) => truncateSync(path, 0),
    says: /^error the archive file ".*" was cut to 0 bytes, of \d+, while it was written/m,
  },
};

for (const [how, { take, says }] of Object.entries(TAKEN)) {
  test(`an archive file that is ${how} while the crawl runs stops it in order, and a repair brings back what it cost`, () =>
    onStage(plainPlan(12, 240, 40), async (stage) => {
      const running = stage.startCrawl();
      const warc = join(stage.dir, 'warc');
      const fileOf = (): string | undefined => (existsSync(warc) ? readdirSync(warc)[0] : undefined);
      await until('pages were archived', () => {
        const file = fileOf();
        return file !== undefined && statSync(join(warc, file)).size > 50_000;
      });
      take(join(warc, fileOf()!));
      const ran = await running.ended;
      assertCode(ran, 1);
      assert.match(ran.stderr, says);
      assert.match(ran.stderr, /verify --repair.*then resume$/m);
      assert.ok(stage.report().missing.length > 0, 'it was in the middle of the crawl');

      const repaired = await stage.gossamer('verify', stage.dir, '--repair');
      assertCode(repaired, 0);
      assertCode(await stage.resume(), 0);
      assertArchivedOnce(await archivedIn(stage.dir), stage.world.reachable().pages);
      assertAddsUp(await stage.status());
      assertCode(await stage.gossamer('verify', stage.dir), 0);
    }));
}

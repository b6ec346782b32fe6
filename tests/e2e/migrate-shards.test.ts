/** `gossamer migrate --shards`: the crawl goes on where it was, also when the move is killed again and again. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { finishMove } from '../../src/folder/finish-move.ts';
import { readIdentity } from '../../src/folder/folder.ts';
import { archivedIn, assertArchivedOnce } from '../support/archive-check.ts';
import { endBinaries, runBinary, startBinary, type Ran, type Running } from '../support/binary.ts';
import { makeCrawl } from '../support/made-crawl.ts';
import { assertSound, wholeOf } from '../support/move-scene.ts';
import { assertCode, assertNoFault, onStage, plainPlan } from '../support/stage.ts';
import { until } from '../support/until.ts';

after(endBinaries);

test('a crawl that is moved to 7 and to 300 shards on its way fetches every page once, none too early', () =>
  onStage(plainPlan(12, 160, 20), async (stage) => {
    assertCode(await stage.crawl({ 'max-pages': 40 }), 0);
    for (const [shards, maxPages] of [
      [7, 80],
      [300, 1_000_000],
    ] as const) {
      const before = await stage.status();
      const ran = await stage.gossamer('migrate', stage.dir, '--shards', String(shards));
      assertCode(ran, 0);
      assert.match(
        ran.stdout,
        new RegExp(
          `was moved to sqlite, ${shards} shards\n +before +after\n +pages +(\\d+) +\\1\n +links +(\\d+) +\\2\n`,
        ),
      );
      assert.match(ran.stdout, /crawl\.db-moved is what it was before: delete it when you do not need it/);
      const after = await stage.status();
      assert.deepEqual({ ...after, sitesDue: 0, next: null }, { ...before, shards, sitesDue: 0, next: null });
      assertCode(await stage.resume({ 'max-pages': maxPages }), 0);
      assertCode(await stage.gossamer('verify', stage.dir), 0);
    }
    assertArchivedOnce(await archivedIn(stage.dir), stage.world.reachable().pages);
    assertNoFault(stage.report());
  }));

/** So many that a kill can be in the middle of the copy. */
const WAITING = 120_000;
const KILLS = 8;
const STEP_MS = 90;

const onLargeCrawl = async (story: (dir: string) => Promise<void>): Promise<void> => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-migrate-'));
  try {
    const dir = join(home, 'crawl');
    await makeCrawl({ dir, sites: 500, pages: 500, waiting: WAITING, keep: 'all', fileBytesMax: 1e9 });
    await story(dir);
  } finally {
    endBinaries();
    rmSync(home, { recursive: true });
  }
};

const digestOf = async (dir: string): Promise<string> =>
  createHash('sha1')
    .update(JSON.stringify(await wholeOf(join(dir, 'crawl.db'))))
    .digest('hex');

/** A move to a number of shards that the crawl has not, once it copies. */
const startMove = async (dir: string): Promise<Running> => {
  const run = startBinary(['migrate', dir, '--shards', readIdentity(dir).fixed.shards === 7 ? '300' : '7']);
  await until('the copy began', () => run.isOver() || existsSync(join(dir, 'crawl.db.new')));
  return run;
};

test('a move that is killed again and again loses nothing, and the next run ends it', (t) =>
  onLargeCrawl(async (dir) => {
    const was = await digestOf(dir);
    let kills = 0;
    for (let n = 0; n < KILLS; n++) {
      const run = await startMove(dir);
      await pause(n * STEP_MS);
      run.send('SIGKILL');
      const { signal } = await run.ended;
      if (signal === 'SIGKILL') kills++;
      finishMove(dir, readIdentity(dir)); // as a resume does, when the kill came between the last two steps
      await assertSound(dir);
      assert.equal(await digestOf(dir), was);
    }
    t.diagnostic(`${kills} kills of ${KILLS} met a move under way`);
    assert.ok(kills >= 1, 'the kills came too late');
    const ran: Ran = await (await startMove(dir)).ended;
    assertCode(ran, 0);
    assert.equal(await digestOf(dir), was);
    await assertSound(dir);
  }));

test('Ctrl-C stops a move in order, and says that it can be run again', () =>
  onLargeCrawl(async (dir) => {
    const run = await startMove(dir);
    run.send('SIGINT');
    const ran = await run.ended;
    assertCode(ran, 3);
    assert.match(ran.stdout, /^stopped; the crawl ".*" is where it was\. Run it again to move it\n$/);
    assert.equal(readIdentity(dir).fixed.shards, 64);
    assertCode(await runBinary(['migrate', dir, '--shards', '7']), 0);
  }));

test('a wrong number of shards, or one word too many, gets a sentence', async () => {
  const ran = await runBinary(['migrate', './none', '--shards', 'many']);
  assertCode(ran, 2);
  assert.equal(ran.stderr, 'gossamer: --shards "many" is not understood: write a whole number\n');
  assertCode(await runBinary(['migrate', './none', 'more']), 2);
  assert.match((await runBinary(['migrate', './none', '--to', 'sqlite'])).stderr, /there is no crawl in ".\/none"/);
});

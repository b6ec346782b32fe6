/** kill -9 at random moments: nothing is lost, nothing is archived twice, no site is visited too early. */

import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { archivedIn, assertArchivedOnce } from '../support/archive-check.ts';
import { figuresLine, killCrawl } from '../support/kill-crawl.ts';
import { assertCode, assertNoFault, onStage, plainPlan } from '../support/stage.ts';
import { until } from '../support/until.ts';

const ROUNDS = 6;

test('a crawl that is killed again and again archives every page once, reads cleanly and keeps its pace', (t) =>
  onStage(plainPlan(80, 320, 4), async (stage) => {
    const seed = Number(process.env.GOSSAMER_KILL_SEED ?? Date.now() % 1_000_000);
    const figures = await killCrawl(stage, { rounds: ROUNDS, seed });
    t.diagnostic(figuresLine(figures));
    assert.deepEqual(figures.violations.slice(0, 10), [], `again with GOSSAMER_KILL_SEED=${seed}`);
    assert.ok(Object.values(figures.kills).reduce((sum, n) => sum + n, 0) >= ROUNDS - 2, figuresLine(figures));
    assert.equal(figures.archivedOnce, figures.pages);
  }));

test('what a kill left in the archive without settling it is cut by the resume', () =>
  onStage(plainPlan(8, 120, 20), async (stage) => {
    const run = stage.startCrawl();
    await until('30 requests were seen', () => stage.served.record.requests.length >= 30);
    run.send('SIGKILL');
    assert.equal((await run.ended).signal, 'SIGKILL');
    // A kill between the append and the settlement is rare, so its traces are planted: a whole page, and half of one.
    const [name] = readdirSync(join(stage.dir, 'warc'));
    const path = join(stage.dir, 'warc', name as string);
    const [row] = await stage.pages({ limit: 1 });
    const offset = row?.warc_offset ?? 0;
    const page = readFileSync(path).subarray(offset, offset + (row?.warc_group_length ?? 0));
    appendFileSync(path, page);
    appendFileSync(path, page.subarray(0, page.length / 2));

    assertCode(await stage.resume(), 0);
    assertArchivedOnce(await archivedIn(stage.dir), stage.world.reachable().pages);
    assertNoFault(stage.report(), 'twice');
  }));

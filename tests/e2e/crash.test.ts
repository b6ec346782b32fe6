/**
 * Every kind of hit on a running crawl, with the real binary and real signals: nothing is lost, nothing is done twice,
 * no site is visited too early.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashCrawls, type CrashPlan } from '../support/crash-crawl.ts';
import { crashLine, newFigures } from '../support/crash-figures.ts';
import { ALL_HITS, type Hit } from '../support/crash-hits.ts';
import { chooseCheck } from '../support/crash-judge.ts';
import { possibleHits } from '../support/crash-possible.ts';
import { plainPlan } from '../support/stage.ts';

/**
 * The pause comes early, so that sites rest from it while other hits strike; a long one would rest most of a minute.
 */
const EVERY: readonly Hit[] = [
  'kill',
  'pause',
  'fetch thread',
  'clock',
  'disk',
  'stop',
  'descriptors',
  'parse thread',
  'store thread',
  'halt',
];

/** A delay longer than a start takes, so that a clock which a hit has lost shows. */
const SHORT: CrashPlan = { delayMs: 1_000, world: plainPlan(14, 84, 7) };

test('a crawl that is killed, stopped, paused, robbed of threads, disk, descriptors or time ends complete, whole and polite', async (t) => {
  const seed = Number(process.env.GOSSAMER_CRASH_SEED ?? Date.now() % 1_000_000);
  const possible = await possibleHits();
  for (const hit of EVERY)
    if (!possible.includes(hit)) t.diagnostic(`left out, because it is not possible here: ${hit}`);
  const stopped = await chooseCheck();
  const figures = newFigures(ALL_HITS);
  await crashCrawls(
    EVERY.filter((hit) => possible.includes(hit)),
    { seed, stopped, figures, draw: () => SHORT },
  );
  t.diagnostic(
    crashLine(figures, { what: `seed ${seed}`, crawls: 'crawls', checks: `checks clean by ${stopped.name}` }),
  );
  assert.deepEqual(figures.violations.slice(0, 10), [], `again with GOSSAMER_CRASH_SEED=${seed}`);
  assert.deepEqual(
    EVERY.filter((hit) => possible.includes(hit) && figures.hits[hit] === 0),
    [],
    'every kind of hit struck',
  );
  assert.equal(figures.archivedOnce, figures.pages);
});

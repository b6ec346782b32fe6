/** How long visits take, and how long they may. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVisitTimes, visitRequestsMsMax } from '../src/threads/visit-times.ts';
import { createManualClock } from './support/manual-clock.ts';

test('the longest visit is known while it is still under way, and remembered after its end', async () => {
  const clock = createManualClock();
  const times = createVisitTimes(clock);
  const { promise, resolve } = Promise.withResolvers<void>();
  const hung = times.timed('visit', () => promise);
  clock.advance(5_000);
  await times.timed('visit', async () => clock.advance(1_000));
  assert.equal(times.longestVisitMs(), 6_000);
  clock.advance(2_000);
  assert.equal(times.longestVisitMs(), 8_000);
  clock.advance(1_000);
  resolve();
  await hung;
  clock.advance(100_000);
  assert.deepEqual([times.longestVisitMs(), times.longestRequestMs()], [9_000, 0]);
});

test('a visit that fails is timed too, and its error goes on', async () => {
  const clock = createManualClock();
  const times = createVisitTimes(clock);
  const broken = times.timed('request', async () => {
    clock.advance(700);
    throw new Error('broken');
  });
  await assert.rejects(broken, /broken/);
  clock.advance(5_000);
  assert.equal(times.longestRequestMs(), 700);
});

test('a visit may send for as long as robots.txt, its five redirects and the page may take', () => {
  assert.equal(visitRequestsMsMax({ timeoutMs: 10_000 }), 70_000);
});

/** Links that were sent to a shared store lately can be sent again. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdmittedLately, type AdmittedLately } from '../src/store/shared/admitted.ts';
import { linksOf } from './contract/store-scene.ts';
import { createManualClock } from './support/manual-clock.ts';

const pathsIn = (lately: AdmittedLately): string[] =>
  lately.batches().flatMap(({ links }) => links.map(({ url }) => url.slice('https://'.length)));

test('links of the last minute are remembered in their order, with the limit that they were sent with', () => {
  const clock = createManualClock();
  const lately = createAdmittedLately(clock.now);
  lately.note(linksOf('a.example', 1), null);
  clock.advance(59_000);
  lately.note(linksOf('b.example', 2), 7);
  assert.deepEqual(pathsIn(lately), ['a.example/1', 'b.example/1', 'b.example/2']);
  assert.deepEqual(
    lately.batches().map(({ siteWaitingMax }) => siteWaitingMax),
    [null, 7],
  );
  clock.advance(2_000);
  lately.note(linksOf('c.example', 1), null);
  assert.deepEqual(pathsIn(lately), ['b.example/1', 'b.example/2', 'c.example/1']);
});

test('with more links than there is room for the oldest are forgotten, and it is known that they were', () => {
  const clock = createManualClock();
  const lately = createAdmittedLately(clock.now, 5);
  clock.advance(30_000);
  lately.note(linksOf('a.example', 3), null);
  clock.advance(1_000);
  lately.note(linksOf('b.example', 2), null);
  assert.equal(lately.reaches(10_000), true);
  clock.advance(1_000);
  lately.note(linksOf('c.example', 1), null);
  assert.deepEqual(pathsIn(lately), ['b.example/1', 'b.example/2', 'c.example/1']);
  assert.deepEqual([lately.reaches(1_500), lately.reaches(2_500)], [true, false]);
});

test('what was sent before it began is not known to it', () => {
  const clock = createManualClock();
  const lately = createAdmittedLately(clock.now);
  clock.advance(5_000);
  assert.deepEqual([lately.reaches(5_000), lately.reaches(5_001)], [true, false]);
});

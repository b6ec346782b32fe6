/** The list of what a check found. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFinder, DAMAGE_NAMED_MAX } from '../src/care/verify/damage.ts';

test(`damage is named up to ${DAMAGE_NAMED_MAX} times, and counted by kind after that`, () => {
  const found = createFinder();
  for (let n = 1; n <= DAMAGE_NAMED_MAX + 3; n++) found.add({ kind: 'counter', says: `counter ${n}` });
  found.add({ kind: 'link-lost', says: 'a link' });
  assert.deepEqual(
    [found.named.length, found.count, found.byKind],
    [DAMAGE_NAMED_MAX, DAMAGE_NAMED_MAX + 4, { counter: DAMAGE_NAMED_MAX + 3, 'link-lost': 1 }],
  );
  assert.deepEqual(found.advice, [], 'all of it can be repaired');
});

test('what only a copy helps against has its advice once; where nothing can be repaired, everything has', () => {
  const found = createFinder();
  for (let n = 0; n < 3; n++) found.add({ kind: 'row', says: 'a row' });
  assert.equal(found.advice.length, 1);
  assert.match(found.advice[0]!, /^restore the store from a copy; without one, start a new crawl/);
  const shared = createFinder('restore it from a copy');
  shared.add({ kind: 'counter', says: 'a counter' });
  assert.deepEqual([shared.advice, shared.named[0]?.advice], [['restore it from a copy'], 'restore it from a copy']);
});

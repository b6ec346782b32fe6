/** A long queue gives back what was put into it, in order, and keeps little at hand. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dropFirst, firstOf, numbersOf, pushFirst, pushLast, type Packs } from '../src/lib/long-queue.ts';

const createPacks = (): Packs & { readonly kept: Map<number, readonly number[]> } => {
  const kept = new Map<number, readonly number[]>();
  let last = 0;
  return {
    kept,
    put: (numbers) => (kept.set(++last, [...numbers]), last),
    get: (pack) => kept.get(pack) ?? assert.fail(`pack ${pack} is not there`),
    drop: (pack) => assert.ok(kept.delete(pack)),
  };
};

/** Compares with the same steps on a plain array. */
const walk = (seed: number, steps: number): void => {
  const packs = createPacks();
  const plain: number[] = [];
  let queue = '';
  let state = seed;
  const dice = (below: number): number => (state = (state * 48271) % 2147483647) % below;
  for (let i = 1; i <= steps; i++) {
    // Long stretches of growing and of shrinking, so that the levels fill and empty.
    const grows = Math.floor(i / 3_000) % 2 === 0 ? 7 : 3;
    const toss = dice(10);
    if (toss >= grows && plain.length > 0) {
      assert.equal(firstOf(queue), plain.shift());
      queue = dropFirst(queue, packs);
    } else if (toss === 0) {
      plain.unshift(i);
      queue = pushFirst(queue, i, packs);
    } else {
      plain.push(i);
      queue = pushLast(queue, i, packs);
    }
    assert.equal(firstOf(queue), plain[0] ?? null);
    if (i % 500 === 0) assert.deepEqual([...numbersOf(queue, packs)], plain);
  }
  for (const number of plain) {
    assert.equal(firstOf(queue), number);
    queue = dropFirst(queue, packs);
  }
  assert.equal(queue, '');
  assert.equal(packs.kept.size, 0, 'packs that nobody has');
};

test('numbers come out in the order of a plain array, whatever is done at both ends', () => {
  for (let seed = 1; seed <= 5; seed++) walk(seed * 7_919, 12_000);
});

test('a hundred thousand numbers leave a text of some hundred characters', () => {
  const packs = createPacks();
  let queue = '';
  for (let i = 1; i <= 100_000; i++) queue = pushLast(queue, i, packs);
  assert.ok(queue.length < 800, queue);
  for (let i = 1; i <= 100_000; i++) queue = pushFirst(queue, i, packs);
  assert.ok(queue.length < 2_000, queue);
});

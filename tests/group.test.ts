/** Group commit. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGroup } from '../src/lib/group.ts';

const gated = (): {
  commits: number[][];
  open: (error?: Error) => void;
  commit: (items: readonly number[]) => Promise<void>;
} => {
  const commits: number[][] = [];
  let end: (error?: Error) => void = () => {};
  return {
    commits,
    open: (error) => end(error),
    commit: (items) => {
      commits.push([...items]);
      return new Promise((resolve, reject) => (end = (error) => (error ? reject(error) : resolve())));
    },
  };
};
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('what comes in one turn is one batch, and what comes while it is under way is the next', async () => {
  const { commits, open, commit } = gated();
  const group = createGroup<number>(commit);
  const first = [group.add([1]), group.add([2, 3])];
  await turn();
  const second = [group.add([4]), group.add([5])];
  await turn();
  assert.deepEqual(commits, [[1, 2, 3]]);
  open();
  await Promise.all(first);
  await turn();
  assert.deepEqual(commits, [
    [1, 2, 3],
    [4, 5],
  ]);
  open();
  await Promise.all(second);
});

test('a batch that fails rejects those who are in it and nobody else', async () => {
  const { open, commit } = gated();
  const group = createGroup<number>(commit);
  const bad = group.add([1]);
  await turn();
  const good = group.add([2]);
  open(new Error('no room'));
  await assert.rejects(bad, /no room/);
  await turn();
  open();
  await good;
});

test('a long line is cut into batches, in order, and an empty one is never sent', async () => {
  const sizes: number[] = [];
  const seen: number[] = [];
  const group = createGroup<number>(async (items) => {
    sizes.push(items.length);
    for (const item of items) seen.push(item);
  });
  const all = Array.from({ length: 8 }, (_, n) => Array.from({ length: 2_000 }, (_, i) => n * 2_000 + i));
  await Promise.all(all.map((items) => group.add(items)));
  assert.deepEqual(sizes, [6_000, 6_000, 4_000]);
  assert.deepEqual(seen, all.flat());
});

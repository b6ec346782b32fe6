/** Waiting for a signal, by the thousands. */

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { createClock } from '../src/lib/clock.ts';
import { onAbort } from '../src/lib/on-abort.ts';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

test('all who wait for a signal are told once, in the order they came, but for those who stopped', () => {
  const stop = new AbortController();
  const told: number[] = [];
  const ends = [1, 2, 3, 4].map((n) => onAbort(stop.signal, () => void told.push(n)));
  ends[1]!();
  stop.abort();
  stop.abort();
  assert.deepEqual(told, [1, 3, 4]);
});

test('one who is told may stop another, who is then not told', () => {
  const stop = new AbortController();
  const told: string[] = [];
  onAbort(stop.signal, () => {
    told.push('first');
    endSecond();
  });
  const endSecond = onAbort(stop.signal, () => void told.push('second'));
  stop.abort();
  assert.deepEqual(told, ['first']);
});

test('a signal has one listener however many wait for it, and none when nobody does', () => {
  const { signal } = new AbortController();
  const ends = Array.from({ length: 100 }, () => onAbort(signal, () => {}));
  assert.equal(listeners(signal), 1);
  for (const end of ends.slice(1)) end();
  assert.equal(listeners(signal), 1);
  ends[0]!();
  ends[0]!(); // more than once does no harm
  assert.equal(listeners(signal), 0);
  const end = onAbort(signal, () => {});
  assert.equal(listeners(signal), 1);
  end();
});

test('sleepers wake when their signal is aborted, and those who have slept enough wait for it no longer', async () => {
  const stop = new AbortController();
  const { sleep } = createClock();
  await Promise.all([sleep(1, stop.signal), sleep(2, stop.signal)]);
  assert.equal(listeners(stop.signal), 0);
  const long = Promise.all([sleep(3_600_000, stop.signal), sleep(3_600_000, stop.signal)]);
  stop.abort();
  await long;
  await sleep(3_600_000, stop.signal);
});

/** The loop of a fetch thread. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runClaimLoop } from '../src/visit/claim-loop.ts';
import type { Visit } from '../src/model/visit.ts';
import { createManualClock } from './support/manual-clock.ts';

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('however many slots are free, a claim asks for some hundred visits, and the next one follows at once', async () => {
  const clock = createManualClock();
  const stop = new AbortController();
  const asked: number[] = [];
  const ends: (() => void)[] = [];
  const loop = runClaimLoop({
    clock,
    slots: 2_000,
    stop: stop.signal,
    claim: async ({ visits }) => {
      asked.push(visits);
      return { visits: Array.from({ length: visits }, () => ({}) as Visit), nextDueAt: null };
    },
    visit: () => new Promise<void>((resolve) => ends.push(resolve)),
  });
  await turn();
  clock.advance(10_000); // all slots are open
  for (let i = 0; i < 10; i++) {
    await turn();
    clock.advance(10); // the gap between two claims
  }
  assert.deepEqual(asked, [10, 500, 500, 500, 490]);
  stop.abort();
  await turn();
  for (const end of ends) end();
  await loop;
});

test('where the only visit under way has ended, the next claim follows at once; one that gave nothing is not repeated so', async () => {
  const clock = createManualClock();
  const stop = new AbortController();
  let left = 5;
  let claims = 0;
  const loop = runClaimLoop({
    clock,
    slots: 10,
    stop: stop.signal,
    // A store may say that something is due though it gives nothing.
    claim: async () => {
      claims++;
      return left-- > 0 ? { visits: [{} as Visit], nextDueAt: null } : { visits: [], nextDueAt: clock.now() };
    },
    visit: turn,
  });
  for (let i = 0; i < 100; i++) await turn();
  assert.equal(claims, 6, 'no time has passed');
  stop.abort();
  clock.advance(1_000);
  await loop;
});

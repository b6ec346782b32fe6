/** Where time is a server's, all threads of a process follow it, and no clock goes back. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anchorTo, createClock } from '../src/lib/clock.ts';

/** A server whose clock is far from ours, and can be set. */
const createServer = (): { ahead: number; now: () => number; read: () => Promise<number> } => {
  const server = {
    ahead: 1_000_000,
    now: () => performance.timeOrigin + performance.now() + server.ahead,
    read: async () => server.now(),
  };
  return server;
};

/** Two readings of clocks on a busy machine. */
const NEAR_MS = 500;

const assertNear = (a: number, b: number): void => assert.ok(Math.abs(a - b) < NEAR_MS, `${a} and ${b}`);

test('a clock is anchored to the time of the server', async () => {
  const server = createServer();
  const { anchor } = await anchorTo(server.read);
  assertNear(createClock(anchor).now(), server.now());
});

test('clocks made from one anchor follow the server when it moves away', async () => {
  const server = createServer();
  const { anchor, follow } = await anchorTo(server.read);
  const [one, other] = [createClock(anchor), createClock(structuredClone(anchor))];
  server.ahead += 60_000;
  await follow();
  assertNear(one.now(), server.now());
  assertNear(other.now(), server.now());
});

test('a clock stands still rather than go back', async () => {
  const server = createServer();
  const { anchor, follow } = await anchorTo(server.read);
  const clock = createClock(anchor);
  const before = clock.now();
  server.ahead -= 60_000;
  await follow();
  assert.equal(clock.now() - before < NEAR_MS, true);
  assert.ok(clock.now() >= before);
});

test('of several readings the one with the shortest way counts', async () => {
  const server = createServer();
  let reading = 0;
  const { anchor } = await anchorTo(async () => {
    const now = server.now();
    if (++reading !== 3) await new Promise((resolve) => setTimeout(resolve, 1_200)); // its answer is old when it comes
    return now;
  });
  assertNear(createClock(anchor).now(), server.now());
});

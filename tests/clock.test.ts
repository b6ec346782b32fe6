/** Where time is a server's, all threads of a process follow it, and no clock goes back. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { anchorTo, createClock, type Clock } from '../src/lib/clock.ts';

interface Server {
  /** How far its clock is from ours; can be set. */
  ahead: number;
  now(): number;
  read(): Promise<number>;
  /** When it was asked for its time, by our clock. */
  readonly askedAt: number[];
}

/** A server whose clock is far from ours; before a reading, the way to it takes as long as `wayMsOf` says. */
const createServer = (wayMsOf: (reading: number) => number = () => 0): Server => {
  const server: Server = {
    ahead: 1_000_000,
    askedAt: [],
    now: () => performance.timeOrigin + performance.now() + server.ahead,
    read: async () => {
      const wayMs = wayMsOf(server.askedAt.push(performance.now()));
      if (wayMs > 0) await sleep(wayMs);
      return server.now();
    },
  };
  return server;
};

const READINGS = 5;
/** What a clock is put ahead on purpose, and a little for clocks that are read one after the other. */
const AHEAD_MS = 5 + 1;

/** Asks the server for its time; gives the shortest way of a reading, or a little more. */
const shortestWayMs = async (server: Server, look: () => Promise<unknown>): Promise<number> => {
  const before = server.askedAt.length;
  await look();
  const asked = [...server.askedAt.slice(before), performance.now()];
  assert.equal(asked.length, READINGS + 1);
  return Math.min(...asked.slice(1).map((at, n) => at - asked[n]!));
};

/**
 * The clock is never behind the server, and ahead of it by the shortest way at the most, however slow this machine is.
 */
const assertFollows = (clock: Clock, server: Server, wayMs: number): void => {
  const before = server.now();
  const now = clock.now();
  const after = server.now();
  assert.ok(before - 1 <= now && now <= after + wayMs + AHEAD_MS, `${before} ${now} ${after}, a way of ${wayMs}`);
};

/** An anchor at the server, how far clocks may be ahead of it, and how it is followed. */
const anchored = async (server: Server) => {
  let anchor!: Awaited<ReturnType<typeof anchorTo>>;
  const wayMs = await shortestWayMs(server, async () => (anchor = await anchorTo(server.read)));
  return { ...anchor, wayMs };
};

test('a clock is anchored to the time of the server', async () => {
  const server = createServer();
  const { anchor, wayMs } = await anchored(server);
  assertFollows(createClock(anchor), server, wayMs);
});

test('clocks made from one anchor follow the server when it moves away', async () => {
  const server = createServer();
  const { anchor, follow } = await anchored(server);
  const [one, other] = [createClock(anchor), createClock(structuredClone(anchor))];
  server.ahead += 60_000;
  const wayMs = await shortestWayMs(server, follow);
  assertFollows(one, server, wayMs);
  assertFollows(other, server, wayMs);
});

test('a clock stands still rather than go back', async () => {
  const server = createServer();
  const { anchor, follow } = await anchored(server);
  const clock = createClock(anchor);
  const before = clock.now();
  server.ahead -= 24 * 3_600_000;
  await follow();
  assert.equal(clock.now(), before);
});

test('of several readings the one with the shortest way counts', async () => {
  const server = createServer((reading) => (reading === 3 ? 0 : 200));
  const { anchor, wayMs } = await anchored(server);
  assertFollows(createClock(anchor), server, wayMs);
});

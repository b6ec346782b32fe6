/** The store thread's queue of calls: which go into one transaction, and in which order. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import type { Store } from '../src/contract/store.ts';
import { createBoard } from '../src/observe/metrics/board.ts';
import { openSqlite } from '../src/store/sqlite/store.ts';
import { openClientMeter } from '../src/threads/store-meter.ts';
import { createStoreClient } from '../src/threads/store-client.ts';
import { createStoreServer } from '../src/threads/store-server.ts';
import { ask, linksOf } from './contract/store-scene.ts';
import { createManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';

/** Gives the verbs of each transaction. `onPause` is told when the server waits for more. */
const transactions = async (
  story: (client: Store, drained: () => Promise<void>) => Promise<unknown>,
  onPause: () => void = () => {},
): Promise<string[][]> => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-port-'));
  const clock = createManualClock();
  const store = openSqlite({
    path: join(home, 'crawl.db'),
    clock: () => clock,
    archive: () => openMemoryArchive(),
  });
  const seen: string[][] = [];
  const watched: typeof store = {
    ...store,
    together: (calls, onTime) => {
      if (calls.some(({ verb }) => verb !== 'census')) seen.push(calls.map(({ verb }) => verb));
      return store.together(calls, onTime);
    },
  };
  const pause = (ms: number): Promise<void> => {
    onPause();
    return sleep(ms);
  };
  const server = createStoreServer(watched, { onSlow: () => {}, onTime: () => {}, pause });
  const { port1, port2 } = new MessageChannel();
  server.serve(port1, 'fetch-1', openClientMeter(createBoard().cellsOf('fetch-1', 'fetch')));
  const client = createStoreClient(port2);
  try {
    await story(client, server.drained);
    return seen;
  } finally {
    await client.close();
    await server.drained();
    await store.close();
    rmSync(home, { recursive: true });
  }
};

test('calls that come together share a transaction, a claim goes first, and what is more than some hundred rows waits for the next', async () => {
  const seen = await transactions((client) =>
    Promise.all([
      client.admit(linksOf('a.example', 400)),
      client.admit(linksOf('b.example', 5)),
      client.claim(ask({ visits: 3 })),
      client.admit(linksOf('c.example', 5)),
    ]),
  );
  assert.deepEqual(seen, [
    ['claim', 'admit'],
    ['admit', 'admit'],
  ]);
});

test('calls that come one by one are not held up for others, until some come together again', async () => {
  let pauses = 0;
  const waited: boolean[] = [];
  const seen = await transactions(
    async (client, drained) => {
      const once = async (calls: readonly (() => Promise<unknown>)[]): Promise<void> => {
        const before = pauses;
        await Promise.all(calls.map((call) => call()));
        await drained(); // it rests, whatever it waited for
        waited.push(pauses > before);
      };
      const admit = (site: string) => () => client.admit(linksOf(site, 1));
      for (let n = 0; n < 10; n++) await once([admit(`s${n}.example`)]);
      await once([admit('a.example'), admit('b.example')]);
      await once([admit('c.example')]);
    },
    () => pauses++,
  );
  assert.deepEqual(seen.at(-2), ['admit', 'admit']);
  assert.deepEqual(waited.slice(0, 8), Array(8).fill(true));
  assert.deepEqual(waited.slice(8, 10), [false, false], 'eight came alone');
  assert.equal(waited[11], true, 'two came together');
});

test('an order to free leases keeps its place: it frees what was claimed before it, and nothing else', async () => {
  let given = 0;
  const seen = await transactions(async (client) => {
    await client.admit(linksOf('a.example', 1));
    await client.admit(linksOf('b.example', 1));
    const [, , claimed] = await Promise.all([
      client.claim(ask({ visits: 1 })),
      client.steer([{ kind: 'free', holder: null, counted: true }]),
      client.claim(ask({ visits: 1 })),
    ]);
    given = claimed.visits.length;
    assert.equal((await client.census()).leased, 1);
  });
  assert.equal(given, 1);
  assert.deepEqual(seen.at(-1), ['claim', 'steer', 'claim']);
});

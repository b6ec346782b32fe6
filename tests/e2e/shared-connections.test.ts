/** However many visits a process has under way, it has few connections to the server of its store. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { endBinaries, startBinary } from '../support/binary.ts';
import { serveHeldSites } from '../support/held-site.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startRedis } from '../support/redis-server.ts';
import { assertCode, flagWords } from '../support/stage.ts';
import { until } from '../support/until.ts';

const VISITS = 2_000;
const LOOK_MS = 50;

interface Watched {
  readonly url: string;
  /** Connections at this moment, without the one that asks. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

const STORES: Readonly<Record<string, { readonly most: number; start(): Promise<Watched> }>> = {
  redis: {
    most: 1,
    start: async () => {
      const server = await startRedis();
      const client = new Redis({ host: '127.0.0.1', port: server.port });
      return {
        url: server.url,
        connections: async () =>
          String(await client.client('LIST'))
            .trim()
            .split('\n').length - 1,
        close: async () => {
          client.disconnect();
          await server.remove();
        },
      };
    },
  },
  postgres: {
    most: 4,
    start: async () => {
      const server = await startPostgres();
      const url = await server.database();
      const count =
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
      return {
        url,
        connections: async () => (await server.query(url, count))[0]!.n as number,
        close: server.remove,
      };
    },
  },
};

for (const [store, { most, start }] of Object.entries(STORES)) {
  test(`${store}: a process with ${VISITS} visits under way has at most ${most} ${most === 1 ? 'connection' : 'connections'} to the server`, async (t) => {
    const home = mkdtempSync(join(tmpdir(), 'gossamer-e2e-'));
    const server = await start();
    const web = await serveHeldSites(VISITS, 2);
    const counts: number[] = [];
    let watching = Promise.resolve();
    let over = false;
    const watch = async (): Promise<void> => {
      for (; !over; await sleep(LOOK_MS)) counts.push(await server.connections());
    };
    try {
      const seedFile = join(home, 'seeds.txt');
      writeFileSync(seedFile, web.seeds.join('\n'));
      const run = startBinary(
        [
          'crawl',
          seedFile,
          '--dir',
          join(home, 'crawl'),
          ...flagWords({
            email: 'test@example.org',
            'connect-to': web.connectTo,
            delay: '0s',
            timeout: '10m',
            concurrency: VISITS,
            fetchers: 1,
            parsers: 1,
            'disk-reserve': '0',
            store: server.url,
          }),
        ],
        { cwd: home },
      );
      await until('the first page is asked for', () => web.asked.length > 0);
      watching = watch();
      // Every page but the last of each site is fetched first: all visits are under way at once when these are held.
      await until(`${VISITS} visits are under way`, () => web.holding() === VISITS);
      const looks = counts.length;
      web.release();
      await until('what was held is on its way', () => counts.length > looks + 2);
      assertCode(await run.ended, 0);
      t.diagnostic(`${counts.length} looks, at most ${Math.max(...counts)} connections`);
      assert.ok(Math.max(...counts) >= 1, 'the crawl was seen at the server');
      assert.ok(Math.max(...counts) <= most, `${Math.max(...counts)} connections`);
    } finally {
      over = true;
      await watching;
      endBinaries();
      await web.close();
      await server.close();
      rmSync(home, { recursive: true, force: true });
    }
  });
}

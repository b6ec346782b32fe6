/** The stores that are measured, each empty and in a private folder, with a server of its own where it needs one. */

import { globSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Archive } from '../src/archive/archive.ts';
import type { Store } from '../src/contract/store.ts';
import { anchorNow, createClock } from '../src/lib/clock.ts';
import { EMBEDDED, type StoreKind } from '../src/store/address.ts';
import { openStore } from '../src/store/open.ts';
import { openSqlite } from '../src/store/sqlite/store.ts';
import { SHARDS } from '../src/url/shard.ts';
import { startPostgres } from '../tests/support/postgres-server.ts';
import { startRedis } from '../tests/support/redis-server.ts';

export const STORES = ['sqlite', 'redis', 'postgres'] as const satisfies readonly StoreKind[];

export interface StorePlace {
  readonly kind: StoreKind;
  /** As `--store` takes it. */
  readonly url: string;
  /** For files of this process. */
  readonly dir: string;
  /** How its server is set up, for a person; empty where there is none. */
  readonly setup: string;
  /** CPU of the server since its start, all its processes. */
  serverCpuMs(): Promise<number>;
  /** What the server keeps for all crawls in it. */
  kept(): Promise<Kept>;
  /** Ends the server and removes all files. */
  remove(): Promise<void>;
}

/** Bytes; null where there is no such figure. */
export interface Kept {
  readonly disk: number | null;
  readonly memory: number | null;
  /** Of the set of known URLs, on disk or in memory. */
  readonly seen: number | null;
}

const CRAWL = 'bench';

export const startPlace = (kind: StoreKind): Promise<StorePlace> => {
  const dir = mkdtempSync(join(tmpdir(), 'gossamer-bench-'));
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
  switch (kind) {
    case 'sqlite':
      return Promise.resolve(embedded(dir));
    case 'redis':
      return redis(dir);
    case 'postgres':
      return postgres(dir);
    default:
      return kind satisfies never;
  }
};

const embedded = (dir: string): StorePlace => ({
  kind: 'sqlite',
  url: EMBEDDED,
  dir,
  setup: '',
  serverCpuMs: async () => 0,
  kept: async () => ({ disk: filesBytes(dir, 'crawl.db'), memory: null, seen: null }),
  remove: async () => rmSync(dir, { recursive: true, force: true }),
});

/** As the manual of the store advises: what is acknowledged is on disk within a second. */
const REDIS_SETTINGS = { appendonly: 'yes', appendfsync: 'everysec' };

const redis = async (dir: string): Promise<StorePlace> => {
  const server = await startRedis(REDIS_SETTINGS);
  const client = new Redis(server.url);
  const figures = async (section: string): Promise<ReadonlyMap<string, number>> =>
    new Map(
      [...(await client.info(section)).matchAll(/^(\w+):([\d.]+)\r?$/gm)].map(([, name, value]) => [
        name!,
        Number(value),
      ]),
    );
  const usedBytes = async (): Promise<number> => (await figures('memory')).get('used_memory')!;
  const version = /redis_version:(\S+)/.exec(await client.info('server'))?.[1] ?? '';
  const emptyBytes = await usedBytes();
  return {
    kind: 'redis',
    url: server.url,
    dir,
    setup: `Redis ${version}, appendonly yes, appendfsync everysec`,
    serverCpuMs: async () => {
      const cpu = await figures('cpu');
      // Children write the log anew; they are counted when they end.
      return (
        1_000 *
        ['used_cpu_sys', 'used_cpu_user', 'used_cpu_sys_children', 'used_cpu_user_children'].reduce(
          (sum, name) => sum + cpu.get(name)!,
          0,
        )
      );
    },
    kept: async () => ({
      disk: filesBytes(server.dir, 'appendonlydir/*'),
      memory: (await usedBytes()) - emptyBytes,
      seen: await seenBytes(client),
    }),
    remove: async () => {
      client.disconnect();
      await server.remove();
      rmSync(dir, { recursive: true, force: true });
    },
  };
};

/** The sets of known URLs with their keys, as Redis counts them. */
const seenBytes = async (client: Redis): Promise<number> => {
  let bytes = 0;
  let cursor = '0';
  do {
    const [next, keys] = await client.scan(cursor, 'MATCH', '*:seen:*', 'COUNT', 5_000);
    const sizes = await Promise.all(keys.map((key) => client.memory('USAGE', key, 'SAMPLES', 0)));
    bytes += sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
    cursor = next;
  } while (cursor !== '0');
  return bytes;
};

/** What PostgreSQL 15 comes with; the servers of tests are set up otherwise. */
const POSTGRES_SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  max_connections: '100',
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  autovacuum_naptime: '1min',
};

const postgres = async (dir: string): Promise<StorePlace> => {
  const server = await startPostgres(POSTGRES_SETTINGS);
  const url = await server.database();
  const [row] = await server.query(url, 'SHOW server_version');
  return {
    kind: 'postgres',
    url,
    dir,
    setup: `PostgreSQL ${String(row?.server_version).split(' ')[0]} with its defaults (fsync on, shared_buffers 128MB)`,
    serverCpuMs: async () => server.cpuMs(),
    kept: async () => {
      const rows = (await server.query(
        url,
        `SELECT relname AS name, pg_total_relation_size(oid)::float8 AS bytes FROM pg_class
        WHERE relkind = 'r' AND relnamespace::regnamespace::text LIKE 'gossamer_%'`,
      )) as { name: string; bytes: number }[];
      const sum = (some: typeof rows): number => some.reduce((bytes, one) => bytes + one.bytes, 0);
      return { disk: sum(rows), memory: null, seen: sum(rows.filter(({ name }) => name === 'seen')) };
    },
    remove: async () => {
      await server.remove();
      rmSync(dir, { recursive: true, force: true });
    },
  };
};

const filesBytes = (dir: string, pattern: string): number =>
  globSync(pattern, { cwd: dir }).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);

export interface OpenedStore {
  readonly store: Store;
  /** Work that the store puts off is done now; it is part of the cost of what was done before. */
  settleDown(): void;
  /** As the place tells, with what this process keeps. */
  kept(): Promise<Kept>;
}

const NO_ARCHIVE: Archive = {
  append: () => [],
  end: () => ({ file: '', bytes: 0 }),
  cut: () => {},
  sync: () => {},
  close: () => {},
};

/** In this thread, without an archive. */
export const openIn = async (place: StorePlace): Promise<OpenedStore> => {
  if (place.kind === 'sqlite') {
    const store = openSqlite({
      path: join(place.dir, 'crawl.db'),
      clock: (notBeforeMs) => createClock(anchorNow(notBeforeMs)),
      archive: () => NO_ARCHIVE,
      checkpointRows: Infinity, // `settleDown` asks for them
    });
    return {
      store,
      settleDown: store.checkpoint,
      kept: async () => ({ ...(await place.kept()), memory: store.seenBytes(), seen: store.seenBytes() }),
    };
  }
  const store = await openStore({
    url: place.url,
    crawl: CRAWL,
    member: 'm1',
    shards: SHARDS,
    dir: place.dir,
    frontier: 'store',
    archive: () => NO_ARCHIVE,
    dead: () => {},
    clock: null,
    say: (message) => console.error(message),
  });
  return { store, settleDown: () => {}, kept: place.kept };
};

/**
 * `node bench/postgres-bloat.ts`: do the tables of a crawl in PostgreSQL stay bounded over a million claims and
 * settlements?
 *
 * A server of its own with the settings that PostgreSQL comes with. Each visit is replaced by about one new link, so
 * that the frontier stays as large as it was: what grows then, besides rows of pages and known URLs, is bloat.
 */

import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { writeBytes, writeCount } from '../src/lib/units.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { startPostgres } from '../tests/support/postgres-server.ts';
import { SHARDS } from '../src/url/shard.ts';
import { createStoreLoad, LINKS_PER_BATCH, VISITS_PER_BATCH } from './store-load.ts';

const { values } = parseArgs({
  options: {
    visits: { type: 'string', default: '1000000' },
    every: { type: 'string', default: '100000' },
    sites: { type: 'string', default: '50000' },
    links: { type: 'string', default: '200000' },
    minutes: { type: 'string', default: '15' },
    fsync: { type: 'string', default: 'off' },
  },
});
const LEASE_MS = 60_000;
/** 480 new links for 500 visits. */
const CLAIMS_PER_ADMISSION = 5;
const TABLES = ['site', 'block', 'tally', 'member', 'page', 'seen'];

const server = await startPostgres({
  autovacuum_naptime: '1min',
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  fsync: values.fsync,
});
try {
  const url = await server.database();
  const archive = {
    append: () => [],
    end: () => ({ file: '', bytes: 0 }),
    cut: () => {},
    sync: () => {},
    close: () => {},
  };
  const store = await openPostgresStore({
    url,
    crawl: 'bloat',
    member: 'bench',
    shards: SHARDS,
    dir: tmpdir(),
    frontier: 'store',
    archive: () => archive,
    dead: () => {},
    clock: null,
    say: (message) => console.error(message),
  });
  const load = createStoreLoad(
    () => ({ ...store, claim: (ask) => store.claim({ ...ask, leaseMs: LEASE_MS }) }),
    Number(values.sites),
  );

  const tell = async (visits: number, { rate, cpuUs }: { rate: number; cpuUs: number }): Promise<void> => {
    const rows = await server.query(
      url,
      `SELECT c.relname AS name, pg_relation_size(c.oid)::float8 AS heap, pg_indexes_size(c.oid)::float8 AS indexes,
      s.n_dead_tup::float8 AS dead, s.n_live_tup::float8 AS live, (s.vacuum_count + s.autovacuum_count)::float8 AS vacuums
      FROM pg_class c JOIN pg_stat_all_tables s ON s.relid = c.oid WHERE c.relkind = 'r' AND c.relnamespace = 'gossamer_bloat'::regnamespace`,
    );
    const cells = TABLES.map((name) => {
      const row = rows.find((one) => one.name === name)! as Record<string, number>;
      return `${writeBytes(row.heap!)} + ${writeBytes(row.indexes!)}${name === 'site' || name === 'block' ? ` (${row.vacuums} vacuums)` : ''}`;
    });
    const { waiting } = await store.census();
    console.log(
      `| ${writeCount(visits)} | ${writeCount(rate)} | ${Math.round(cpuUs)} | ${writeCount(waiting)} | ${cells.join(' | ')} |`,
    );
  };

  for (let links = 0; links < Number(values.links); links += LINKS_PER_BATCH) await load.admit();
  console.log(
    `| visits | visits/s | us of CPU of the server per visit | waiting | ${TABLES.join(' | ')} |\n| ${['', '', '', '', ...TABLES].map(() => '---').join(' | ')} |`,
  );
  await tell(0, { rate: 0, cpuUs: 0 });
  const until = performance.now() + Number(values.minutes) * 60_000;
  let visits = 0;
  let toldAt = performance.now();
  let cpuMs = server.cpuMs();
  for (let told = 0; visits < Number(values.visits) && performance.now() < until; ) {
    await load.admit();
    for (let i = 0; i < CLAIMS_PER_ADMISSION; i++) {
      if ((await load.claim()) < VISITS_PER_BATCH) await load.admit();
      visits += await load.settle();
    }
    if (visits - told < Number(values.every)) continue;
    const done = visits - told;
    await tell(visits, {
      rate: (done * 1_000) / (performance.now() - toldAt),
      cpuUs: ((server.cpuMs() - cpuMs) * 1_000) / done,
    });
    [told, toldAt, cpuMs] = [visits, performance.now(), server.cpuMs()];
  }
  await store.close();
} finally {
  await server.remove();
}

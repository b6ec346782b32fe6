/**
 * `node bench/postgres-cost.ts [--against DIR]`: what a page costs the server of a crawl in PostgreSQL.
 *
 * A young broad crawl without a web: pages end one by one, each brings 23 links, and settlements go in batches of some
 * tens, as a store thread sends them. With another working copy of the program, both are measured in turn on one
 * server, because the machine may be busy: only their ratio counts.
 */

import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import type { Link, CanonicalUrl } from '../src/model/link.ts';
import type { Visit } from '../src/model/visit.ts';
import type { OpenedStore, StoreOptions } from '../src/store/options.ts';
import { SHARDS } from '../src/url/shard.ts';
import { ask, settlementOf } from '../tests/contract/store-scene.ts';
import { workOptions } from '../tests/support/postgres-scene.ts';
import { startPostgres } from '../tests/support/postgres-server.ts';

const { values } = parseArgs({
  options: {
    against: { type: 'string', default: '' },
    pages: { type: 'string', default: '3000' },
    rounds: { type: 'string', default: '3' },
    sites: { type: 'string', default: '20000' },
    /** Pages that end in a second. */
    rate: { type: 'string', default: '150' },
  },
});
const SITES = Number(values.sites);
const LINKS_OWN = 15;
const LINKS_OTHER = 8;
const SETTLE_MS = 50;
const CENSUS_MS = 250;
const ARCHIVE = {
  append: () => [],
  end: () => ({ file: '', bytes: 0 }),
  cut: () => {},
  sync: () => {},
  close: () => {},
};

type Open = (options: StoreOptions) => Promise<OpenedStore>;

const dirs = [['this', resolve(import.meta.dirname, '..')], ...(values.against ? [['other', values.against]] : [])];
const server = await startPostgres({ fsync: 'off', shared_buffers: '128MB' });
const url = await server.database();

const figures = async (schema: string): Promise<Record<string, number>> => {
  await sleep(1_500); // counts are told by idle connections once a second
  const [row] = await server.query(
    url,
    `SELECT (pg_current_wal_lsn() - '0/0')::float8 AS wal, sum(n_tup_upd)::float8 AS updates,
      sum(n_tup_hot_upd)::float8 AS hot, sum(n_tup_ins)::float8 AS inserts,
      sum(n_tup_upd) FILTER (WHERE relname = 'site')::float8 AS sites
      FROM pg_stat_user_tables WHERE schemaname = '${schema}'`,
  );
  return { ...(row as Record<string, number>), cpu: server.cpuMs() };
};

const crawl = async (store: OpenedStore, pages: number): Promise<void> => {
  let next = 0;
  const linkTo = (site: number, page: number): Link => ({
    url: `https://www.site-${site}.example/section/page-${page}.html` as CanonicalUrl,
    site: `site-${site}.example`,
    depth: 2,
    via: `https://www.site-${site}.example/`,
    hops: 0,
    fallback: false,
    first: false,
  });
  let state = 12345;
  const dice = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let i = 0; i < SITES / 10; i += 500)
    await store.admit(
      Array.from({ length: 500 }, (_, n) => linkTo(i + n, 0)),
      null,
    );
  const ended: Visit[] = [];
  let done = 0;
  const visit = async (one: Visit): Promise<void> => {
    const own = Number(/site-(\d+)/.exec(one.site)![1]);
    const links = Array.from({ length: LINKS_OWN + LINKS_OTHER }, (_, i) =>
      // Some of the links are known, some sites are new.
      linkTo(i < LINKS_OWN ? own : dice(SITES), i % 3 === 0 ? dice(3) : ++next),
    );
    await store.admit(links, null);
    ended.push(one);
  };
  let isOver = false;
  const settling = (async () => {
    while (!isOver || ended.length > 0) {
      await sleep(SETTLE_MS);
      const some = ended.splice(0);
      if (some.length === 0) continue;
      await store.settle(some.map((one) => settlementOf(one, { pace: { ...one.pace, dueAt: 0 } })));
      done += some.length;
    }
  })();
  const counting = (async () => {
    while (!isOver) {
      await Promise.all([store.census(), sleep(CENSUS_MS)]);
      await (store as Partial<OpenedStore>).beat?.();
    }
  })();
  const visits: Promise<void>[] = [];
  while (visits.length < pages) {
    const wanted = Math.max(1, Math.round(Number(values.rate) / 40));
    const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
    const claimed = await store.claim(ask({ visits: wanted, shards, delayMs: 0, leaseMs: 240_000 }));
    for (const one of claimed.visits) visits.push(sleep(dice(25)).then(() => visit(one)));
    await sleep(25);
  }
  await Promise.all(visits);
  isOver = true;
  await Promise.all([settling, counting]);
  if (done < pages) throw new Error(`${done} pages of ${pages}`);
};

console.log(
  '| round | program | ms of CPU of the server | WAL bytes | rows written anew | of them HOT | of sites | rows added |',
);
console.log('| --- | --- | --- | --- | --- | --- | --- | --- |');
try {
  for (let round = 1; round <= Number(values.rounds); round++)
    for (const [name, dir] of dirs) {
      const file = pathToFileURL(join(dir!, 'src/store/postgres/store.ts')).href;
      const { openPostgresStore } = (await import(file)) as { openPostgresStore: Open };
      const schema = `${name}_${round}`;
      const store = await openPostgresStore({ ...workOptions(url, { archive: ARCHIVE }), crawl: schema });
      const before = await figures(`gossamer_${schema}`);
      const pages = Number(values.pages);
      await crawl(store, pages);
      const after = await figures(`gossamer_${schema}`);
      await store.close();
      const per = (what: string): number => (after[what]! - (before[what] ?? 0)) / pages;
      const hot = Math.round((100 * per('hot')) / per('updates'));
      console.log(
        `| ${round} | ${name} | ${per('cpu').toFixed(2)} | ${Math.round(per('wal'))} | ${per('updates').toFixed(1)} | ${hot} % | ${per('sites').toFixed(1)} | ${per('inserts').toFixed(1)} |`,
      );
    }
} finally {
  await server.remove();
}

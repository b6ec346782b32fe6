/** A crawl that has some of everything a store can hold, and what is compared when it was moved. */

import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateCrawl, type Migrated, type MigrateOptions } from '../../src/care/migrate.ts';
import { verifyCrawl } from '../../src/care/verify.ts';
import type { Order } from '../../src/contract/store.ts';
import type { StoredCrawl } from '../../src/contract/stored-crawl.ts';
import type { CanonicalUrl, Link } from '../../src/model/link.ts';
import type { Settlement } from '../../src/model/settlement.ts';
import { openSqlite, type SqliteStore } from '../../src/store/sqlite/store.ts';
import { shardOf } from '../../src/url/shard.ts';
import { ask, settlementOf as fetched } from '../contract/store-scene.ts';
import { makeCrawl, openMade, settlementOf } from './made-crawl.ts';
import { createManualClock } from './manual-clock.ts';
import { openMemoryArchive } from './memory-archive.ts';
import { lookAt } from './sqlite-place.ts';

const FILE_BYTES_MAX = 30_000;

const linkOf = (site: string, n: number, changes: Partial<Link> = {}): Link => ({
  url: `http://${site}/page/${n}` as CanonicalUrl,
  site,
  depth: 1,
  via: `http://${site}/`,
  hops: 0,
  fallback: false,
  first: false,
  ...changes,
});

const linksOf = (site: string, count: number, changes: (n: number) => Partial<Link> = () => ({})): Link[] =>
  Array.from({ length: count }, (_, n) => linkOf(site, n, changes(n)));

/** Visits one link of one site; all others that were claimed are given back. */
const visitOne = async (store: SqliteStore, site: string, changes: Partial<Settlement> = {}): Promise<void> => {
  const { visits } = await store.claim(ask({ delayMs: 0 }));
  await store.settle(
    visits.map((visit) => ({
      ...settlementOf(visit, 'all'),
      ...(visit.site === site ? changes : { fate: 'returned' as const, page: null, records: null, robots: null }),
      pace: { ...visit.pace, ...(visit.site === site ? changes.pace : {}) },
    })),
  );
};

/** More than is at hand of a line's blocks: the others lie in packs. */
const LONG = 700;

const fillRest = async (store: SqliteStore): Promise<void> => {
  // Each link from another page: each is a block of its own.
  await store.admit(
    linksOf('long.example', LONG, (n) => ({ via: `http://s${n % 7}.example/from/${n}`, depth: n % 4 })),
  );
  await visitOne(store, 'long.example', {
    robots: {
      origin: 'http://long.example',
      fetchedAt: 1_000,
      expiresAt: 2_000.5,
      verdict: 'rules',
      rules: '1-/private\n2+/',
      crawlDelayMs: 1_500,
      failures: 0,
    },
    pace: { dueAt: 1_234.5, delayMs: 7_000, crawlDelayMs: 1_500, responseMs: 12.25, failures: 0 },
  });
  // One block, read half-way.
  await store.admit(linksOf('read.example', 6));
  await visitOne(store, 'read.example');
  await visitOne(store, 'read.example', { fate: 'retry', page: null, records: null });
  await store.admit(
    linksOf('marks.example', 4, (n) => ({
      hops: n,
      fallback: n === 1,
      ...(n === 2 ? { sitemap: 'named' as const } : n === 3 ? { sitemap: 'listed' as const } : {}),
    })),
  );
  await store.admit([linkOf('marks.example', 9, { first: true })]);
  await store.admit(linksOf('parked.example', 3));
  await visitOne(store, 'parked.example', {
    fate: 'retry',
    page: null,
    records: null,
    parked: true,
    pace: { dueAt: 9e12, delayMs: 5_000, crawlDelayMs: 0, responseMs: 0, failures: 6 },
  });
  await store.admit(linksOf('full.example', 5), 2);
  await store.admit(linksOf('held.example', 3));
  await visitOne(store, 'held.example');
  const { visits } = await store.claim(ask({ shards: [shardOf('held.example')], sitePagesMax: { all: 1 } }));
  await store.settle(
    visits.map((visit) => ({
      ...settlementOf(visit, 'all'),
      fate: 'returned',
      page: null,
      records: null,
      pace: visit.pace,
    })),
  );
};

export interface MoveScene {
  readonly dir: string;
  readonly path: string;
  move(wanted: Partial<MigrateOptions>): Promise<Migrated>;
}

export const makeMoveScene = async (): Promise<{
  open: <T>(story: (scene: MoveScene) => Promise<T>) => Promise<T>;
  remove: () => void;
}> => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-move-'));
  const sound = join(home, 'sound');
  await makeCrawl({ dir: sound, sites: 7, pages: 120, waiting: 40, keep: 'all', fileBytesMax: FILE_BYTES_MAX });
  const store = openMade({ dir: sound, fileBytesMax: FILE_BYTES_MAX });
  await fillRest(store);
  await store.close();
  let copies = 0;
  return {
    open: async (story) => {
      const dir = join(home, `copy-${++copies}`);
      cpSync(sound, dir, { recursive: true });
      return story({
        dir,
        path: join(dir, 'crawl.db'),
        move: (wanted) => migrateCrawl({ dirs: [dir], say: () => {}, onProgress: () => {}, ...wanted }),
      });
    },
    remove: () => rmSync(home, { recursive: true }),
  };
};

export interface Whole {
  readonly sites: readonly { readonly site: string; readonly pace: { readonly dueAt: number } }[];
  readonly queues: Readonly<
    Record<string, readonly { readonly link: { readonly url: string; readonly site: string } }[]>
  >;
  readonly pages: readonly { readonly url: string; readonly site: string }[];
  readonly robots: readonly { readonly fetchedAt: number }[];
  readonly tally: object;
}

/** All of a crawl in one form: how a queue is cut into pieces does not count, nor does the shard of a site. */
export const wholeOf = (path: string): Promise<Whole> =>
  lookIn(path, async (crawl) => {
    const sites: Whole['sites'][number][] = [];
    const queues: Record<string, Whole['queues'][string][number][]> = {};
    const pages: Whole['pages'][number][] = [];
    const robots: Whole['robots'][number][] = [];
    let tally: object = {};
    for await (const found of crawl.walk(['sites', 'robots', 'pages', 'tally'])) {
      if (found.kind === 'site') sites.push({ ...found, shard: 0 } as Whole['sites'][number]);
      else if (found.kind === 'queue') (queues[found.site] ??= []).push(...found.links);
      else if (found.kind === 'pages') pages.push(...found.pages);
      else if (found.kind === 'robots') robots.push(...found.records);
      else if (found.kind === 'tally') tally = { ...found, notes: {} };
      else assert.fail(JSON.stringify(found));
    }
    return { sites, queues, pages, robots, tally };
  });

/** Looks at a database that may have another name than a crawl gives it. */
export const lookIn = async <T>(path: string, look: (crawl: StoredCrawl) => Promise<T>): Promise<T> => {
  const dir = mkdtempSync(join(tmpdir(), 'gossamer-look-'));
  try {
    for (const ending of ['', '-wal'])
      if (existsSync(path + ending)) cpSync(path + ending, join(dir, `crawl.db${ending}`));
    return await lookAt(dir, look);
  } finally {
    rmSync(dir, { recursive: true });
  }
};

export const assertSound = async (dir: string): Promise<void> => {
  const { found } = await verifyCrawl({ dirs: [dir], repair: false, onProgress: () => {} });
  assert.deepEqual([found.named, found.left], [[], []]);
};

/** Visits all that waits or was set aside, and gives the URLs of each site in the order of their claims. */
export const claimAll = async (path: string, shards: number): Promise<Record<string, string[]>> => {
  const clock = createManualClock(1e13); // all are due
  const store = openSqlite({ path, clock: () => clock, archive: () => openMemoryArchive() });
  const claimed: Record<string, string[]> = {};
  const orders: readonly Order[] = [{ kind: 'retry-parked' }, { kind: 'release-held', sitePagesMax: { all: null } }];
  await store.steer(orders);
  for (let isEmpty = false; !isEmpty; clock.advance(10_000)) {
    const { visits } = await store.claim(
      ask({ shards: Array.from({ length: shards }, (_, shard) => shard), visits: 10_000 }),
    );
    for (const { site, link } of visits) (claimed[site] ??= []).push(link.url);
    await store.settle(visits.map((visit) => fetched(visit)));
    isEmpty = visits.length === 0;
  }
  await store.close();
  return claimed;
};

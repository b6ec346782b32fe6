/** A crawl that has some of everything a store can hold, and what is compared when it was moved. */

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateCrawl, type Migrated, type MigrateOptions } from '../../src/crawl/migrate.ts';
import { verifyCrawl } from '../../src/crawl/verify.ts';
import type { Order } from '../../src/frontier/store.ts';
import type { CanonicalUrl, Link } from '../../src/model/link.ts';
import type { Settlement } from '../../src/model/settlement.ts';
import type { Piece } from '../../src/store/shared.ts';
import { piecesOf } from '../../src/store/sqlite/pieces.ts';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts';
import { shardOf } from '../../src/url/shard.ts';
import { ask, settlementOf as fetched } from '../contract/store-scene.ts';
import { makeCrawl, openMade, settlementOf } from './made-crawl.ts';
import { createManualClock } from './manual-clock.ts';
import { openMemoryArchive } from './memory-archive.ts';

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
  const { visits } = await store.claim(ask({ shards: [shardOf('held.example')], sitePagesMax: 1 }));
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
        move: (wanted) => migrateCrawl({ dir, say: () => {}, onProgress: () => {}, ...wanted }),
      });
    },
    remove: () => rmSync(home, { recursive: true }),
  };
};

/** All of a crawl in one form: how a line is cut into pieces does not count. */
export const wholeOf = (path: string): object => wholeOfPieces(piecesOf(path));

const wholeOfPieces = (pieces: Iterable<Piece>): object => {
  const sites: object[] = [];
  const lines: Record<string, object[]> = {};
  const rest: object[] = [];
  for (const piece of pieces) {
    if (piece.kind === 'site') sites.push(piece);
    else if (piece.kind === 'line') (lines[piece.site] ??= []).push(...piece.links);
    else if (piece.kind === 'pages') rest.push(...piece.pages);
    else rest.push(piece);
  }
  return { sites, lines, rest };
};

export const assertSound = async (dir: string): Promise<void> => {
  const { found } = await verifyCrawl({ dir, repair: false, onProgress: () => {} });
  assert.deepEqual([found.named, found.left], [[], []]);
};

/** Visits all that waits or was set aside, and gives the URLs of each site in the order of their claims. */
export const claimAll = async (path: string, shards: number): Promise<Record<string, string[]>> => {
  const clock = createManualClock(1e13); // all are due
  const store = openSqliteStore({ path, clock: () => clock, archive: () => openMemoryArchive() });
  const claimed: Record<string, string[]> = {};
  const orders: readonly Order[] = [{ kind: 'retry-parked' }, { kind: 'release-held', sitePagesMax: null }];
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

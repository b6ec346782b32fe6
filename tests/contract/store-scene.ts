/** What every behaviour of the store contract starts from: an empty crawl, a clock, an archive, sample links. */

import assert from 'node:assert/strict';
import test from 'node:test';

import type { Archive } from '../../src/archive/archive.ts';
import type { Ask, Store } from '../../src/contract/store.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { Census } from '../../src/model/census.ts';
import type { CanonicalUrl, Link } from '../../src/model/link.ts';
import type { Page, PageRow } from '../../src/model/page.ts';
import type { RecordGroup, Settlement } from '../../src/model/settlement.ts';
import type { Pace, Visit } from '../../src/model/visit.ts';
import { SHARDS, shardOf } from '../../src/url/shard.ts';
import { createManualClock } from '../support/manual-clock.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import { openMemoryArchive } from '../support/memory-archive.ts';
import type { MemoryArchive } from '../support/memory-archive.ts';

export interface OpenedStore {
  readonly store: Store;
  /** Settled links in the order they were settled. */
  pages(): readonly PageRow[] | Promise<readonly PageRow[]>;
  /** Drop the store as `kill -9` would; gives (or promises) what `from` needs to open the same crawl again. */
  kill(): unknown;
  /** Called once, after the store was closed or killed for good: leave nothing behind. */
  remove?(): unknown;
}

export interface OpenOptions {
  /** The store's time must follow this clock. */
  readonly clock: Clock;
  readonly archive: Archive;
  /** Null for a new, empty crawl; otherwise what `kill` gave. */
  readonly from: unknown;
}

export type OpenStore = (options: OpenOptions) => Promise<OpenedStore>;

export interface Scene {
  readonly clock: ManualClock;
  readonly archive: MemoryArchive;
  /** The store as it is open now; another one after a crash. */
  readonly store: Store;
  pages(): Promise<readonly PageRow[]>;
  /** Kill the store and open it again on the same crawl. */
  crash(): Promise<void>;
}

export type Behaviour = (title: string, run: (scene: Scene) => Promise<void>) => void;

/** Registers tests that each get a new crawl of this kind of store. */
export const behaviourOf =
  (name: string, open: OpenStore): Behaviour =>
  (title, run) => {
    test(`${name}: ${title}`, async () => {
      const clock = createManualClock();
      const archive = openMemoryArchive();
      let opened: OpenedStore | null = await open({ clock, archive, from: null });
      const now = (): OpenedStore => {
        if (opened === null) throw new Error('the store could not be opened again');
        return opened;
      };
      try {
        await run({
          clock,
          archive,
          get store() {
            return now().store;
          },
          pages: async () => now().pages(),
          crash: async () => {
            const killed = now();
            opened = null;
            opened = await open({ clock, archive, from: await killed.kill() });
          },
        });
      } finally {
        await opened?.store.close();
        await opened?.remove?.();
      }
    });
  };

export const DELAY_MS = 5_000;
/** Far more than any test has links for one site: a store that hands out without end fails, and does not hang. */
export const ROUNDS_MAX = 1_000;

export const ALL_SHARDS: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard);

export const ask = (changes: Partial<Ask> = {}): Ask => ({
  holder: 'fetch-1',
  shards: ALL_SHARDS,
  visits: 1_000,
  delayMs: DELAY_MS,
  pagesMax: null,
  sitePagesMax: { all: null },
  leaseMs: null,
  ...changes,
});

/** What the census of a new crawl says, whenever it is asked. */
export const EMPTY_CENSUS: Omit<Census, 'now' | 'changes' | 'settled'> = {
  waiting: 0,
  leased: 0,
  parked: 0,
  held: 0,
  forgotten: 0,
  pages: 0,
  sites: { known: 0, parked: 0, held: 0 },
  sitesDue: 0,
  next: null,
  archive: { file: '', bytes: 0 },
  archivedBytes: 0,
  marks: {},
};

/** `a.example/1` is a link to https://a.example/1 of the site a.example. */
export const link = (address: string, changes: Partial<Link> = {}): Link => ({
  url: `https://${address}` as CanonicalUrl,
  site: address.slice(0, address.indexOf('/')),
  depth: 0,
  via: '',
  hops: 0,
  fallback: false,
  first: false,
  ...changes,
});

/** That many links of one site: /1, /2 ... */
export const linksOf = (site: string, count: number): Link[] =>
  Array.from({ length: count }, (_, i) => link(`${site}/${i + 1}`));

/** Names of sites that all lie in that shard. */
export const sitesInShard = (shard: number, count: number): string[] => {
  const names: string[] = [];
  for (let i = 0; names.length < count; i++) if (shardOf(`s${i}.example`) === shard) names.push(`s${i}.example`);
  return names;
};

export const paceAfter = (visit: Visit, changes: Partial<Pace> = {}): Pace => ({
  dueAt: visit.claimedAt + DELAY_MS,
  delayMs: DELAY_MS,
  crawlDelayMs: 0,
  responseMs: 40,
  failures: 0,
  ...changes,
});

export const pageOf = (visit: Visit, changes: Partial<Page> = {}): Page => ({
  url: visit.link.url,
  site: visit.site,
  outcome: 'fetched',
  status: 200,
  time: visit.claimedAt,
  duration_ms: 120,
  content_type: 'text/html',
  bytes: 4_321,
  title: `The page at ${visit.link.url} – «ünï»`,
  language: 'en',
  redirect: '',
  digest: 'sha1:ABCDEFGH',
  truncated: '',
  noindex: false,
  depth: visit.link.depth,
  via: visit.link.via,
  tries: visit.tries,
  robots: 'no rule',
  detail: '192.0.2.7',
  extracted: '{"name":"«ünï»"}',
  tls: 'unverified',
  charset: 'windows-1251',
  charset_guessed: true,
  ...changes,
});

/** A settlement of that visit: fetched, without records, unless the changes say otherwise. */
export const settlementOf = (visit: Visit, changes: Partial<Settlement> = {}): Settlement => ({
  site: visit.site,
  lease: visit.lease,
  fate: 'settled',
  page: (changes.fate ?? 'settled') === 'settled' ? pageOf(visit) : null,
  records: null,
  pace: paceAfter(visit),
  parked: false,
  robots: null,
  ...changes,
});

/** A page of two records, the response first; with a robots.txt, that lies before it. */
export const recordsOf = (text: string, robots = ''): RecordGroup => {
  const response = `response ${text};`;
  const bytes = new TextEncoder().encode(`${robots}${response}text ${text};`);
  return { bytes, pageAt: Buffer.byteLength(robots), pageLength: Buffer.byteLength(response) };
};

/** Claim, and expect no visit, and none later. */
export const claimNothing = async (store: Store, changes: Partial<Ask> = {}): Promise<void> => {
  const { visits, nextDueAt } = await store.claim(ask(changes));
  assert.deepEqual({ visits, nextDueAt }, { visits: [], nextDueAt: null });
};

/** Claim everything that is due, and answer with the visits by site. */
export const claimBySite = async (store: Store, changes: Partial<Ask> = {}): Promise<Map<string, Visit>> => {
  const { visits } = await store.claim(ask(changes));
  return new Map(visits.map((visit) => [visit.site, visit]));
};

/** Claim, and expect one visit. */
export const claimOne = async (store: Store, changes: Partial<Ask> = {}): Promise<Visit> => {
  const { visits } = await store.claim(ask(changes));
  const [visit] = visits;
  if (!visit || visits.length > 1) throw new Error(`one visit was expected, ${visits.length} were given`);
  return visit;
};

/** Visit a site again and again until nothing of it waits, and answer with its paths in that order. */
export const visitAll = async ({ store, clock }: Scene): Promise<string[]> => {
  const paths: string[] = [];
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const { visits } = await store.claim(ask());
    if (visits.length === 0) return paths;
    paths.push(...visits.map((visit) => new URL(visit.link.url).pathname));
    await store.settle(visits.map((visit) => settlementOf(visit)));
    clock.advance(DELAY_MS);
  }
  throw new Error(`links still wait after ${ROUNDS_MAX} visits`);
};

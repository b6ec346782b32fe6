/** A crawl that has some of everything a store can hold, and the one form in which two crawls are compared. */

import assert from 'node:assert/strict';

import type { Found, FoundTally, StoredPage } from '../../src/contract/walk.ts';
import type { CanonicalUrl, Link } from '../../src/model/link.ts';
import type { RobotsRecord } from '../../src/model/robots.ts';
import type { Settlement } from '../../src/model/settlement.ts';
import type { Visit } from '../../src/model/visit.ts';
import type { Waiting } from '../../src/model/waiting.ts';
import { shardOf } from '../../src/url/shard.ts';
import { ask, DELAY_MS, link, linksOf, paceAfter, pageOf, recordsOf, settlementOf } from './store-scene.ts';
import type { Scene } from './store-scene.ts';

/** Far more than one piece of a queue has, and than lie together in any store. */
export const LONG = 1_200;
export const FAR_FUTURE = 9e12;

export const robotsOf = (origin: string, changes: Partial<RobotsRecord> = {}): RobotsRecord => ({
  origin,
  fetchedAt: 1_000,
  expiresAt: 2_000.5,
  verdict: 'rules',
  rules: '1 -/private\n2 +/ü"\\',
  crawlDelayMs: 1_500,
  failures: 3,
  ...changes,
});

/** Visits one link of one site, which must be due; what else is claimed on the way is given back. */
export const visitSite = async (
  { store, clock }: Scene,
  site: string,
  changes: (visit: Visit) => Partial<Settlement> = () => ({}),
): Promise<Visit> => {
  const { visits } = await store.claim(ask({ shards: [shardOf(site)] }));
  const mine = visits.find((visit) => visit.site === site);
  assert.ok(mine, `${site} is not due`);
  await store.settle(
    visits.map((visit) =>
      visit === mine
        ? settlementOf(visit, changes(visit))
        : settlementOf(visit, { fate: 'returned', pace: visit.pace }),
    ),
  );
  clock.advance(DELAY_MS);
  return mine;
};

/** Links of one site, each found on another page: where links of one page lie together, each lies alone. */
export const linksFromAfar = (site: string, count: number): Link[] =>
  linksOf(site, count).map((one, i) => ({ ...one, via: `https://v.example/ü/${i}`, depth: i % 4 }));

/** Visits a site for the last time: it is parked then, with the links that it has. */
export const park = (scene: Scene, site: string): Promise<Visit> =>
  visitSite(scene, site, (visit) => ({
    parked: true,
    pace: paceAfter(visit, { dueAt: FAR_FUTURE, failures: 6, responseMs: 0 }),
  }));

/** Sites that are due and have that many pages are held; those that have fewer stay as they are. */
export const holdFrom = async ({ store }: Scene, sitePagesMax: number): Promise<void> => {
  const { visits } = await store.claim(ask({ sitePagesMax: { all: sitePagesMax } }));
  await store.settle(visits.map((visit) => settlementOf(visit, { fate: 'returned', pace: visit.pace })));
};

/** Afterwards nothing is leased. */
export const makeEverything = async (scene: Scene): Promise<void> => {
  await makeQueues(scene);
  await makePages(scene);
  await scene.store.admit([...linksOf('parked.example', 3), link('parked-empty.example/1')]);
  await park(scene, 'parked.example');
  await park(scene, 'parked-empty.example');
  await scene.store.admit(linksOf('held.example', 4));
  await visitSite(scene, 'held.example', () => ({ records: recordsOf('held') }));
  await visitSite(scene, 'held.example');
  await visitSite(scene, 'held.example');
  await holdFrom(scene, 3);
  await scene.store.admit(linksOf('full.example', 5), 2);
  await scene.store.steer([
    { kind: 'mark', name: 'seeds', value: 7 },
    { kind: 'mark', name: 'other', value: 2 ** 40 },
  ]);
};

/** Queues that are long, half read, with retries, and with links of every kind. */
const makeQueues = async (scene: Scene): Promise<void> => {
  const { store } = scene;
  await store.admit(linksFromAfar('long.example', LONG));
  await visitSite(scene, 'long.example', (visit) => ({
    fate: 'retry',
    robots: robotsOf('https://long.example'),
    pace: paceAfter(visit, { delayMs: 7_000.5, crawlDelayMs: 1_500, responseMs: 12.25, failures: 2 }),
  }));
  await store.admit([link('long.example/first', { first: true, depth: 3 })]);
  await store.admit(linksOf('read.example', 6));
  await visitSite(scene, 'read.example', () => ({ records: recordsOf('read', 'robots;') }));
  await visitSite(scene, 'read.example', () => ({ fate: 'returned' }));
  const strange = (path: string, changes: Partial<Link> = {}): Link => link(`strange.example/${path}`, changes);
  await store.admit([
    strange('caf%C3%A9?q="x"', { hops: 5, via: 'https://v.example/"\'\\{}' }),
    strange('ü/🕸', { fallback: true }),
    strange('named.xml', { sitemap: 'named' }),
    strange('listed.xml', { sitemap: 'listed', depth: 1_000 }),
    strange('x', { url: 'http://www.strange.example:8080/x' as CanonicalUrl }),
    strange('first', { first: true }),
  ]);
};

/** Pages with and without a place, of every kind of outcome and with every kind of value. */
const makePages = async (scene: Scene): Promise<void> => {
  const { store } = scene;
  await store.admit(linksOf('pages.example', 7));
  const settle = (page: Parameters<typeof pageOf>[1], changes: Partial<Settlement> = {}): Promise<Visit> =>
    visitSite(scene, 'pages.example', (visit) => ({ page: pageOf(visit, page), ...changes }));
  await settle({ title: '{"},\\ «ünï» 🕸\n\t', extracted: '{"a":["\\"b\\"",null,1.5]}' }, { records: recordsOf('one') });
  await settle({ outcome: 'redirected', status: 301, redirect: 'https://c.example/ü', extracted: null });
  await settle({ outcome: 'server-error', status: 503, truncated: 'length', noindex: true, bytes: 2 ** 40 });
  await settle({ outcome: 'failed-dns', status: null, duration_ms: 12.25, detail: 'ENOTFOUND', digest: '' });
  await settle({ outcome: 'robots-denied', status: null, robots: '3: Disallow: /ü', via: 'https://v.example/ü' });
  await settle({ outcome: 'gave-up', status: null, tries: 8, time: 1.5 });
  await settle({}, { robots: robotsOf('https://pages.example', { verdict: 'all', rules: '', crawlDelayMs: null }) });
};

export interface Whole {
  readonly sites: Readonly<Record<string, { readonly found: object; readonly queue: readonly Waiting[] }>>;
  readonly robots: readonly RobotsRecord[];
  readonly pages: readonly object[];
  readonly seen: readonly bigint[];
  readonly tally: FoundTally | null;
  readonly wrong: readonly string[];
}

/**
 * All that was found, in one form: how it was cut into pieces does not count, nor the order of sites and of rules,
 * which a store may have lost, nor the numbers of rows, which only grow.
 */
export const wholeOf = (found: readonly Found[]): Whole => {
  const sites: Record<string, { found: object; queue: Waiting[] }> = {};
  const robots: RobotsRecord[] = [];
  const pages: StoredPage[] = [];
  const seen: bigint[] = [];
  const tallies: FoundTally[] = [];
  const wrong: string[] = [];
  let last = '';
  for (const one of found) {
    switch (one.kind) {
      case 'site':
        assert.ok(!Object.hasOwn(sites, one.site), `${one.site} comes twice`);
        sites[one.site] = { found: one, queue: [] };
        last = one.site;
        break;
      case 'queue':
        assert.equal(one.site, last, 'a queue follows its site');
        sites[one.site]!.queue.push(...one.links);
        break;
      case 'robots':
        robots.push(...one.records);
        break;
      case 'pages':
        pages.push(...one.pages);
        break;
      case 'seen':
        seen.push(...one.prints);
        break;
      case 'tally':
        tallies.push(one);
        break;
      case 'broken':
      case 'wrong':
        wrong.push(one.says);
        break;
      default:
        one satisfies never;
    }
  }
  assert.ok(tallies.length <= 1, 'one tally');
  for (const [i, { row }] of pages.entries()) assert.ok(row > (pages[i - 1]?.row ?? 0), `row ${row} is out of order`);
  return {
    sites: Object.fromEntries(Object.entries(sites).toSorted(([a], [b]) => (a < b ? -1 : 1))),
    robots: robots.toSorted((a, b) => (a.origin < b.origin ? -1 : 1)),
    pages: pages.map(({ row: _, mine: __, member: ___, ...page }) => page),
    seen: seen.toSorted((a, b) => (a < b ? -1 : 1)),
    tally: tallies[0] ?? null,
    wrong,
  };
};

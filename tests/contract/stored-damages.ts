/** What can be wrong with a stored crawl, and what the survey must say of it: a row each, the same for every store. */

import type { Fault } from '../../src/care/verify/survey.ts';
import { shardOf, SHARDS } from '../../src/url/shard.ts';
import { ask, linksOf, recordsOf, settlementOf, type Scene } from './store-scene.ts';
import { longRobots } from './store-rules.ts';
import { robotsOf } from './stored-everything.ts';
import type { StoredPlace } from './stored-scene.ts';
import type { Tamper } from './stored-tamper.ts';

/**
 * The crawl that damage is planted into. a.example has links 2 to 4 waiting, 1 settled, and rules; b.example has 1
 * leased and 2 waiting; p.example is parked with 2 and 3, h.example held with 2, i.example idle, with long rules. Four
 * pages in all.
 */
export const makeGround = async ({ store }: Scene): Promise<void> => {
  await store.admit([
    ...linksOf('a.example', 4),
    ...linksOf('b.example', 2),
    ...linksOf('p.example', 3),
    ...linksOf('h.example', 2),
    ...linksOf('i.example', 1),
  ]);
  const rulesOf = new Map([
    ['a.example', robotsOf('https://a.example')],
    ['i.example', longRobots('https://i.example')],
  ]);
  const { visits } = await store.claim(ask());
  await store.settle(
    visits
      .filter(({ site }) => site !== 'b.example')
      .map((visit) =>
        settlementOf(visit, {
          parked: visit.site === 'p.example',
          records: recordsOf(visit.site),
          pace: { ...visit.pace, dueAt: visit.claimedAt + (visit.site === 'h.example' ? 0 : 9_000), failures: 1 },
          robots: rulesOf.get(visit.site) ?? null,
        }),
      ),
  );
  await store.claim(ask({ sitePagesMax: { all: 1 } }));
};

/** A fault with at least these fields. */
export type Expected = { readonly kind: Fault['kind']; readonly says?: RegExp; readonly [field: string]: unknown };

export interface Damage {
  readonly title: string;
  readonly needs: keyof Tamper<StoredPlace>;
  readonly plant: (tamper: Tamper<StoredPlace>, place: StoredPlace) => unknown;
  /** Must be found. */
  readonly found?: readonly Expected[];
  /** May be found besides: it follows where the store has the counters for it. */
  readonly besides?: readonly Expected[];
  /** How many fingerprints no link has, and how many are there twice; null for any number. */
  readonly lost?: number | null;
  readonly repeated?: number;
}

const counts = (site: string, what: 'waiting' | 'pages', rest: object = {}): Expected => ({
  kind: 'count',
  site,
  what,
  ...rest,
});
const counter = (name: string, rest: object = {}): Expected => ({ kind: 'counter', name, ...rest });
const row = (says: RegExp): Expected => ({ kind: 'row', says });
const QUEUE_COUNTS = [counts('a.example', 'waiting'), counter('waiting')];
const PAGE_COUNTS = [counts('a.example', 'pages'), counter('settled fetched'), counter('pages')];

const SITE_DAMAGE: readonly Damage[] = [
  {
    title: 'a site that counts other waiting links than it has',
    needs: 'setWaiting',
    plant: ({ setWaiting }, place) => setWaiting(place, 'a.example', 7),
    found: [counts('a.example', 'waiting', { is: 3, said: 7 })],
  },
  {
    title: 'a site that counts other pages than it has',
    needs: 'setPages',
    plant: ({ setPages }, place) => setPages(place, 'a.example', 5),
    found: [counts('a.example', 'pages', { is: 1, said: 5 })],
    besides: [counter('pages')],
  },
  {
    title: 'a site with waiting links that is noted as idle',
    needs: 'setState',
    plant: ({ setState }, place) => setState(place, 'a.example', 'idle'),
    found: [{ kind: 'rest', site: 'a.example', waits: true }],
  },
  {
    title: 'a site without waiting links that is noted as waiting',
    needs: 'setState',
    plant: ({ setState }, place) => setState(place, 'i.example', 'waiting'),
    found: [{ kind: 'rest', site: 'i.example', waits: false }],
  },
  {
    title: 'a parked site that is noted as waiting',
    needs: 'setState',
    plant: ({ setState }, place) => setState(place, 'p.example', 'waiting'),
    found: [
      counter('parked', { is: 0, said: 2 }),
      counter('waiting', { is: 6, said: 4 }),
      counter('sites parked', { is: 0, said: 1 }),
    ],
  },
  {
    title: 'a held site that is noted as parked',
    needs: 'setState',
    plant: ({ setState }, place) => setState(place, 'h.example', 'parked'),
    found: [
      counter('held', { is: 0, said: 1 }),
      counter('parked', { is: 3, said: 2 }),
      counter('sites held', { is: 0, said: 1 }),
      counter('sites parked', { is: 2, said: 1 }),
    ],
  },
  {
    title: 'a site that is noted as leased without a link',
    needs: 'setState',
    plant: ({ setState }, place) => setState(place, 'a.example', 'leased'),
    found: [row(/a\.example is leased without a link/)],
    besides: [counter('leased')],
  },
  {
    title: 'a leased link of a site that is not noted as leased',
    needs: 'setState',
    plant: ({ setState }, place) => setState(place, 'b.example', 'waiting'),
    found: [row(/b\.example is not leased, but has a leased link/)],
    besides: [counter('leased')],
  },
  {
    title: 'a site in a state that does not exist',
    needs: 'setState',
    plant: ({ setState }, place) => setState(place, 'i.example', null),
    found: [row(/i\.example has an unknown state/)],
  },
  {
    title: 'a site that lies in the shard of others',
    needs: 'setShard',
    plant: ({ setShard }, place) => setShard(place, 'i.example', (shardOf('i.example') + 1) % SHARDS),
    found: [row(/i\.example is in shard \d+, but belongs to/)],
  },
  {
    title: 'a lease whose link is lost',
    needs: 'loseLease',
    plant: ({ loseLease }, place) => loseLease(place, 'b.example'),
    found: [row(/b\.example is leased without a link/)],
    besides: [counter('leased')],
    lost: 1,
  },
  {
    title: 'a leased link that cannot be read',
    needs: 'breakLease',
    plant: ({ breakLease }, place) => breakLease(place, 'b.example'),
    found: [row(/leased link of the site b\.example cannot be read/)],
    besides: [counter('leased')],
    lost: 1,
  },
];

const LINK_DAMAGE: readonly Damage[] = [
  {
    title: 'a link that is lost from its queue',
    needs: 'loseLink',
    plant: ({ loseLink }, place) => loseLink(place, 'a.example', 'https://a.example/3'),
    besides: QUEUE_COUNTS,
    lost: 1,
  },
  {
    title: 'a link that waits twice',
    needs: 'addLink',
    plant: ({ addLink }, place) => addLink(place, 'a.example', 'https://a.example/2'),
    found: [{ kind: 'link-twice', url: 'https://a.example/2', site: 'a.example', row: null }],
    besides: QUEUE_COUNTS,
  },
  {
    title: 'a link that waits at two sites',
    needs: 'addLink',
    plant: ({ addLink }, place) => addLink(place, 'a.example', 'https://p.example/2'),
    found: [{ kind: 'link-twice', url: 'https://p.example/2', row: null }],
    besides: QUEUE_COUNTS,
  },
  {
    title: 'a settled link that waits, too',
    needs: 'addLink',
    plant: ({ addLink }, place) => addLink(place, 'a.example', 'https://a.example/1'),
    found: [{ kind: 'link-twice', url: 'https://a.example/1', site: 'a.example', row: null }],
    besides: QUEUE_COUNTS,
  },
  {
    title: 'a leased link that waits, too',
    needs: 'addLink',
    plant: ({ addLink }, place) => addLink(place, 'b.example', 'https://b.example/1'),
    found: [{ kind: 'link-twice', url: 'https://b.example/1', site: 'b.example', row: null }],
    besides: [counts('b.example', 'waiting'), counter('waiting')],
  },
  {
    title: 'a link that waits and was never known',
    needs: 'addLink',
    plant: ({ addLink }, place) => addLink(place, 'a.example', 'https://a.example/never'),
    found: [{ kind: 'link-unseen', url: 'https://a.example/never', site: 'a.example', row: null }],
    besides: QUEUE_COUNTS,
  },
  {
    title: 'a queue that cannot be read',
    needs: 'breakQueue',
    plant: ({ breakQueue }, place) => breakQueue(place, 'a.example'),
    found: [{ kind: 'queue', site: 'a.example' }],
    besides: [...QUEUE_COUNTS, { kind: 'rest', site: 'a.example' }],
    lost: null,
  },
  {
    title: 'a waiting link whose fingerprint is gone',
    needs: 'forgetUrl',
    plant: ({ forgetUrl }, place) => forgetUrl(place, 'https://a.example/3'),
    found: [{ kind: 'link-unseen', url: 'https://a.example/3', site: 'a.example', row: null }],
  },
  {
    title: 'a settled link whose fingerprint is gone',
    needs: 'forgetUrl',
    plant: ({ forgetUrl }, place) => forgetUrl(place, 'https://i.example/1'),
    found: [{ kind: 'link-unseen', url: 'https://i.example/1', site: 'i.example' }],
  },
  {
    title: 'a fingerprint that no link has',
    needs: 'addUrl',
    plant: ({ addUrl }, place) => addUrl(place, 'https://a.example/nowhere'),
    lost: 1,
  },
  {
    title: 'a fingerprint that is there twice',
    needs: 'repeatUrl',
    plant: ({ repeatUrl }, place) => repeatUrl(place, 'https://a.example/3'),
    repeated: 1,
  },
  {
    title: 'a block of links that is in no queue',
    needs: 'addStrayBlock',
    plant: ({ addStrayBlock }, place) => addStrayBlock(place, 'a.example'),
    found: [{ kind: 'wrong', repair: 'stray-blocks' }],
  },
];

const ROW_DAMAGE: readonly Damage[] = [
  {
    title: 'a page whose row is gone',
    needs: 'losePage',
    plant: ({ losePage }, place) => losePage(place, 'https://a.example/1'),
    found: [counts('a.example', 'pages', { is: 0, said: 1 }), counter('settled fetched', { is: 3, said: 4 })],
    lost: 1,
  },
  {
    title: 'a page that is settled twice',
    needs: 'repeatPage',
    plant: ({ repeatPage }, place) => repeatPage(place, 'https://a.example/1'),
    found: [
      { kind: 'link-twice', url: 'https://a.example/1', site: 'a.example' },
      counts('a.example', 'pages', { is: 2, said: 1 }),
      counter('settled fetched', { is: 5, said: 4 }),
    ],
  },
  {
    title: 'a page of a site that is not there',
    needs: 'orphanPage',
    plant: ({ orphanPage }, place) => orphanPage(place, 'https://a.example/1'),
    found: [{ kind: 'wrong' }],
    besides: PAGE_COUNTS,
    lost: null,
  },
  {
    title: 'a page whose row has the key of another URL',
    needs: 'misplacePage',
    plant: ({ misplacePage }, place) => misplacePage(place, 'https://a.example/1'),
    found: [{ kind: 'wrong', says: /https:\/\/a\.example\/1/ }],
    besides: PAGE_COUNTS,
    lost: null,
  },
  {
    title: 'rules that cannot be read',
    needs: 'breakRobots',
    plant: ({ breakRobots }, place) => breakRobots(place, 'https://a.example'),
    found: [{ kind: 'wrong', says: /https:\/\/a\.example/ }],
  },
  {
    title: 'a text of long rules that is missing',
    needs: 'loseRules',
    plant: ({ loseRules }, place) => loseRules(place, 'https://i.example'),
    found: [{ kind: 'wrong', says: /robots rules of https:\/\/i\.example is missing/ }],
  },
];

const PAGE_COUNTERS = { pages: 4, 'settled fetched': 4, 'settled gave-up': 0 } as const;
const LINK_COUNTERS = { waiting: 4, parked: 2, held: 1 } as const;
const SITE_COUNTERS = { sites: 5, 'sites parked': 1, 'sites held': 1 } as const;

const namesIn = <Name extends string>(counters: Readonly<Record<Name, number>>): Name[] =>
  Object.keys(counters) as Name[];
const wrongCounter = (name: string, is: number): Pick<Damage, 'title' | 'found'> => ({
  title: `a counter "${name}" that is wrong`,
  found: [counter(name, { is, said: is + 3 })],
});

const COUNTER_DAMAGE: readonly Damage[] = [
  ...namesIn(PAGE_COUNTERS).map(
    (name): Damage => ({
      ...wrongCounter(name, PAGE_COUNTERS[name]),
      needs: 'addToPages',
      plant: ({ addToPages }, place) => addToPages(place, name, 3),
    }),
  ),
  ...namesIn(LINK_COUNTERS).map(
    (name): Damage => ({
      ...wrongCounter(name, LINK_COUNTERS[name]),
      needs: 'addToLinks',
      plant: ({ addToLinks }, place) => addToLinks(place, name, 3),
    }),
  ),
  ...namesIn(SITE_COUNTERS).map(
    (name): Damage => ({
      ...wrongCounter(name, SITE_COUNTERS[name]),
      needs: 'addToSites',
      plant: ({ addToSites }, place) => addToSites(place, name, 3),
    }),
  ),
];

export const DAMAGES: readonly Damage[] = [...SITE_DAMAGE, ...LINK_DAMAGE, ...ROW_DAMAGE, ...COUNTER_DAMAGE];

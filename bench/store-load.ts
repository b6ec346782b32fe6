/** A crawl's work for a store, without a web: links as pages give them, visits that end at once. */

import type { Store } from '../src/contract/store.ts';
import type { CanonicalUrl, Link } from '../src/model/link.ts';
import type { Settlement } from '../src/model/settlement.ts';
import type { Visit } from '../src/model/visit.ts';
import { SHARDS } from '../src/url/shard.ts';

export const ALL_SHARDS = Array.from({ length: SHARDS }, (_, shard) => shard);
/** A page gives its own site so many new links, and other sites some. */
const OWN_LINKS = 8;
const OTHER_LINKS = 4;
const PAGES_PER_BATCH = 40;
export const LINKS_PER_BATCH = PAGES_PER_BATCH * (OWN_LINKS + OTHER_LINKS);
export const VISITS_PER_BATCH = 100;

export interface StoreLoad {
  /** Admits one link of every site, as seeds. */
  seed(): Promise<void>;
  /** Admits one batch of links that nobody has seen. */
  admit(): Promise<void>;
  /** Claims a batch of visits; the oldest batch that was claimed is settled by the next `settle`. */
  claim(): Promise<number>;
  settle(): Promise<number>;
  /** The links of one page, so many, that nobody has seen. */
  fresh(count: number): Link[];
}

/** The same links and visits for the same number of sites, whatever the store. It may be opened anew in between. */
export const createStoreLoad = (store: () => Pick<Store, 'admit' | 'claim' | 'settle'>, sites: number): StoreLoad => {
  let next = 0;
  let state = 12345;
  /** xorshift32, so that every store gets the same sites in the same order. */
  const dice = (below: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  /** The square makes some sites hot, as on the real web. */
  const someSite = (): number => Math.floor((dice(sites) * dice(sites)) / sites);
  const linkTo = (site: number, via: string): Link => ({
    url: `https://www.site-${site}.example/section/page-${next++}.html` as CanonicalUrl,
    site: `site-${site}.example`,
    depth: 2,
    via,
    hops: 0,
    fallback: false,
    first: false,
  });
  const leased: (readonly Visit[])[] = [];
  return {
    seed: async () => {
      for (let site = 0; site < sites; site += LINKS_PER_BATCH) {
        await store().admit(
          Array.from({ length: Math.min(LINKS_PER_BATCH, sites - site) }, (_, i) => linkTo(site + i, '')),
        );
      }
    },
    admit: async () => {
      const links: Link[] = [];
      for (let page = 0; page < PAGES_PER_BATCH; page++) {
        const home = someSite();
        const via = `https://www.site-${home}.example/section/page-${next}.html`;
        for (let i = 0; i < OWN_LINKS; i++) links.push(linkTo(home, via));
        for (let i = 0; i < OTHER_LINKS; i++) links.push(linkTo(someSite(), via));
      }
      await store().admit(links);
    },
    claim: async () => {
      const { visits } = await store().claim({
        holder: 'bench',
        shards: ALL_SHARDS,
        visits: VISITS_PER_BATCH,
        delayMs: 0,
        pagesMax: null,
        sitePagesMax: { all: null },
        leaseMs: null,
      });
      leased.push(visits);
      return visits.length;
    },
    settle: async () => (await store().settle((leased.shift() ?? []).map(settled))).settled,
    fresh: (count) => {
      const via = `https://www.site-${someSite()}.example/section/page-${next}.html`;
      return Array.from({ length: count }, () => linkTo(someSite(), via));
    },
  };
};

export const settled = (visit: Visit): Settlement => ({
  site: visit.site,
  lease: visit.lease,
  fate: 'settled',
  records: null,
  parked: false,
  robots: null,
  pace: { dueAt: visit.claimedAt, delayMs: 0, crawlDelayMs: 0, responseMs: 50, failures: 0 },
  page: {
    url: visit.link.url,
    site: visit.site,
    outcome: 'fetched',
    status: 200,
    time: visit.claimedAt,
    duration_ms: 80,
    content_type: 'text/html; charset=utf-8',
    bytes: 60_000,
    title: 'A page of a site, with a title of common length',
    language: 'en',
    redirect: '',
    digest: 'sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    truncated: '',
    noindex: false,
    depth: visit.link.depth,
    via: visit.link.via,
    tries: visit.tries,
    robots: 'no rule applies',
    detail: '192.0.2.1',
    extracted: null,
    tls: '',
    charset: 'utf-8',
    charset_guessed: false,
  },
});

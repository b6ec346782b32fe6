/**
 * The contract of a store: the crawl's memory, in six verbs.
 *
 * Every verb takes a batch and is atomic: all of it happened or none of it, and what has been
 * answered survives the death of the process. A link is in exactly one state: waiting, leased,
 * settled, parked or held. The store's clock is the crawl's time.
 *
 * A store that cannot do its work throws a StoreFault and has then done nothing.
 */

import type { Census } from '../model/census.ts';
import type { Link } from '../model/link.ts';
import type { RobotsRecord } from '../model/robots.ts';
import type { PlacedPage, Settlement } from '../model/settlement.ts';
import type { Visit } from '../model/visit.ts';

export interface Store {
  /**
   * Take in links that were never seen; the others are left alone. A new link waits at the end of
   * its site's line (with `first`, at its head); links to a parked or held site share its state.
   * Order within a batch is kept. Admitting never changes when a site may be called: a site that
   * is new may be called at once, a known one when its clock allows.
   *
   * A site whose line has `siteWaitingMax` links takes no more at its end: those are counted and forgotten, so
   * that a later page can bring them again. A link that goes first is taken all the same.
   */
  admit(links: readonly Link[], siteWaitingMax?: number | null): Promise<Admitted>;

  /**
   * Lease due sites to the holder, one link each, those that are due longest first within a shard.
   * A site is due when it has a waiting link, no lease, is neither parked nor held, and its clock
   * allows. The claim moves the clock: `dueAt` becomes now + the delay in force (or the
   * default delay for a site never visited), counts a try, and answers with the pace as it was
   * before. No more leases are given than `pagesMax` leaves room for, those under way included;
   * a site that reached `sitePagesMax` is held instead.
   */
  claim(ask: Ask): Promise<Claimed>;

  /**
   * End leases. Records are appended to the archive first, then everything else happens in one
   * step. A settlement whose lease is not in force is refused: it changes nothing, and its record is not kept.
   */
  settle(settlements: readonly Settlement[]): Promise<Settled>;

  /** What a person or the supervisor changes. */
  steer(orders: readonly Order[]): Promise<void>;

  census(): Promise<Census>;

  /** End all use; what was answered is kept. Leases stay, to be freed when the store is opened. */
  close(): Promise<void>;
}

export interface Admitted {
  readonly admitted: number;
  readonly seen: number;
  /** Not taken, because the line of their site is full. */
  readonly forgotten: number;
  /** The sites of those. */
  readonly full: readonly string[];
}

export interface Ask {
  /** Who claims, so that its leases can be freed when it dies: `fetch-1`. */
  readonly holder: string;
  readonly shards: readonly number[];
  /** How many visits at the most. */
  readonly visits: number;
  /** The delay for a site that was never visited. */
  readonly delayMs: number;
  readonly pagesMax: number | null;
  readonly sitePagesMax: number | null;
  /**
   * How long the leases hold by the store's time; after that the store frees them as `free` does, counted.
   * Null where one process owns the store: there a lease ends with its holder.
   */
  readonly leaseMs: number | null;
}

export interface Claimed {
  readonly visits: readonly Visit[];
  /** When the next site of these shards is due, if it is known; null when none waits. */
  readonly nextDueAt: number | null;
}

export interface Settled {
  readonly settled: number;
  readonly refused: number;
  /** Which of the batch were refused, if some were: their places in it, from 0. */
  readonly refusedAt?: readonly number[];
}

/** What became of a batch of which those are settled. */
export const settledOf = (
  settlements: readonly Settlement[],
  isSettled: (settlement: Settlement) => boolean,
): Settled => {
  const refusedAt = settlements.flatMap((one, i) => (isSettled(one) ? [] : [i]));
  const refused = refusedAt.length;
  return { settled: settlements.length - refused, refused, ...(refused > 0 ? { refusedAt } : {}) };
};

export type Order =
  /** Free the leases of a holder that died, or of all (null). Its links go back to the head of
   *  their lines; a link claimed `CLAIMS_MAX` times is settled as `gave-up`. Each site waits a
   *  full delay from now, because its call may just have left. With `counted` false (the holder
   *  was stopped on purpose) the claim is taken back from the link's tries; where it is known of which
   *  lease the holder died, from those of all other links. */
  | { readonly kind: 'free'; readonly holder: string | null; readonly counted: boolean; readonly culprit?: number }
  /** Parked sites may be called again, from now on, with no failures. */
  | { readonly kind: 'retry-parked' }
  /** Held sites below this budget wait again; null lifts it. */
  | { readonly kind: 'release-held'; readonly sitePagesMax: number | null }
  /** Remember how far one-time work has come. */
  | { readonly kind: 'mark'; readonly name: string; readonly value: number };

/**
 * Reading for people: short transactions, while the crawl runs or after. The store may be far away, so an answer may be
 * one to wait for.
 */
export type Reader = {
  readonly [K in keyof LocalReader]: (...args: Parameters<LocalReader[K]>) => Away<ReturnType<LocalReader[K]>>;
};

type Away<T> = [T] extends [readonly unknown[]]
  ? T | Promise<T>
  : [T] extends [Iterable<infer Item>]
    ? Iterable<Item> | AsyncIterable<Item>
    : T | Promise<T>;

/** The same from a store on this machine. */
export interface LocalReader {
  census(): Census;
  /** Settled links in the order they were settled. */
  pages(filter: PageFilter): Iterable<PlacedPage>;
  /** Those behind that row, some at a time; a filter's limit is for this slice. */
  pagesAfter(row: number, filter: PageFilter): PageSlice;
  /** The row of the link settled last; 0 before the first. */
  lastRow(): number;
  page(url: string, site: string): PlacedPage | null;
  /** Whether the link is in its site's line: waiting, parked or held, as the site is. */
  isWaiting(url: string, site: string): boolean;
  /** All that is known of one link and its site, at one moment. */
  link(url: string, site: string): LinkView;
  /** What is known of a site; null when nothing is. */
  site(name: string): SiteView | null;
  /** Sites in the order asked for; without one, as they were found. */
  sites(query: SiteQuery): Iterable<SiteView>;
  /** How many sites there are whose name has this text in it. */
  sitesCount(search: string): number;
  /** The rules of these origins in their order, fresh or stale; null for one whose rules were never read. */
  robots(origins: readonly string[]): readonly (RobotsRecord | null)[];
  /** The last settled page of a site that tells of its trouble; null when there is none. */
  lastFailure(site: string): PlacedPage | null;
  close(): void;
}

export interface PageSlice {
  readonly pages: readonly PlacedPage[];
  /** Where to go on. */
  readonly row: number;
}

export interface PageFilter {
  readonly site?: string;
  readonly status?: number;
  readonly outcome?: string;
  readonly limit?: number;
}

export interface SiteView {
  readonly site: string;
  readonly state: 'waiting' | 'leased' | 'parked' | 'held' | 'idle';
  readonly waiting: number;
  readonly pages: number;
  readonly dueAt: number;
  readonly delayMs: number;
  /** The longest Crawl-delay that it asked for; 0 for none. */
  readonly crawlDelayMs: number;
  /** Troubles in a row. */
  readonly failures: number;
  /** The URL under visit; empty when there is none. */
  readonly leased: string;
  /**
   * The link under visit or first in line, or else one of its pages: the site's next call asks its origin. Empty for
   * none.
   */
  readonly next: string;
}

export const SITE_SORTS = {
  waiting: 'most links waiting first',
  pages: 'most pages first',
  failures: 'most failures in a row first',
  next: 'those called next first',
  name: 'by name',
  delay: 'longest delay first',
} as const;

export type SiteSort = keyof typeof SITE_SORTS;

/** Sites that one sorted list can have: they are sorted, and read, in one go. */
export const SITES_SORTED_MAX = 10_000;

export interface SiteQuery {
  /** Only sites whose name has this text in it. */
  readonly search?: string;
  readonly sort?: SiteSort;
  /** With `sort` at most SITES_SORTED_MAX, which is then also what no limit means. */
  readonly limit?: number;
}

export interface LinkView {
  /** `unknown`: it is not in the crawl, or too far behind in a line that is longer than can be looked through. */
  readonly state: 'settled' | 'leased' | 'waiting' | 'parked' | 'held' | 'unknown';
  /** Of a settled link. */
  readonly page: PlacedPage | null;
  /** Of a leased link and of one in line. */
  readonly open: OpenLink | null;
  readonly site: SiteView | null;
  /** Links of the site's line that were looked at. */
  readonly lookedAt: number;
}

export interface OpenLink {
  readonly link: Link;
  /** How often it was claimed. */
  readonly tries: number;
  /** Links before it in the line. */
  readonly ahead: number;
}

export type { Archive } from '../archive/archive.ts';

/** A store that cannot go on; `advice` says what a person can do. */
export class StoreFault extends Error {
  readonly advice: string;
  constructor(message: string, advice: string, cause?: unknown) {
    super(message, { cause });
    this.advice = advice;
  }
}

/** A failed link is given up after this many tries. */
export const TRIES_MAX = 3;
/** A link whose visit the crawl did not survive is given up after this many claims. */
export const CLAIMS_MAX = 8;

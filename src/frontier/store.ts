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
import type { PlacedPage, Settlement } from '../model/settlement.ts';
import type { Visit } from '../model/visit.ts';

export interface Store {
  /**
   * Take in links that were never seen; the others are left alone. A new link waits at the end of
   * its site's line (with `first`, at its head); links to a parked or held site share its state.
   * Order within a batch is kept. Admitting never changes when a site may be called: a site that
   * is new may be called at once, a known one when its clock allows.
   */
  admit(links: readonly Link[]): Promise<Admitted>;

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
}

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

/** Reading for people: short transactions, while the crawl runs or after. */
export interface Reader {
  census(): Census;
  /** Settled links in the order they were settled. */
  pages(filter: PageFilter): Iterable<PlacedPage>;
  page(url: string, site: string): PlacedPage | null;
  /** Whether the link is in its site's line: waiting, parked or held, as the site is. */
  isWaiting(url: string, site: string): boolean;
  /** What is known of a site; null when nothing is. */
  site(name: string): SiteView | null;
  close(): void;
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
  readonly failures: number;
  /** The URL under visit; empty when there is none. */
  readonly leased: string;
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

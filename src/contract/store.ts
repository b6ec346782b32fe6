/**
 * The contract of a store: the crawl's memory, in six verbs, two reads, and a beat.
 *
 * Every verb takes a batch and is atomic: all of it happened or none of it, and what has been
 * answered survives the death of the process. A link is in exactly one state: waiting, leased,
 * settled, parked or held. The store's clock is the crawl's time.
 *
 * A store that cannot do its work throws a StoreFault and has then done nothing.
 */

import type { Census } from '../model/census.ts';
import type { Beat, Entry, NewEntry } from './journal.ts';
import type { Link } from '../model/link.ts';
import type { SitePagesMax } from '../model/site-budget.ts';
import type { Settlement } from '../model/settlement.ts';
import type { Visit } from '../model/visit.ts';

export interface Store {
  /**
   * Take in links that were never seen; the others are left alone. A new link waits at the end of
   * its site's queue (with `first`, at its head); links to a parked or held site share its state.
   * Order within a batch is kept. Admitting never changes when a site may be visited: a site that
   * is new may be visited at once, a known one when its clock allows.
   *
   * A site whose queue has `siteWaitingMax` links takes no more at its end: those are counted and forgotten, so
   * that a later page can bring them again. A link that goes first is taken all the same.
   */
  admit(links: readonly Link[], siteWaitingMax?: number | null): Promise<Admitted>;

  /**
   * Lease due sites to the holder, one link each, those that are due longest first within a shard.
   * A site is due when it has a waiting link, no lease, is neither parked nor held, and its clock
   * allows. The claim moves the clock: `dueAt` becomes now + the delay in force (or the
   * default delay for a site never visited), counts a try, and answers with the pace as it was
   * before. No more leases are given than `pagesMax` leaves room for, those under way included;
   * a site that reached its budget in `sitePagesMax` is held instead. A queue beside a site is claimed as
   * a site is (see url/side-queue.ts).
   */
  claim(ask: Ask): Promise<Claimed>;

  /**
   * End leases. Records are appended to the archive first, then everything else happens in one
   * step. A settlement whose lease is not in force is refused: it changes nothing, and its record is not kept.
   *
   * A link that goes to another queue (`to`) shares the state of that queue from then on. A queue that is made for it
   * is no new site: it is not among those that the census knows.
   */
  settle(settlements: readonly Settlement[]): Promise<Settled>;

  /** What a person or the supervisor changes. */
  steer(changes: readonly Change[]): Promise<void>;

  census(): Promise<Census>;

  /**
   * The text of long rules that a visit to that site was given by name (model/long-rules.ts); null when the store does
   * not have it. A claim brings no rules of more than RULES_CARRIED_MAX characters, whatever was settled. A text is
   * stored once for all origins that have it, and stays when none has it any more.
   */
  rules(digest: string, site: string): Promise<string | null>;

  /**
   * This member lives. To be called every BEAT_MS (model/pulse.ts) while it works; a store that is shared does here
   * what nobody else can: it frees the leases of members that died, and puts right what it forgot in a failover.
   */
  beat(): Promise<Beat>;

  /** Entries of the journal after that number, in order, some hundred at the most. */
  journal(after: number): Promise<readonly Entry[]>;

  /** End all use; what was answered is kept. Leases stay, to be freed when the store is opened. */
  close(): Promise<void>;
}

export interface Admitted {
  readonly admitted: number;
  readonly seen: number;
  /** Not taken, because the queue of their site is full. */
  readonly forgotten: number;
  /** Sites whose queue is full. */
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
  readonly sitePagesMax: SitePagesMax;
  /**
   * How long the leases hold by the store's time, where processes share it; after that the store frees them as `free`
   * does, counted. Null for ever. Where one process owns the store, a lease holds as long as its holder lives.
   */
  readonly leaseMs: number | null;
}

export interface Claimed {
  readonly visits: readonly Visit[];
  /** When the next site of these shards is due, if it is known; null when none waits. */
  readonly nextDueAt: number | null;
  /** The number of the last entry of the journal when these leases were given. */
  readonly entry: number;
  /** The term in which they were given; see Beat. */
  readonly term: number;
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

/** What `steer` changes: what a person orders, and what the supervisor sees to. */
export type Change = Order | Upkeep;

/** What a person changes. */
export type Order =
  /** Parked queues are claimed again, from now on, with no failures. */
  | { readonly kind: 'retry-parked' }
  /** Queues of links that were not wanted wait again, but for those that this scope refused (url/side-queue.ts). */
  | { readonly kind: 'release-refused'; readonly scope: string }
  /** Held sites that have fewer pages than their budget wait again. */
  | { readonly kind: 'release-held'; readonly sitePagesMax: SitePagesMax }
  /** Write an entry to the journal, unless one with its id is there. */
  | { readonly kind: 'write'; readonly entry: NewEntry };

/** What the supervisor does to keep the crawl going. */
export type Upkeep =
  /**
   * Free the leases of a holder that died, or of all (null). Its links go back to the head of their queues; a link
   * claimed `CLAIMS_MAX` times is settled as `gave-up`. Each site waits a full delay from now, because its request may
   * just have left. With `counted` false (the holder was stopped on purpose) the claim is taken back from the link's
   * tries; where it is known of which lease the holder died, from those of all other links.
   */
  | { readonly kind: 'free'; readonly holder: string | null; readonly counted: boolean; readonly culprit?: number }
  /** Remember how far one-time work has come. */
  | { readonly kind: 'mark'; readonly name: string; readonly value: number };

/** A failed link is given up after this many tries. */
export const TRIES_MAX = 3;
/** A link whose visit the crawl did not survive is given up after this many claims. */
export const CLAIMS_MAX = 8;

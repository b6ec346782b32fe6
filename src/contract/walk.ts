/** What a walk over a stored crawl meets, in words that every store shares. */

import type { ArchiveEnd } from '../model/census.ts';
import type { PageRow } from '../model/page.ts';
import type { Entry } from './journal.ts';
import type { RobotsRecord } from '../model/robots.ts';
import type { Pace } from '../model/visit.ts';
import type { Waiting } from '../model/waiting.ts';
import type { SiteState } from './views.ts';

/**
 * What can be asked for: the store's own check of itself, the fingerprints of all known URLs, settled pages, sites with
 * their queues, robots rules, and what rows do not tell.
 */
export type WalkPart = 'self' | 'seen' | 'pages' | 'sites' | 'robots' | 'tally';

export type Found =
  /** Something that the survey cannot see for itself; `isFatal` when nothing else can be trusted. */
  | { readonly kind: 'wrong'; readonly says: string; readonly isFatal?: boolean; readonly repair?: WrongRepair }
  | { readonly kind: 'seen'; readonly prints: BigUint64Array }
  /** Settled pages in the order they were settled. */
  | { readonly kind: 'pages'; readonly pages: readonly StoredPage[] }
  | FoundSite
  /** Links of the site before, in the order of its queue; several may follow one another. */
  | { readonly kind: 'queue'; readonly site: string; readonly links: readonly Waiting[] }
  /** The queue of the site before is broken here: what is left of it cannot be read. */
  | { readonly kind: 'broken'; readonly site: string; readonly says: string }
  | { readonly kind: 'robots'; readonly records: readonly RobotsRecord[] }
  | FoundTally;

/** What a repair would have to look at because of it. */
export type WrongRepair = 'stray-blocks' | 'page-keys';

export interface FoundSite {
  readonly kind: 'site';
  readonly site: string;
  /** Null for a number or letter that no state has. */
  readonly state: SiteState | null;
  readonly shard: number;
  /** What the site itself counts. */
  readonly waiting: number;
  readonly pages: number;
  readonly pace: Pace;
  /** The link under visit: null when there is none, `unreadable` when it cannot be read. */
  readonly leased: Waiting | 'unreadable' | null;
}

export interface FoundTally {
  readonly kind: 'tally';
  readonly forgotten: number;
  readonly archivedBytes: number;
  /** Where the settled part of this member's archive ends. */
  readonly archive: ArchiveEnd;
  readonly marks: Readonly<Record<string, number>>;
  readonly notes: Readonly<Record<string, string>>;
  /** All entries, in order. */
  readonly journal: readonly Entry[];
  /** Other members that settled pages whose rows, or whose archive, are not at hand. */
  readonly elsewhere: readonly string[];
  /** Bytes of this member's archive that belong to no page, as its next start will list them. */
  readonly dead: readonly DeadRecords[];
}

/** A settled page with its row number in the store. */
export type StoredPage = PageRow & {
  readonly row: number;
  /** Whether the records of the page are in this member's archive. */
  readonly mine: boolean;
  /** The member that settled it, where a crawl can have several. */
  readonly member?: string;
};

/** Bytes of the archive that belong to no page: their settlement was refused, and others lie after them already. */
export interface DeadRecords {
  readonly file: string;
  readonly offset: number;
  readonly bytes: number;
}

/**
 * What moves from one store to another. A site comes before its queue and its pages; no link is leased. The
 * fingerprints of known URLs are not among them: they are those of all links and pages.
 */
export type Piece = Extract<Found, { kind: 'site' | 'queue' | 'robots' | 'pages' | 'tally' }>;

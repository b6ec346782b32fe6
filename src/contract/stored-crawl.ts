/**
 * The second contract of a store: a crawl that is looked at, checked or moved, not worked on.
 *
 * Whoever holds it takes no lease and writes no archive. Reads are short: a crawl that runs is not held up.
 */

import type { ArchiveEnd, Census } from '../model/census.ts';
import type { PageRow } from '../model/page.ts';
import type { RobotsRecord } from '../model/robots.ts';
import type { Entry, MemberAbout, MemberView, NewEntry } from './journal.ts';
import type { Mending } from './mending.ts';
import type { LinkView, PageFilter, SiteQuery, SiteView } from './views.ts';
import type { Found, Piece, WalkPart } from './walk.ts';

export interface StoredCrawl {
  /** The counters of the crawl, and the end of this member's archive. */
  census(): Promise<Census>;

  /** One link and its site at one moment; the link is looked for in the site's queue where it is not settled. */
  link(url: string, site: string): Promise<LinkView>;

  /** Sites in the order asked for; without one, as they were found. */
  sites(query: SiteQuery): AsyncIterable<SiteView>;

  /** The robots rules of these origins in their order, fresh or stale; null for one whose rules were never read. */
  robots(origins: readonly string[]): Promise<readonly (RobotsRecord | null)[]>;

  /** Settled links after that row, some at a time, in the order they were settled. */
  pagesAfter(row: number, filter: PageFilter): Promise<PageSlice>;

  /** A text that the crawl keeps for those who join it; null when there is none, or no such crawl. */
  note(name: string): Promise<string | null>;

  /** Writes a note unless there is one, and gives what is there then. Makes the crawl if it is new. */
  keepNote(name: string, text: string): Promise<string>;

  /** Entries of the journal after that number, in order, some hundred at the most; none where there is no crawl. */
  journal(after: number): Promise<readonly Entry[]>;

  /** Writes an entry unless one with its id is there, and gives its number. Makes the crawl if it is new. */
  write(entry: NewEntry): Promise<number>;

  /** All who took part, in the order in which they came. */
  members(): Promise<readonly MemberView[]>;

  /**
   * Everything of these parts that lies in the store, each thing once, in the order of the parts and in little memory.
   * No member may be at work. What cannot be read, and what only the store itself can see to be wrong, is told as
   * `wrong`.
   */
  walk(parts: readonly WalkPart[]): AsyncIterable<Found>;

  /**
   * Begins to fill a new crawl from the pieces of another; what an earlier try left is removed. Throws a StoreFault
   * when a whole crawl is there. `members` has all whose pages come, in their order, where there are several: the rows
   * of each go where they belong.
   */
  fill(members?: readonly FilledMember[]): Promise<Filling>;

  /** Puts right what a walk found wrong, in one step, where the store can; see `care/verify`. */
  readonly repair?: (plan: RepairPlan, onProgress: (linksDone: number) => void) => Promise<Repaired>;

  /** How it is put right where its store is shared, and `repair` is not there. */
  readonly mend?: Mending;

  close(): Promise<void>;
}

/** A slice of the settled links. */
export interface PageSlice {
  readonly pages: readonly PageRow[];
  /** The row to go on after. */
  readonly row: number;
  /** The last row there is: those that come later are settled later. */
  readonly end: number;
}

/** A member that moves with its crawl. */
export interface FilledMember {
  readonly member: string;
  readonly dir: string;
  /** Where the settled part of its archive ends. */
  readonly archive: ArchiveEnd;
  readonly about: MemberAbout | null;
}

/** A crawl on its way in; worth nothing until it has ended. */
export interface Filling {
  /** In the order in which a walk gives them: sites with their queues, robots rules, pages, the tally last. */
  take(pieces: readonly Piece[]): Promise<void>;
  /** The crawl is whole, and on disk, from here on. */
  end(): Promise<void>;
  /** Gives up what is not whole. */
  close(): Promise<void>;
}

export interface RepairPlan {
  /** Rows of pages whose record is damaged or missing: they go, and their links wait again. */
  readonly pagesBack: ReadonlySet<number>;
  /** Rows of pages that are there twice. */
  readonly pagesGone: ReadonlySet<number>;
  /** Records without a page: their links wait again, if they are known and nowhere else. */
  readonly urlsBack: ReadonlySet<string>;
  /** Sites whose queue is broken, or holds what it should not. */
  readonly queues: ReadonlySet<string>;
  /** There are blocks in no queue. */
  readonly strayBlocks: boolean;
  /** Where the settled part of the archive ends from now on. */
  readonly archive: Census['archive'];
  /** Bytes up to there, without the records that open files. */
  readonly archivedBytes: number;
  /** How many seed lines there are: the mark is never beyond them. */
  readonly seedLines: number;
}

/** What a repair did, counted. */
export interface Repaired {
  pagesBack: number;
  pagesGone: number;
  urlsBack: number;
  queuesMended: number;
  linksAdopted: number;
  printsAdded: number;
  printsDropped: number;
  countersSet: number;
}

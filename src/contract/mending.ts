/** How a crawl in a store that is shared is put right. No member may be at work; each step may be repeated. */

import type { ArchiveEnd } from '../model/census.ts';
import type { StoredPage } from './walk.ts';

export interface Mending {
  /** These settled pages wait again, first in their queues and in their order: their rows go, and counters follow. */
  takeBack(pages: readonly StoredPage[]): Promise<void>;

  /** Rows of this member go whose links wait already: the store is the truth. Only where members have rows. */
  dropRows(rows: readonly number[]): Promise<void>;

  /** Where the settled part of this member's archive ends from now on. */
  endArchive(end: ArchiveEnd): Promise<void>;

  /** This member has settled what it has rows of; only where members have rows. */
  recount(): Promise<void>;

  /** That member has no archive and no rows any more: its machine is gone. */
  lose(member: string): Promise<void>;

  /**
   * Makes URLs unknown that were settled by members whose rows are gone, so that they can be found again; only where
   * members have rows. Seeds are taken again, and archived pages read again. Gives how many there were.
   */
  forget(lost: LostLinks): Promise<number>;
}

/** Links that are known to be settled, and of which nothing else is left. */
export interface LostLinks {
  /** Whether a URL with this fingerprint is one of them. */
  readonly has: (print: bigint) => boolean;
  /** How many there are by outcome, and how many pages of each site. */
  readonly settled: Readonly<Record<string, number>>;
  readonly pages: ReadonlyMap<string, number>;
  /** What their records had. */
  readonly archivedBytes: number;
}

/** What every store is opened with, and what opening it gives. */

import type { Archive } from '../archive/archive.ts';
import type { MemberAbout } from '../contract/journal.ts';
import type { DeadRecords } from '../contract/walk.ts';
import type { Store } from '../contract/store.ts';
import type { Anchor, Clock } from '../lib/clock.ts';
import type { ArchiveEnd } from '../model/census.ts';
import type { FrontierPlace } from '../model/settings.ts';
import type { StoreCall } from './call.ts';

/**
 * Which crawl of which store. A member of a crawl is one directory, open in one process at a time: it has an archive of
 * its own. All members of a crawl are equal.
 */
export interface StorePlace {
  /** `sqlite`, or the address of a server, with its password if it has one. */
  readonly url: string;
  /** File of certificates that a store with TLS is checked by, unless its address names one. */
  readonly ca?: string;
  /** The name of the crawl in a store that several crawls share. */
  readonly crawl: string;
  /** The id of the directory among those of the crawl. */
  readonly member: string;
  /** How many shards a new crawl gets; one that is there must have as many. */
  readonly shards: number;
  /** The member's directory: files of the store lie there, see `files.ts`. */
  readonly dir: string;
  /** Where waiting links lie, for a store that has the choice. */
  readonly frontier: FrontierPlace;
  /** The files are those of a move that has not ended yet. */
  readonly isFresh?: boolean;
}

export interface LookOptions extends StorePlace {
  /** Tells a person that the server is gone, is back, is slow. */
  readonly say: (message: string) => void;
}

/** Why records belong to no page. */
export type DeadCause = 'lease' | 'forgotten';

export interface StoreOptions extends LookOptions {
  /** The archive, cut to where the settled part of this member ends. */
  readonly archive: (settled: ArchiveEnd) => Archive;
  /** Is told of bytes in the archive that belong to no page, and why; may be told twice. */
  readonly dead: (records: readonly DeadRecords[], why: DeadCause) => void;
  /**
   * Tests hand in a clock; it is told the last moment that the store recorded. Null for the store's own time, which
   * crawls use: that of its server, or of this machine.
   */
  readonly clock: ((notBeforeMs: number) => Clock) | null;
  /** What `members` says of this one. */
  readonly about?: MemberAbout;
}

export interface OpenedStore extends Store {
  /** The store's time now, as near as a round trip can tell. */
  time(): Promise<number>;
  /**
   * Links on pages that this member settled since that moment may be missing, because the store went back in time while
   * the member was not there: those pages must be read again from its archive, and their links admitted. Then
   * `rereadDone` is called, or the next open says it again. Null, or missing, when nothing is missing.
   */
  readonly forgotSince?: number | null;
  readonly rereadDone?: () => void;
  /** Where the store's time is this machine's: what its clock is anchored to, for the clocks of other threads. */
  readonly anchor?: Anchor;
  /**
   * Runs these calls in order in one transaction: for a store in which that is cheaper than one by one, and answers at
   * once. `onTime` is told how long each took, and their commit, in milliseconds.
   */
  readonly together?: (calls: readonly StoreCall[], onTime?: OnTime) => unknown[];
}

export type OnTime = (what: StoreCall['verb'] | 'commit', tookMs: number) => void;

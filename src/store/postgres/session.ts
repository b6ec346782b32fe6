/** What the verbs of one open store share: the server, who they are, and hints of what is due. */

import type { Archive } from '../../archive/archive.ts';
import type { StoreFault } from '../../contract/fault.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import type { StoreOptions } from '../options.ts';
import type { AdmittedLately } from '../shared/admitted.ts';
import type { LeaseBook } from '../shared/lease-book.ts';
import type { BatchLog } from './batch-log.ts';
import type { Server } from './connect.ts';
import type { DueHints } from './due-hints.ts';

export interface Session {
  readonly server: Server;
  /** Calls a function of this version. */
  readonly call: Server['call'];
  readonly member: string;
  /** Counts the openings of this member; calls of an earlier one are refused. */
  readonly run: number;
  readonly shards: number;
  readonly archive: Archive;
  /** Is told of records that belong to no page. */
  readonly dead: StoreOptions['dead'];
  readonly log: BatchLog;
  readonly lately: AdmittedLately;
  readonly say: (message: string) => void;
  readonly dueHints: DueHints;
  /** The time handed in; null for the server's own. */
  at(): number | null;
  /** Milliseconds since some moment, for measuring how long something took. */
  elapsed(): number;
  /** The server's time as far as it is known here; good for hints. */
  roughly(): number;
  /** Takes note of what time it was on the server a moment ago. */
  heard(serverMs: number): void;
  /** The leases of this process. */
  readonly book: LeaseBook;
  /** What `members` says of this one, as JSON. */
  readonly about: string | null;
  /** The number of the last entry of the journal, as far as it is known. */
  entry: number;
  /** Why all leases are void, until that is put right; null when nothing is wrong. */
  trouble: 'unheard' | 'back' | null;
  /** The server that this member knows; another one may have forgotten something. */
  serverName: string;
  /** What the crawl is shut for, once this member is ready to go on; empty before. */
  ready: string;
  /** When the last beat that was answered was sent, by `elapsed`. */
  heardAt: number;
  /** How often the crawl had changed at the last beat. */
  changes: number;
  /** How often the store has heard this member. */
  beats: number;
  /** The number of the last batch of settlements. */
  batch: number;
  /** Why no more can be settled: it is not known how the last batch ended. */
  broken: StoreFault | null;
}

/** As `beat.sql` gives it. */
export interface BeatRow extends ArchiveEnd {
  readonly entry: number;
  readonly beats: number;
  readonly back: boolean;
  readonly present: string;
  readonly shut: string | null;
  readonly batch: number;
  readonly dead: readonly string[] | null;
  readonly changes: number | null;
  /** A lease has run out. */
  readonly overdue: boolean;
}

/** All leases of this member are void from now on: nothing is claimed before their visits have ended. */
export const lapse = (session: Session, trouble: 'unheard' | 'back'): void => {
  if (session.trouble === null) session.book.lapse();
  if (session.trouble !== 'back') session.trouble = trouble;
  session.ready = '';
  session.dueHints.forget(null);
};

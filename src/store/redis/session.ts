/** A crawl that this process works on, with what it remembers of it; the verbs work on this. */

import type { Archive } from '../../archive/archive.ts';
import type { StoreFault } from '../../contract/fault.ts';
import type { StoreOptions } from '../options.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import { unansweredPage } from '../../model/unanswered-page.ts';
import type { NewEntry } from '../../contract/journal.ts';
import type { AdmittedLately } from '../shared/admitted.ts';
import type { LeaseBook } from '../shared/lease-book.ts';
import type { Hints } from './hints.ts';
import { readGivenUp, type QueuePlace } from './queue.ts';
import type { Rows } from './rows.ts';
import type { Wire } from './wire.ts';

export interface Session {
  readonly wire: Wire;
  readonly member: string;
  readonly shards: number;
  readonly hints: Hints;
  readonly queue: QueuePlace;
  readonly rows: Rows;
  readonly archive: Archive;
  readonly dead: StoreOptions['dead'];
  /** Leases that this process was given and has not settled: a settlement of any other is refused here already. */
  readonly book: LeaseBook;
  /** Runs of earlier terms that may still have leases in the store: while there are any, nothing is claimed. */
  voids: readonly string[];
  /** Links that this process sent lately, to be sent again where a shard forgot them. */
  readonly lately: AdmittedLately;
  /** Entries of the journal that this process has met, to be written again if they are forgotten. */
  readonly entries: Map<number, NewEntry>;
  /** Shards that went back in time, and what this member did about it. */
  readonly mending: Map<number, Mending>;
  /** Shards that were opened since the last beat. */
  readonly opened: Set<number>;
  /** Since when links of this member's pages may be missing: it was not there when the store went back; or null. */
  forgotSince: number | null;
  /** Runs this when no batch is being settled. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Tells a person. */
  readonly say: (message: string) => void;
  /** The number of the last beat among those of all members. */
  tick: number;
  /** The shard that is touched next. */
  touched: number;
  /** What the last beat had to do, if it is not done. */
  upkeep: Promise<void> | null;
  /** Claims under way. */
  claims: number;
  /** When the last beat that was answered was sent, by the time of this process. */
  beatAtMs: number;
  /** The number of the last entry of the journal that is known. */
  entry: number;
  /** The shard a claim starts with, so that each gets its turn. */
  turn: number;
  /** Number of the batch settled last. */
  batch: number;
  /** Where the settled part of this member's archive ends. */
  end: ArchiveEnd;
  /** What a batch left on this machine could not be put right: nothing is settled before the next start does it. */
  fault: StoreFault | null;
}

export interface Mending {
  /** The server for which everything is done here; null while it is not. */
  doneFor: string | null;
  /** Links that were sent reach back to the moment that the shard went back to. */
  isWhole: boolean;
}

/** What leases are freed with, before the archive is open. */
export type LeaseSession = Pick<Session, 'wire' | 'member' | 'shards' | 'hints' | 'queue' | 'rows' | 'book'>;

/**
 * Writes the rows of links that were given up. They stay on a list in Redis until that is done; that they come off it
 * is not waited for: a link that stays on it is met again at the next start, and its row is known.
 */
export const writeGivenUp = ({ wire, queue, rows }: LeaseSession, shard: number, texts: readonly string[]): void => {
  if (texts.length === 0) return;
  rows.giveUp(
    texts.map((text) => {
      const { at, number, taken } = readGivenUp(text);
      return { shard, number, page: unansweredPage({ ...queue.link(taken), outcome: 'gave-up', at }) };
    }),
  );
  wire.each([{ name: 'written', shard, args: texts }]).catch(() => {});
};

/** Entries that are remembered; one may be a long list. */
const ENTRIES_MAX = 200;

/** Remembers entries that are in the journal, to write them again if the store forgets them. */
export const noteEntries = (session: Session, some: readonly (NewEntry & { readonly number: number })[]): void => {
  const { entries } = session;
  for (const { number, id, text } of some) {
    entries.set(number, { id, text });
    session.entry = Math.max(session.entry, number);
  }
  for (const number of entries.keys()) if (entries.size > ENTRIES_MAX) entries.delete(number);
};

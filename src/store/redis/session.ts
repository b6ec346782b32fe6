/** A crawl that this process works on, with what it remembers of it; the verbs work on this. */

import type { Archive } from '../../archive/archive.ts';
import type { StoreFault } from '../../contract/fault.ts';
import type { DeadRecords } from '../../contract/walk.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import { unansweredPage } from '../../model/unanswered-page.ts';
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
  readonly dead: (records: readonly DeadRecords[]) => void;
  /** Leases that this process was given and has not settled: a settlement of any other is refused here already. */
  readonly leases: Set<number>;
  /** The shard a claim starts with, so that each gets its turn. */
  turn: number;
  /** Number of the batch settled last. */
  batch: number;
  /** Where the settled part of this member's archive ends. */
  end: ArchiveEnd;
  /** What a batch left on this machine could not be put right: nothing is settled before the next start does it. */
  fault: StoreFault | null;
}

/** What leases are freed with, before the archive is open. */
export type LeaseSession = Pick<Session, 'wire' | 'member' | 'shards' | 'hints' | 'queue' | 'rows' | 'leases'>;

/**
 * Writes the rows of links that were given up. They stay on a list in Redis until that is done; that they come off it
 * is not waited for: a link that stays on it is met again at the next start, and its row is known.
 */
export const writeGivenUp = ({ wire, queue, rows }: LeaseSession, shard: number, texts: readonly string[]): void => {
  if (texts.length === 0) return;
  rows.giveUp(
    texts.map((text) => {
      const { at, taken } = readGivenUp(text);
      return { shard, page: unansweredPage({ ...queue.link(taken), outcome: 'gave-up', at }) };
    }),
  );
  wire.each([{ name: 'written', shard, args: texts }]).catch(() => {});
};

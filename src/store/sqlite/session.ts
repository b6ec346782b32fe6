/** The open database together with what is kept in memory about it; the verbs work on this. */

import type { Archive } from '../../archive/archive.ts';
import type { Clock } from '../../lib/clock.ts';
import type { FingerprintTable } from '../../lib/fingerprint-table.ts';
import type { Connection } from './schema.ts';
import { logPrints } from './seen-log.ts';
import { copyTally, writeTally, type Tally } from './tally.ts';

export interface Session extends Connection {
  readonly shards: number;
  readonly clock: Clock;
  readonly archive: Archive;
  readonly seen: FingerprintTable;
  /** Fingerprints of the transaction under way; they join `seen` only when it is committed. */
  readonly provisional: Set<bigint>;
  tally: Tally;
  /** Per shard, a moment before which no site of it is due; a hint that saves looking. */
  readonly notBefore: Float64Array;
  /** The shard a claim starts with, so that each gets its turn. */
  turn: number;
}

/** Runs the verbs of one batch in one transaction: all of them happened, or none. */
export const inTransaction = <T>(session: Session, work: () => T): T => {
  const tallyBefore = copyTally(session.tally);
  const archiveBefore = session.archive.end();
  session.sql('BEGIN IMMEDIATE').run();
  try {
    const result = work();
    if (session.provisional.size > 0) logPrints(session.sql, session.provisional);
    if (session.tally.changes !== tallyBefore.changes) recordTally(session); // an idle crawl writes nothing
    session.sql('COMMIT').run();
    for (const print of session.provisional) session.seen.add(print);
    return result;
  } catch (error) {
    session.tally = tallyBefore;
    session.notBefore.fill(-Infinity);
    if (session.db.isTransaction) session.db.exec('ROLLBACK');
    session.archive.cut(archiveBefore);
    throw error;
  } finally {
    session.provisional.clear();
  }
};

const recordTally = ({ sql, tally, clock }: Session): void => {
  tally.moment = Math.max(tally.moment, clock.now());
  writeTally(sql, tally);
};

/** A site of this shard may be visited at that moment. */
export const noteDue = ({ notBefore }: Session, shard: number, dueAt: number): void => {
  notBefore[shard] = Math.min(notBefore[shard]!, dueAt);
};

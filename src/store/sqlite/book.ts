/** The open database together with what is kept in memory about it; the verbs work on this. */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Clock } from '../../lib/clock.ts';
import type { createFingerprintTable } from '../../lib/fingerprint-table.ts';
import type { Archive } from '../../frontier/store.ts';
import { copyTally, emptyTally, type Tally } from './tally.ts';

export interface Book {
  readonly db: DatabaseSync;
  /** Rows as arrays cost a third of rows as objects: for statements that run for every link or visit. */
  readonly sql: (text: string, rows?: 'arrays') => StatementSync;
  readonly shards: number;
  readonly clock: Clock;
  readonly archive: Archive;
  readonly seen: ReturnType<typeof createFingerprintTable>;
  /** Fingerprints of the transaction under way; they join `seen` only when it is committed. */
  readonly provisional: Set<bigint>;
  tally: Tally;
  /** Per shard, a moment before which no site of it is due; a hint that saves looking. */
  readonly notBefore: Float64Array;
  /** The shard a claim starts with, so that each gets its turn. */
  turn: number;
}

export const openBook = (parts: Pick<Book, 'db' | 'shards' | 'clock' | 'archive' | 'seen'>): Book => ({
  ...parts,
  sql: preparing(parts.db),
  provisional: new Set(),
  tally: readTally(parts.db),
  notBefore: new Float64Array(parts.shards).fill(-Infinity),
  turn: 0,
});

/** Statements by their text, prepared when they are first used. */
export const preparing = (db: DatabaseSync): Book['sql'] => {
  const objects = new Map<string, StatementSync>();
  const arrays = new Map<string, StatementSync>();
  return (text, rows) => {
    const statements = rows === 'arrays' ? arrays : objects;
    let statement = statements.get(text);
    if (!statement) {
      statements.set(text, (statement = db.prepare(text)));
      if (rows === 'arrays') statement.setReturnArrays(true);
    }
    return statement;
  };
};

export const readTally = (db: DatabaseSync): Tally => {
  const row = db.prepare("SELECT value FROM meta WHERE name = 'tally'").get() as { value: string } | undefined;
  return row ? { ...emptyTally(), ...(JSON.parse(row.value) as Tally) } : emptyTally();
};

/** Runs the verbs of one batch in one transaction: all of them happened, or none. */
export const inTransaction = <T>(book: Book, work: () => T): T => {
  const tallyBefore = copyTally(book.tally);
  const archiveBefore = book.archive.end();
  book.sql('BEGIN IMMEDIATE').run();
  try {
    const result = work();
    if (book.provisional.size > 0) logSeen(book);
    if (book.tally.changes !== tallyBefore.changes) writeTally(book); // an idle crawl writes nothing
    book.sql('COMMIT').run();
    for (const print of book.provisional) book.seen.add(print);
    return result;
  } catch (error) {
    book.tally = tallyBefore;
    book.notBefore.fill(-Infinity);
    if (book.db.isTransaction) book.db.exec('ROLLBACK');
    book.archive.cut(archiveBefore);
    throw error;
  } finally {
    book.provisional.clear();
  }
};

const writeTally = (book: Book): void => {
  book.tally.moment = Math.max(book.tally.moment, book.clock.now());
  book.sql("INSERT OR REPLACE INTO meta (name, value) VALUES ('tally', ?)").run(JSON.stringify(book.tally));
};

const logSeen = (book: Book): void => {
  const prints = BigUint64Array.from(book.provisional);
  book.sql('INSERT INTO seen (fingerprints) VALUES (?)').run(new Uint8Array(prints.buffer));
};

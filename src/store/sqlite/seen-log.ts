/** The log of the fingerprints of all known URLs: rows of eight bytes each, one row per transaction. */

import type { DatabaseSync } from 'node:sqlite';
import { eachRow, type Sql } from './statements.ts';

const PRINT_BYTES = 8;

export interface LogRow {
  readonly id: number;
  readonly prints: BigUint64Array<ArrayBuffer>;
}

/** What lies after this row of the log. Throws a RangeError when it is not whole. */
export function* seenLog(db: DatabaseSync, after = 0): Generator<LogRow> {
  const text = 'SELECT id, fingerprints FROM seen WHERE id > ? ORDER BY id';
  for (const [id, bytes] of eachRow<[number, Uint8Array]>(db, text, after))
    yield { id, prints: new BigUint64Array(bytes.slice().buffer) };
}

/** How many fingerprints lie after this row of the log. */
export const printsAfter = (db: DatabaseSync, row: number): number => {
  const sum = db.prepare('SELECT coalesce(sum(length(fingerprints)), 0) AS bytes FROM seen WHERE id > ?').get(row);
  return (sum as { bytes: number }).bytes / PRINT_BYTES;
};

/** Whether all of the log can be read. */
export const isLogWhole = (sql: Sql): boolean =>
  sql(`SELECT 1 FROM seen WHERE length(fingerprints) % ${PRINT_BYTES} <> 0 LIMIT 1`).get() === undefined;

/** Adds a row to the log. */
export const logPrints = (sql: Sql, prints: Iterable<bigint>): void =>
  void sql('INSERT INTO seen (fingerprints) VALUES (?)').run(new Uint8Array(BigUint64Array.from(prints).buffer));

/** Writes a row of the log anew. */
export const replacePrints = (sql: Sql, { id, prints }: LogRow): void =>
  void sql('UPDATE seen SET fingerprints = ? WHERE id = ?').run(new Uint8Array(prints.buffer), id);

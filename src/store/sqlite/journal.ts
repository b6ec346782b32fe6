/** Numbered changes to the crawl, in the order in which they were made. */

import type { Entry, NewEntry } from '../../contract/journal.ts';
import type { Sql } from './statements.ts';

/** Entries read in one go. */
const ENTRIES_AT_ONCE = 500;

export const readEntries = (sql: Sql, after: number, most = ENTRIES_AT_ONCE): Entry[] =>
  sql('SELECT number, id, at, text FROM journal WHERE number > ? ORDER BY number LIMIT ?')
    .all(after, most)
    .map((row) => ({ ...(row as unknown as Entry) })); // rows have no prototype

/** The number of the last entry; 0 before the first. */
export const lastEntry = (sql: Sql): number =>
  (sql('SELECT coalesce(max(number), 0) AS n FROM journal').get() as { n: number }).n;

/** One that is there stays as it is. Gives its number. */
export const writeEntry = (sql: Sql, { id, text }: NewEntry, at: number): number => {
  sql('INSERT OR IGNORE INTO journal (number, id, at, text) VALUES (?, ?, ?, ?)').run(lastEntry(sql) + 1, id, at, text);
  return (sql('SELECT number FROM journal WHERE id = ?').get(id) as { number: number }).number;
};

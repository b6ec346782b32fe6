/** Texts that the crawl keeps for those who open it later. */

import { eachRow, type Sql } from './statements.ts';
import type { Connection } from './schema.ts';

/** Begins the name of a row of `meta` that is a note. */
const NOTE = 'note ';

export const readNote = (sql: Sql, name: string): string | null =>
  (sql('SELECT value FROM meta WHERE name = ?').get(NOTE + name) as { value: string } | undefined)?.value ?? null;

/** A note that is there stays as it is. */
export const writeNote = (sql: Sql, name: string, text: string): void =>
  void sql('INSERT OR IGNORE INTO meta (name, value) VALUES (?, ?)').run(NOTE + name, text);

export const allNotes = ({ db }: Connection): Record<string, string> => {
  const rows = eachRow<[string, string]>(db, `SELECT name, value FROM meta WHERE name GLOB '${NOTE}*'`);
  return Object.fromEntries([...rows].map(([name, text]) => [name.slice(NOTE.length), text]));
};

/** The journal of the crawl, and who takes part in it. */

import type { Entry, MemberView, NewEntry } from '../../contract/journal.ts';
import { DEAD_AFTER_MS } from '../../model/pulse.ts';
import { rowsOn, type Connection, type Rows } from './connection.ts';
import { prepareLayout } from './layout.ts';
import { sqlFile } from './sql.ts';
import { textOf } from './values.ts';

/** Entries read in one go. */
export const ENTRIES_AT_ONCE = 500;

export const entriesAfter = (rows: Rows, after: number): Promise<Entry[]> =>
  rows('SELECT * FROM @crawl.entries_after($1, $2)', [after, ENTRIES_AT_ONCE]);

export const allEntries = async (rows: Rows): Promise<Entry[]> => {
  const all: Entry[] = [];
  for (;;) {
    const some = await entriesAfter(rows, all.length);
    all.push(...some);
    if (some.length < ENTRIES_AT_ONCE) return all;
  }
};

/** Makes the crawl if it is new. */
export const writeEntry = ({ schema, once, options }: Connection, { id, text }: NewEntry): Promise<number> =>
  once(async (client) => {
    await prepareLayout(client, { ...options, schema });
    const [row] = await rowsOn(client, schema)<{ number: number }>(
      'SELECT @crawl.write_entry($1, $2, NULL) AS number',
      [textOf(id), textOf(text)],
    );
    return row!.number;
  });

export const membersOf = (rows: Rows): Promise<MemberView[]> => rows(sqlFile('members'), [DEAD_AFTER_MS]);

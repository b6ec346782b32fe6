/** A crawl in PostgreSQL, opened to look at it, check it, or move it. */

import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import type { LookOptions } from '../options.ts';
import { readCensus } from './census.ts';
import { openConnection, rowsOn, type Connection, type Rows } from './connection.ts';
import { fill } from './fill.ts';
import { entriesAfter, membersOf, writeEntry } from './journal.ts';
import { prepareLayout } from './layout.ts';
import { mendCrawl } from './mend.ts';
import { linkOf } from './read-link.ts';
import { createPagesAfter } from './read-pages.ts';
import { sitesOf } from './read-sites.ts';
import { robotsOf } from './robots.ts';
import { NOTE } from './schema.ts';
import { textOf } from './values.ts';
import { walk } from './walk.ts';

export const openPostgresCrawl = async (options: LookOptions): Promise<StoredCrawl> => {
  const connection = await openConnection(options);
  return {
    census: () => readCensus(connection),
    link: (url, site) => linkOf(connection, url, site),
    sites: (query) => sitesOf(connection, query),
    robots: (origins) => robotsOf(connection.rows, origins),
    pagesAfter: createPagesAfter(connection),
    note: async (name) => ((await connection.layout())?.moving === null ? noteOf(connection.rows, name) : null),
    keepNote: (name, text) => keepNote(connection, name, text),
    journal: async (after) => ((await connection.layout()) ? entriesAfter(connection.rows, after) : []),
    write: (entry) => writeEntry(connection, entry),
    members: async () => ((await connection.layout()) ? membersOf(connection.rows) : []),
    walk: (parts) => walk(connection, parts),
    fill: (members) => fill(connection, members),
    mend: mendCrawl(connection),
    close: () => connection.close(),
  };
};

const noteOf = async (rows: Rows, name: string): Promise<string | null> =>
  (await rows<{ value: string }>('SELECT value FROM @crawl.meta WHERE name = $1', [NOTE + name]))[0]?.value ?? null;

/** When two processes write a note at once, the second waits for the first and finds it written. */
const keepNote = ({ schema, once, options }: Connection, name: string, text: string): Promise<string> =>
  once(async (client) => {
    const rows = rowsOn(client, schema);
    await prepareLayout(client, { ...options, schema });
    await rows('INSERT INTO @crawl.meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', [
      NOTE + name,
      textOf(text),
    ]);
    return (await noteOf(rows, name))!;
  });

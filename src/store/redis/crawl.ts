/** A crawl in Redis, opened to look at it, check it, or move it. Page rows are those of this member. */

import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import type { LookOptions } from '../options.ts';
import { census } from './census.ts';
import { openConnection } from './connection.ts';
import { fillCrawl } from './fill.ts';
import { readEntries, writeEntry } from './journal.ts';
import { keepNote, makeCrawl } from './layout.ts';
import { membersOf } from './members.ts';
import { mendCrawl } from './mend.ts';
import { linkOf } from './read-link.ts';
import { robotsOf } from './read-robots.ts';
import { sitesOf } from './read-sites.ts';
import { walkCrawl } from './walk.ts';

export const openRedisCrawl = async (place: LookOptions): Promise<StoredCrawl> => {
  const connection = await openConnection(place);
  const { wire, pages, shards } = connection;
  /** What is not whole is nobody's crawl. */
  const isWhole = async (): Promise<boolean> => {
    const [[layout, filling]] = (await wire.read(null, ['HMGET', 'meta', 'layout', 'filling'])) as [(string | null)[]];
    return layout !== null && filling === null;
  };
  return {
    census: async () => census({ wire, shards: await shards(), end: pages.end() }),
    link: (url, site) => linkOf(connection, url, site),
    sites: (query) => sitesOf(connection, query),
    robots: (origins) => robotsOf(connection, origins),
    pagesAfter: async (row, filter) => pages.after(row, filter),
    note: async (name) =>
      (await isWhole()) ? ((await wire.read(null, ['HGET', 'notes', name]))[0] as string | null) : null,
    keepNote: (name, text) => keepNote(wire, place, [name, text]),
    journal: async (after) => ((await isWhole()) ? readEntries(wire, after) : []),
    write: async (entry) => {
      await makeCrawl(wire, place);
      return writeEntry(wire, entry);
    },
    members: async () => ((await isWhole()) ? membersOf(wire, await shards()) : []),
    walk: (parts) => walkCrawl(connection, parts),
    fill: (members) => fillCrawl(connection, members),
    // Links that lie in files are put there by the member that has them.
    ...(place.frontier === 'files' ? {} : { mend: mendCrawl(connection) }),
    close: async () => connection.close(),
  };
};

/** A crawl in Redis, opened to look at it, check it, or move it. Page rows are those of this member. */

import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import type { LookOptions } from '../options.ts';
import { census } from './census.ts';
import { openConnection } from './connection.ts';
import { fillCrawl } from './fill.ts';
import { keepNote } from './layout.ts';
import { linkOf } from './read-link.ts';
import { robotsOf } from './read-robots.ts';
import { sitesOf } from './read-sites.ts';
import { walkCrawl } from './walk.ts';

export const openRedisCrawl = async (place: LookOptions): Promise<StoredCrawl> => {
  const connection = await openConnection(place);
  const { wire, pages, shards } = connection;
  return {
    census: async () => census({ wire, shards: await shards(), end: pages.end() }),
    link: (url, site) => linkOf(connection, url, site),
    sites: (query) => sitesOf(connection, query),
    robots: (origins) => robotsOf(connection, origins),
    pagesAfter: async (row, filter) => pages.after(row, filter),
    note: async (name) => {
      const [filling, text] = await wire.read(null, ['HGET', 'meta', 'filling'], ['HGET', 'notes', name]);
      return filling === null ? (text as string | null) : null; // what is not whole is nobody's crawl
    },
    keepNote: (name, text) => keepNote(wire, place, [name, text]),
    walk: (parts) => walkCrawl(connection, parts),
    fill: () => fillCrawl(connection),
    close: async () => connection.close(),
  };
};

/** A crawl in the embedded store of a directory, as it is opened to look at it. */

import { openSqliteCrawl } from '../../src/store/sqlite/crawl.ts';
import type { StoredCrawl } from '../../src/contract/stored-crawl.ts';
import { allPages } from '../../src/results/all-pages.ts';
import type { PageRow } from '../../src/model/page.ts';
import type { LookOptions } from '../../src/store/options.ts';
import { SHARDS } from '../../src/url/shard.ts';

export const sqlitePlace = (dir: string, changes: Partial<LookOptions> = {}): LookOptions => ({
  url: 'sqlite',
  crawl: 'test',
  member: 'm1',
  shards: SHARDS,
  dir,
  frontier: 'store',
  say: () => {},
  ...changes,
});

/** Opens the crawl for one look at it. */
export const lookAt = async <T>(dir: string, look: (crawl: StoredCrawl) => Promise<T>): Promise<T> => {
  const crawl = await openSqliteCrawl(sqlitePlace(dir));
  try {
    return await look(crawl);
  } finally {
    await crawl.close();
  }
};

/** Settled links in the order they were settled. */
export const pagesIn = (dir: string): Promise<PageRow[]> =>
  lookAt(dir, async (crawl) => {
    const pages: PageRow[] = [];
    for await (const page of allPages(crawl, {})) pages.push(page);
    return pages;
  });

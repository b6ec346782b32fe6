/** The settled pages of a crawl from the first to the last there is now. */

import type { StoredCrawl } from '../contract/stored-crawl.ts';
import type { PageFilter } from '../contract/views.ts';
import type { PageRow } from '../model/page.ts';

/** Pages that are settled now: rows that come meanwhile are left out. Each slice is one short read. */
export async function* allPages(crawl: StoredCrawl, filter: PageFilter): AsyncGenerator<PageRow, void, undefined> {
  const { end } = await crawl.pagesAfter(0, { limit: 0 });
  let left = filter.limit ?? Infinity;
  for (let row = 0; row < end && left > 0; ) {
    const slice = await crawl.pagesAfter(row, { ...filter, limit: left });
    yield* slice.pages;
    left -= slice.pages.length;
    row = slice.row;
  }
}

/** The page of a site that failed last; null when none did, or while it is tried again. */
export const lastFailure = async (crawl: StoredCrawl, site: string): Promise<PageRow | null> => {
  let last: PageRow | null = null;
  for await (const page of allPages(crawl, { site, failed: true })) last = page;
  return last;
};

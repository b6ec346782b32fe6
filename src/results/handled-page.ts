/** A page as a function of the caller gets it. */

import type { CrawledPage } from './pages.ts';

/** A fetched page in the hands of `onPage`. */
export type HandledPage = CrawledPage & {
  /**
   * Adds links to the crawl, relative to the page, one step further from a seed. Resolves when they are in the store,
   * with how many of them are new; an address that cannot be read is passed over.
   */
  follow(urls: string | readonly string[]): Promise<number>;
};

/** Your own work on each page; see `onPage`. */
export type OnPage = (page: HandledPage) => unknown;

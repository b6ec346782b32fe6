/** A reader that answers as one of a store far away does: later, and with lists that come piece by piece. */

import type { LocalReader, Reader } from '../../src/frontier/store.ts';

export const fromAfar = (near: LocalReader): Reader => ({
  census: async () => near.census(),
  pages: (filter) => later(near.pages(filter)),
  pagesAfter: async (row, filter) => near.pagesAfter(row, filter),
  lastRow: async () => near.lastRow(),
  page: async (url, site) => near.page(url, site),
  isWaiting: async (url, site) => near.isWaiting(url, site),
  link: async (url, site) => near.link(url, site),
  site: async (name) => near.site(name),
  sites: (query) => later(near.sites(query)),
  sitesCount: async (search) => near.sitesCount(search),
  robots: async (origins) => near.robots(origins),
  lastFailure: async (site) => near.lastFailure(site),
  close: async () => near.close(),
});

async function* later<Item>(items: Iterable<Item>): AsyncGenerator<Item, void, undefined> {
  yield* items;
}

/** A crawl in memory, opened to look at it, check it, or move it. */

import { linkView } from '../../contract/link-view.ts';
import type { PageSlice, StoredCrawl } from '../../contract/stored-crawl.ts';
import { SITES_SORTED_MAX } from '../../contract/views.ts';
import type { LinkView, PageFilter, SiteQuery, SiteSort, SiteView } from '../../contract/views.ts';
import type { Clock } from '../../lib/clock.ts';
import type { PageRow } from '../../model/page.ts';
import { fill } from './fill.ts';
import { census, entriesAfter, siteState, wholeRobots, writeEntry, type MemoryState, type Site } from './state.ts';
import { membersOf } from './member.ts';
import { walk } from './walk.ts';

const PAGES_AT_ONCE = 100;

export const openMemoryCrawl = ({ state, clock }: { state: MemoryState; clock: Clock }): StoredCrawl => ({
  census: async () => census(state, clock.now()),
  link: async (url, site) => linkOf(state, url, state.sites.get(site)),
  sites: (query) => sitesOf(state, query),
  robots: async (origins) =>
    origins.map((origin) => {
      const record = state.robots.get(origin);
      return record ? wholeRobots(state, record) : null;
    }),
  pagesAfter: async (row, filter) => pagesAfter(state, row, filter),
  note: async (name) => state.notes[name] ?? null,
  keepNote: async (name, text) => {
    state.isMade = true;
    return (state.notes[name] ??= text);
  },
  journal: async (after) => entriesAfter(state, after),
  write: async (entry) => {
    state.isMade = true;
    return writeEntry(state, entry, clock.now());
  },
  members: async () => membersOf(state, clock.now()),
  walk: (parts) => walk(state, parts),
  fill: async () => fill(state),
  close: async () => {},
});

const linkOf = (state: MemoryState, url: string, site: Site | undefined): LinkView => {
  const ahead = site?.queue.findIndex(({ link }) => link.url === url) ?? -1;
  const waiting = site?.queue[ahead];
  return linkView(url, {
    site: site ? viewOf(state, site) : null,
    page: state.pages.find((page) => page.url === url) ?? null,
    leased: site?.lease ? { link: site.lease.link, tries: site.lease.tries } : null,
    found: waiting ? { ...waiting, ahead } : null,
    lookedAt: waiting ? ahead + 1 : (site?.queue.length ?? 0),
  });
};

const viewOf = ({ pages }: MemoryState, site: Site): SiteView => {
  const { dueAt, delayMs, crawlDelayMs, failures } = site.pace;
  const leased = site.lease?.link.url ?? '';
  const next = leased || (site.queue[0]?.link.url ?? pages.find((page) => page.site === site.name)?.url ?? '');
  const counts = { waiting: site.queue.length, pages: site.pages };
  return { site: site.name, state: siteState(site), ...counts, dueAt, delayMs, crawlDelayMs, failures, leased, next };
};

const isVisited = ({ state, waiting }: SiteView): boolean => waiting > 0 && state !== 'parked' && state !== 'held';

/** Equal ones stay in the order they were found. */
const ORDERS: Readonly<Record<SiteSort, (a: SiteView, b: SiteView) => number>> = {
  waiting: (a, b) => b.waiting - a.waiting,
  pages: (a, b) => b.pages - a.pages,
  failures: (a, b) => b.failures - a.failures,
  // those that nobody will visit are last
  next: (a, b) => Number(isVisited(b)) - Number(isVisited(a)) || a.dueAt - b.dueAt,
  name: (a, b) => (a.site < b.site ? -1 : 1),
  delay: (a, b) => b.delayMs - a.delayMs,
};

async function* sitesOf(
  state: MemoryState,
  { search = '', sort, limit = Infinity }: SiteQuery,
): AsyncGenerator<SiteView, void, undefined> {
  const views = state.sites
    .values()
    .filter(({ name }) => name.includes(search))
    .map((site) => viewOf(state, site));
  if (sort === undefined) yield* views.take(limit);
  else yield* [...views].sort(ORDERS[sort]).slice(0, Math.min(limit, SITES_SORTED_MAX));
}

const pagesAfter = ({ pages }: MemoryState, after: number, filter: PageFilter): PageSlice => {
  const end = pages.length;
  const wanted = Math.min(filter.limit ?? Infinity, PAGES_AT_ONCE);
  const matching: PageRow[] = [];
  let row = after;
  while (matching.length < wanted && row < end) {
    const page = pages[row++]!;
    if (isWanted(page, filter)) matching.push(page);
  }
  return { pages: matching, row, end };
};

const isWanted = (page: PageRow, { site, status, outcome, failed }: PageFilter): boolean =>
  (site === undefined || page.site === site) &&
  (status === undefined || page.status === status) &&
  (outcome === undefined || page.outcome === outcome) &&
  (!failed || page.outcome === 'server-error' || page.outcome.startsWith('failed-'));

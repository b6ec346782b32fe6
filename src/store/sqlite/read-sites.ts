/** Sites for people: one by name, or many, in any order, without a long read. */

import { SITES_SORTED_MAX, type SiteQuery, type SiteSort, type SiteView } from '../../contract/views.ts';
import { firstOf } from '../../lib/long-queue.ts';
import { SITE_STATE } from '../site-state.ts';
import { readWaiting } from '../waiting-text.ts';
import { READ_IN_BLOCK, readBlock } from './queue.ts';
import type { Connection } from './schema.ts';
import { readSite, SITES_SQL, type SiteRow, type StoredSite } from './site-row.ts';

/** Rows read in one transaction: a reader that stays open keeps the WAL from shrinking. */
const ROWS_AT_ONCE = 1_000;

/** Equal ones stay in the order they were found, so that two lists of a crawl at rest are alike. */
const ORDERS: Readonly<Record<SiteSort, string>> = {
  waiting: 'waiting DESC, id',
  pages: 'pages DESC, id',
  failures: 'failures DESC, id',
  next: `(state > ${SITE_STATE.leased} OR waiting = 0), due_at, id`, // those that nobody will visit are last
  name: 'name',
  delay: 'delay_ms DESC, id',
};

const sitesWhere = ({ sql }: Connection, rest: string, ...values: (string | number)[]): StoredSite[] =>
  (sql(`${SITES_SQL} WHERE ${rest}`, 'arrays').all(...values) as unknown as SiteRow[]).map(readSite);

export const siteNamed = (connection: Connection, name: string): StoredSite | null =>
  sitesWhere(connection, 'name = ?', name)[0] ?? null;

/** An empty text is in every name. */
export function* sitesOf(connection: Connection, { search = '', sort, limit }: SiteQuery): Generator<SiteView> {
  const found = 'instr(name, ?) > 0';
  if (sort !== undefined) {
    // One statement: SQLite keeps no more rows than the limit while it sorts, and all of them are from one moment.
    const most = Math.min(limit ?? SITES_SORTED_MAX, SITES_SORTED_MAX);
    for (const site of sitesWhere(connection, `${found} ORDER BY ${ORDERS[sort]} LIMIT ?`, search, most))
      yield viewOf(connection, site);
    return;
  }
  let left = limit ?? Infinity;
  for (let last = 0; left > 0; ) {
    const wanted = Math.min(left, ROWS_AT_ONCE);
    const sites = sitesWhere(connection, `${found} AND id > ? ORDER BY id LIMIT ?`, search, last, wanted);
    for (const site of sites) yield viewOf(connection, site);
    if (sites.length < wanted) return;
    left -= sites.length;
    last = sites.at(-1)!.id;
  }
}

export const viewOf = (connection: Connection, stored: StoredSite): SiteView => {
  const { site, state, waiting, pages, pace, leased: link } = stored.found;
  const { dueAt, delayMs, crawlDelayMs, failures } = pace;
  const leased = link === null || link === 'unreadable' ? '' : link.link.url;
  const next = leased || firstInQueue(connection, stored) || somePage(connection, stored.id);
  const counts = { waiting, pages };
  return { site, state: state ?? 'idle', ...counts, dueAt, delayMs, crawlDelayMs, failures, leased, next };
};

const firstInQueue = (connection: Connection, { found: { site }, queue, head_at }: StoredSite): string => {
  const head = firstOf(queue);
  const block = head === null ? undefined : readBlock(connection, head);
  if (!block) return ''; // taken since the last look
  const [readTo, via, links] = block;
  const from = head_at === READ_IN_BLOCK ? readTo : head_at;
  return readWaiting(links.slice(from, links.indexOf('\n', from)), via, site)?.link.url ?? '';
};

/** Any, because the last one would have to be looked for among all. */
const somePage = ({ sql }: Connection, site: number): string =>
  (sql('SELECT url FROM page INDEXED BY page_of_site WHERE site = ? LIMIT 1').get(site) as { url: string } | undefined)
    ?.url ?? '';

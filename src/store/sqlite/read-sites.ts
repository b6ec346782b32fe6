/** Sites for people: one by name, or many, in any order, without a long read. */

import { SITES_SORTED_MAX, type SiteQuery, type SiteSort, type SiteView } from '../../frontier/store.ts';
import { firstOf } from '../../lib/long-queue.ts';
import type { Book } from './book.ts';
import type { Waiting } from '../link-text.ts';
import { READ_IN_BLOCK } from './line.ts';
import { SITE_HELD, SITE_LEASED, SITE_PARKED } from './schema.ts';

/** Rows read in one transaction: a reader that stays open keeps the WAL from shrinking. */
const ROWS_AT_ONCE = 1_000;

interface SiteRow {
  readonly id: number;
  readonly name: string;
  readonly state: number;
  readonly waiting: number;
  readonly pages: number;
  readonly due_at: number;
  readonly delay_ms: number;
  readonly crawl_delay_ms: number;
  readonly failures: number;
  readonly leased: string | null;
  readonly line: string;
  readonly head_at: number;
}

const COLUMNS = 'id, name, state, waiting, pages, due_at, delay_ms, crawl_delay_ms, failures, leased, line, head_at';

/** Equal ones stay in the order they were found, so that two lists of a crawl at rest are alike. */
const ORDERS: Readonly<Record<SiteSort, string>> = {
  waiting: 'waiting DESC, id',
  pages: 'pages DESC, id',
  failures: 'failures DESC, id',
  next: `(state > ${SITE_LEASED} OR waiting = 0), due_at, id`, // those that no call will go to are last
  name: 'name',
  delay: 'delay_ms DESC, id',
};

export const siteNamed = (sql: Book['sql'], name: string): SiteView | null => {
  const row = sql(`SELECT ${COLUMNS} FROM site WHERE name = ?`).get(name) as SiteRow | undefined;
  return row ? toView(sql, row) : null;
};

/** An empty text is in every name. */
export const sitesCount = (sql: Book['sql'], search: string): number =>
  (sql('SELECT count(*) AS n FROM site WHERE instr(name, ?) > 0').get(search) as { n: number }).n;

export function* sitesOf(sql: Book['sql'], query: SiteQuery): Generator<SiteView> {
  const search = query.search ?? '';
  if (query.sort !== undefined) {
    // One statement: SQLite keeps no more rows than the limit while it sorts, and all of them are from one moment.
    const rows = sql(`SELECT ${COLUMNS} FROM site WHERE instr(name, ?) > 0 ORDER BY ${ORDERS[query.sort]} LIMIT ?`).all(
      search,
      Math.min(query.limit ?? SITES_SORTED_MAX, SITES_SORTED_MAX),
    ) as unknown as SiteRow[];
    for (const row of rows) yield toView(sql, row);
    return;
  }
  let left = query.limit ?? Infinity;
  let last = 0;
  while (left > 0) {
    const wanted = Math.min(left, ROWS_AT_ONCE);
    const rows = sql(`SELECT ${COLUMNS} FROM site WHERE id > ? AND instr(name, ?) > 0 ORDER BY id LIMIT ?`).all(
      last,
      search,
      wanted,
    ) as unknown as SiteRow[];
    for (const row of rows) yield toView(sql, row);
    left -= rows.length;
    if (rows.length < wanted) return;
    last = rows.at(-1)!.id;
  }
}

const toView = (sql: Book['sql'], row: SiteRow): SiteView => {
  const leased = row.leased === null ? '' : (JSON.parse(row.leased) as Waiting).link.url;
  return {
    site: row.name,
    state: stateOf(row),
    waiting: row.waiting,
    pages: row.pages,
    dueAt: row.due_at,
    delayMs: row.delay_ms,
    crawlDelayMs: row.crawl_delay_ms,
    failures: row.failures,
    leased,
    next: leased || (row.line === '' ? '' : firstInLine(sql, firstOf(row.line), row.head_at)) || somePage(sql, row.id),
  };
};

const firstInLine = (sql: Book['sql'], head: number | null, from: number): string => {
  const block = sql('SELECT read_to, links FROM block WHERE id = ?').get(head) as
    | { read_to: number; links: string }
    | undefined;
  if (!block) return ''; // taken since the last look
  const end = block.links.indexOf('\n', from === READ_IN_BLOCK ? block.read_to : from);
  return end < 0 ? '' : block.links.slice(block.links.lastIndexOf(' ', end) + 1, end);
};

/** Any, because the last one would have to be looked for among all. */
const somePage = (sql: Book['sql'], site: number): string =>
  (sql('SELECT url FROM page INDEXED BY page_of_site WHERE site = ? LIMIT 1').get(site) as { url: string } | undefined)
    ?.url ?? '';

const stateOf = ({ state, waiting }: SiteRow): SiteView['state'] => {
  switch (state) {
    case SITE_LEASED:
      return 'leased';
    case SITE_PARKED:
      return 'parked';
    case SITE_HELD:
      return 'held';
    default:
      return waiting > 0 ? 'waiting' : 'idle';
  }
};

/** Sites for people: by their ids, or in any order, without a long read. */

import { SITES_SORTED_MAX, type SiteQuery, type SiteSort, type SiteView } from '../../contract/views.ts';
import { SITE_STATE, siteStateOf } from '../site-state.ts';
import type { Connection, Rows } from './connection.ts';
import { sqlFile } from './sql.ts';
import { arrayOf, textOf } from './values.ts';

/**
 * Sites whose order is looked up in one go, at 8 bytes each: the order in which sites were found has no index, because
 * each claim would change it.
 */
const ORDERED_AT_ONCE = 250_000;
const ROWS_AT_ONCE = 1_000;

/** Equal ones stay in the order they were found, so that two lists of a crawl at rest are alike. */
const ORDERS: Readonly<Record<SiteSort, string>> = {
  waiting: 'k.waiting DESC, k.found',
  pages: 'k.pages DESC, k.found',
  failures: 'k.failures DESC, k.found',
  next: `(k.state > ${SITE_STATE.leased} OR k.waiting = 0), k.due_at, k.found`, // those that no visit goes to are last
  name: 'k.name COLLATE "C"',
  delay: 'k.delay_ms DESC, k.found',
};

/** A site, the state as its number, with the link under visit. */
type SiteRow = Omit<SiteView, 'state'> & {
  readonly state: number;
  readonly text: string | null;
  readonly via: string | null;
};

export const toView = ({ text: _text, via: _via, ...row }: SiteRow): SiteView => ({
  ...row,
  state: siteStateOf(row.state) ?? 'idle',
});

export const sitesById = (rows: Rows, ids: readonly bigint[]): Promise<SiteRow[]> =>
  rows(sqlFile('sites-by-id'), [arrayOf(ids)]);

export async function* sitesOf(
  { rows }: Connection,
  { search = '', sort, limit = Infinity }: SiteQuery,
): AsyncGenerator<SiteView, void, undefined> {
  if (sort === undefined) {
    for await (const ids of idsAsFound(rows, { search, limit }))
      for (const row of await sitesById(rows, ids)) yield toView(row);
  } else {
    const sorted = sqlFile('sites-sorted').replaceAll('@order', ORDERS[sort]);
    for (const row of await rows<SiteRow>(sorted, [textOf(search), Math.min(limit, SITES_SORTED_MAX)]))
      yield toView(row);
  }
}

/** The ids of sites in the order they were found, ROWS_AT_ONCE at a time: nothing is held meanwhile. */
export async function* idsAsFound(
  rows: Rows,
  { search = '', limit = Infinity }: SiteQuery,
): AsyncGenerator<readonly bigint[], void, undefined> {
  let left = limit;
  for (let last = 0; left > 0; ) {
    const wanted = Math.min(left, ORDERED_AT_ONCE);
    const [part] = await rows<{ ids: Buffer | null; last: number }>(sqlFile('sites-as-found'), [
      last,
      textOf(search),
      wanted,
    ]);
    const { ids = null } = part!;
    const count = (ids?.length ?? 0) / 8;
    for (let i = 0; i < count; i += ROWS_AT_ONCE)
      yield Array.from({ length: Math.min(ROWS_AT_ONCE, count - i) }, (_, n) => ids!.readBigInt64BE(8 * (i + n)));
    if (count < wanted) return;
    left -= count;
    last = part!.last;
  }
}

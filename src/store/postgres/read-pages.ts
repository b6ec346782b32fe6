/** Settled pages for people: those of a filter, and those that come while the crawl runs, each once. */

import { setTimeout as sleep } from 'node:timers/promises';
import { StoreFault } from '../../contract/fault.ts';
import type { PageSlice } from '../../contract/stored-crawl.ts';
import type { PageFilter } from '../../contract/views.ts';
import type { Connection, Rows } from './connection.ts';
import { toPage, type FoundPage } from './pages.ts';
import { keyOf } from './schema.ts';
import { sqlFile } from './sql.ts';
import { textOf } from './values.ts';

/** With the largest extracted values, 6 MiB. */
const ROWS_AT_ONCE = 100;
/** Calls of a crawl end within seconds; one that does not is stuck, and what it may still settle cannot be told. */
const UNDER_WAY_MS_MAX = 60_000;
const LOOK_MS_FIRST = 2;
const LOOK_MS_MAX = 50;

export interface PageQuery extends PageFilter {
  readonly after?: number;
  /** Null for the last there is. */
  readonly end?: number | null;
  readonly limit: number;
  /** The one page with this URL, if its site is given. */
  readonly url?: string;
}

export const readPages = (
  rows: Rows,
  { after = 0, end = null, limit, site, url, status, outcome, failed }: PageQuery,
): Promise<FoundPage[]> => {
  const text = (value?: string): string | null => (value === undefined ? null : textOf(value));
  const key = site === undefined ? null : keyOf(site);
  return rows(sqlFile('pages'), [after, end, limit, key, text(url), status ?? null, text(outcome), failed || null]);
};

/**
 * Rows get their numbers when they are written and can be seen when their call has ended: of two calls at the same time
 * the one with the higher numbers may end first. So the last row is read, and then the calls that are under way at that
 * moment are waited for: all numbers up to that row were given to them or to calls that have ended, and none of them
 * will appear later. Each call that can settle a link holds the fence of its member from its begin to its end, so that
 * it is known which these are.
 */
export const createPagesAfter = (connection: Connection): ((row: number, filter: PageFilter) => Promise<PageSlice>) => {
  const { rows } = connection;
  /** No row up to this number will appear any more. */
  let decided = 0;
  const decide = async (): Promise<number> => {
    const [page] = await rows<{ last: number }>('SELECT coalesce(max(id), 0) AS last FROM @crawl.page');
    if (page!.last > decided) await callsEnded(connection);
    return (decided = Math.max(decided, page!.last));
  };
  return async (row, filter) => {
    const limit = Math.min(filter.limit ?? Infinity, ROWS_AT_ONCE);
    const read = (end: number): Promise<FoundPage[]> =>
      limit > 0 && row < end ? readPages(rows, { ...filter, after: row, end, limit }) : Promise.resolve([]);
    // Rows that are decided are given without a wait, as long as there are enough of them.
    let end = decided;
    let found = await read(end);
    if (found.length < limit || limit === 0) found = await read((end = await decide()));
    const last = found.length < limit ? Math.max(row, end) : (found.at(-1)?.row ?? row);
    return { pages: found.map(toPage), row: last, end };
  };
};

const callsEnded = async ({ rows, options }: Connection): Promise<void> => {
  const underWay = async (): Promise<string[]> =>
    (await rows<{ name: string }>(sqlFile('calls-under-way'))).map(({ name }) => name);
  const until = performance.now() + UNDER_WAY_MS_MAX;
  let left = await underWay();
  for (let pauseMs = LOOK_MS_FIRST; left.length > 0; pauseMs = Math.min(2 * pauseMs, LOOK_MS_MAX)) {
    if (performance.now() > until)
      throw new StoreFault(
        `a call to the crawl "${options.crawl}" in PostgreSQL has not ended for ${UNDER_WAY_MS_MAX / 1_000} s`,
        'look at pg_stat_activity for what it waits for',
      );
    await sleep(pauseMs);
    const now = await underWay();
    left = left.filter((call) => now.includes(call));
  }
};

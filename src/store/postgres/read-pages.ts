/** Settled pages for people: one, those of a filter, and those that come while the crawl runs, each once. */

import { setTimeout as sleep } from 'node:timers/promises';
import { StoreFault, type PageFilter, type PageSlice } from '../../frontier/store.ts';
import type { PlacedPage } from '../../model/settlement.ts';
import { textOf, type Value } from './book.ts';
import type { Look } from './look.ts';
import { PAGE_SELECT, toPage } from './pages.ts';
import type { Rows } from './read-sites.ts';
import { fenceKey, keyOf } from './schema.ts';

/** With the largest extracted values, 6 MiB. */
const ROWS_AT_ONCE = 100;

type Row = Readonly<Record<string, unknown>>;

export const pageOf = async (
  rows: Rows,
  s: string,
  { url, site }: { readonly url: string; readonly site: string },
): Promise<PlacedPage | null> => {
  const [row] = await rows<Row>(
    `SELECT ${PAGE_SELECT} FROM ${s}.page p JOIN ${s}.site k ON k.id = p.site
    WHERE p.site = $1 AND hashtextextended(p.url, 0) = hashtextextended($2, 0) AND p.url = $2`,
    [keyOf(site), textOf(url)],
  );
  return row ? toPage(row) : null;
};

/** What trouble leaves behind when a link is given up; while it is tried again there is no row. */
export const lastFailureOf = async ({ rows, schema: s }: Look, site: string): Promise<PlacedPage | null> => {
  const [row] = await rows<Row>(
    `
    WITH failed AS MATERIALIZED (SELECT p.id FROM ${s}.page p WHERE p.site = $1 AND (p.outcome = 'server-error' OR starts_with(p.outcome, 'failed-')))
    SELECT ${PAGE_SELECT} FROM ${s}.page p JOIN ${s}.site k ON k.id = p.site WHERE p.id = (SELECT max(f.id) FROM failed f)`,
    [keyOf(site)],
  );
  return row ? toPage(row) : null;
};

const lastIn = async ({ rows, schema: s }: Look): Promise<number> =>
  (await rows<{ last: number }>(`SELECT coalesce(max(id), 0) AS last FROM ${s}.page`))[0]!.last;

/** Those that are there now: rows that come meanwhile are left, wherever they lie. */
export async function* pagesOf(look: Look, filter: PageFilter): AsyncGenerator<PlacedPage, void, undefined> {
  const end = await lastIn(look);
  let left = filter.limit ?? Infinity;
  for (let row = 0; row < end && left > 0; ) {
    const slice = await sliceOf(look, { after: row, end }, { ...filter, limit: left });
    yield* slice.pages;
    left -= slice.pages.length;
    row = slice.row;
  }
}

const sliceOf = async (
  { rows, schema: s }: Look,
  { after, end }: { readonly after: number; readonly end: number },
  filter: PageFilter,
): Promise<PageSlice> => {
  const where = ['p.id > $1', 'p.id <= $2'];
  const values: Value[] = [after, end];
  const add = (condition: string, value: Value): void =>
    void where.push(condition.replace('?', `$${values.push(value)}`));
  if (filter.status !== undefined) add('p.status = ?', filter.status);
  if (filter.outcome !== undefined) add('p.outcome = ?', textOf(filter.outcome));
  if (filter.site !== undefined) add('p.site = ?', keyOf(filter.site));
  // The numbers of a site's pages are looked up by the index of sites: a site may have a few among millions.
  const ids =
    filter.site === undefined
      ? `SELECT p.id FROM ${s}.page p WHERE ${where.join(' AND ')} ORDER BY p.id`
      : `SELECT m.id FROM (SELECT p.id FROM ${s}.page p WHERE ${where.join(' AND ')} OFFSET 0) m ORDER BY m.id`;
  const wanted = Math.min(filter.limit ?? Infinity, ROWS_AT_ONCE);
  const found = await rows<Row>(
    `SELECT ${PAGE_SELECT} FROM (${ids} LIMIT $${values.push(wanted)}) f JOIN ${s}.page p ON p.id = f.id JOIN ${s}.site k ON k.id = p.site ORDER BY p.id`,
    values,
  );
  return { pages: found.map(toPage), row: found.length < wanted ? end : (found.at(-1)!.id as number) };
};

/** Calls of a crawl end within seconds; one that does not is stuck, and what it may still settle cannot be told. */
const UNDER_WAY_MS_MAX = 60_000;
const LOOK_MS_FIRST = 2;
const LOOK_MS_MAX = 50;

export interface PageRows {
  after(row: number, filter: PageFilter): Promise<PageSlice>;
  last(): Promise<number>;
}

/**
 * Rows get their numbers when they are written and can be seen when their call has ended: of two calls at the same time
 * the one with the higher numbers may end first. So the last row is read, and then the calls that are under way at that
 * moment are waited for: all numbers up to that row were given to them or to calls that have ended, and none of them
 * will appear later. Each call that can settle a link holds the fence of its member from its begin to its end, so that
 * it is known which these are.
 */
export const createPageRows = (look: Look): PageRows => {
  /** No row up to this number will appear any more. */
  let decided = 0;
  const decide = async (): Promise<number> => {
    const last = await lastIn(look);
    if (last > decided) {
      await ended(look, await underWay(look));
      decided = Math.max(decided, last);
    }
    return decided;
  };
  return {
    last: decide,
    after: async (row, filter) => {
      const end = row < decided ? decided : await decide();
      return row < end ? sliceOf(look, { after: row, end }, filter) : { pages: [], row };
    },
  };
};

/** An advisory lock of two numbers, as pg_locks shows it. */
const fences = (s: string): string => `
  SELECT DISTINCT l.virtualtransaction AS name FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
  WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.classid = ${fenceKey(s) >>> 0} AND l.granted`;

const underWay = async ({ rows, schema: s }: Look): Promise<string[]> =>
  (await rows<{ name: string }>(fences(s))).map(({ name }) => name);

const ended = async (look: Look, calls: readonly string[]): Promise<void> => {
  const until = performance.now() + UNDER_WAY_MS_MAX;
  let left = calls;
  for (let pauseMs = LOOK_MS_FIRST; left.length > 0; pauseMs = Math.min(2 * pauseMs, LOOK_MS_MAX)) {
    if (performance.now() > until) {
      throw new StoreFault(
        `a call to the crawl "${look.place.crawl}" in PostgreSQL has not ended for ${UNDER_WAY_MS_MAX / 1_000} s`,
        'look at pg_stat_activity for what it waits for',
      );
    }
    await sleep(pauseMs);
    const now = await underWay(look);
    left = left.filter((call) => now.includes(call));
  }
};

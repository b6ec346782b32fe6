/** Settled links for people: one by its URL, or slices in the order they were settled. */

import type { PageSlice } from '../../contract/stored-crawl.ts';
import type { PageFilter } from '../../contract/views.ts';
import type { PageRow } from '../../model/page.ts';
import { PAGE_FIELDS, pageOfValues, urlKey } from '../page-row.ts';
import type { Connection } from './schema.ts';

/**
 * Rows read in one transaction: a reader that stays open keeps the WAL from shrinking. With the largest extracted
 * values, 6 MiB.
 */
const ROWS_AT_ONCE = 100;

/** A site with more pages is read in the order of rows: its part of the index would be sorted anew for each slice. */
const INDEXED_PAGES_MAX = 20_000;

/** The columns that `readPage` takes; a page whose site is not there has an empty name for it. */
export const PAGES_SELECT = `SELECT page.id, coalesce(site.name, ''), ${PAGE_FIELDS}
  FROM page LEFT JOIN site ON site.id = page.site`;

export type StoredRow = readonly [id: number, site: string, ...values: unknown[]];

export const readPage = ([, site, ...values]: StoredRow): PageRow => pageOfValues(site, values);

export const pageOf = ({ sql }: Connection, site: number, url: string): PageRow | null => {
  const row = sql(`${PAGES_SELECT} WHERE page.site = ? AND url_key = ? AND url = ?`, 'arrays').get(
    site,
    urlKey(url),
    url,
  ) as unknown as StoredRow | undefined;
  return row ? readPage(row) : null;
};

const FAILED = "(outcome = 'server-error' OR outcome GLOB 'failed-*')";

export const pagesAfter = (connection: Connection, after: number, filter: PageFilter): PageSlice => {
  const { sql } = connection;
  // The end is read first: rows that come meanwhile lie after it, and where none matches the whole way to it is done.
  const { end } = sql('SELECT coalesce(max(id), 0) AS end FROM page').get() as { end: number };
  const { status, outcome, failed, limit = Infinity } = filter;
  if (limit <= 0) return { pages: [], row: after, end };
  const conditions = ['page.id > ? AND page.id <= ?'];
  const values: (string | number)[] = [after, end];
  const add = (condition: string, value: string | number): void => {
    conditions.push(condition);
    values.push(value);
  };
  if (filter.site !== undefined) {
    const site = sql('SELECT id, pages FROM site WHERE name = ?').get(filter.site) as
      | { id: number; pages: number }
      | undefined;
    if (!site) return { pages: [], row: end, end };
    add(`${site.pages > INDEXED_PAGES_MAX ? '+' : ''}page.site = ?`, site.id);
  }
  if (status !== undefined) add('status = ?', status);
  if (outcome !== undefined) add('outcome = ?', outcome);
  if (failed) conditions.push(FAILED);
  const wanted = Math.min(limit, ROWS_AT_ONCE);
  const rows = sql(`${PAGES_SELECT} WHERE ${conditions.join(' AND ')} ORDER BY page.id LIMIT ?`, 'arrays').all(
    ...values,
    wanted,
  ) as unknown as StoredRow[];
  return { pages: rows.map(readPage), row: rows.length < wanted ? end : rows.at(-1)![0], end };
};

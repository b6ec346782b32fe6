/** The rows of this member's pages for people: short reads, while the crawl runs or after. */

import type { PageSlice } from '../../contract/stored-crawl.ts';
import type { PageFilter } from '../../contract/views.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import type { PageRow } from '../../model/page.ts';
import { PAGE_FIELDS, pageOfValues, urlKey } from '../page-row.ts';
import { storeFault } from '../sqlite/fault.ts';
import type { Sql } from '../sqlite/statements.ts';
import { readBatch, readRows, type RowsDatabase } from './rows.ts';

/** Rows read in one transaction, so that the log can shrink in between. With the largest extracted values, 6 MiB. */
const ROWS_AT_ONCE = 100;

type Row = readonly [id: number, site: string, ...values: unknown[]];

export const readPage = ([, site, ...values]: Row): PageRow => pageOfValues(site, values);

/** Rows as arrays, for `readPage`. */
export const selectPages = (sql: Sql, rest: string, ...values: (string | number)[]): Row[] =>
  sql(`SELECT id, site, ${PAGE_FIELDS} FROM page ${rest}`, 'arrays').all(...values) as unknown as Row[];

export const NO_END: ArchiveEnd = { file: '', bytes: 0 };

export interface PagesReader {
  after(row: number, filter: PageFilter): PageSlice;
  page(url: string, site: string): PageRow | null;
  /** Any, because the last one would have to be looked for among all; empty when there is none. */
  somePage(site: string): string;
  /** Where the archive ends, as far as the batch written last says. */
  end(): ArchiveEnd;
  /** Reads with these statements; null when there are no rows. */
  read<T>(work: (sql: Sql) => T): T | null;
  close(): void;
}

export const openPages = (path: string): PagesReader => {
  let opened: RowsDatabase | null = null;
  const read: PagesReader['read'] = (work) => {
    try {
      opened ??= readRows(path);
      return opened && work(opened.sql);
    } catch (error) {
      throw storeFault(error);
    }
  };
  return {
    read,
    after: (row, filter) => read((sql) => sliceOf(sql, row, filter)) ?? { pages: [], row, end: 0 },
    page: (url, site) =>
      read((sql) => {
        const [row] = selectPages(sql, 'WHERE site = ? AND url_key = ? AND url = ?', site, urlKey(url), url);
        return row ? readPage(row) : null;
      }),
    somePage: (site) =>
      read((sql) => {
        const row = sql('SELECT url FROM page INDEXED BY page_of_site WHERE site = ? LIMIT 1').get(site);
        return (row?.url as string | undefined) ?? '';
      }) ?? '',
    end: () => read(readBatch)?.end ?? NO_END,
    close: () => {
      opened?.db.close();
      opened = null; // it is opened again when it is read again
    },
  };
};

export const lastRow = (sql: Sql): number =>
  (sql('SELECT coalesce(max(id), 0) AS last FROM page').get() as { last: number }).last;

const sliceOf = (sql: Sql, after: number, filter: PageFilter): PageSlice => {
  // The end is read first: rows that come meanwhile lie after it, and where none matches the whole way to it is done.
  const end = lastRow(sql);
  const wanted = Math.min(filter.limit ?? Infinity, ROWS_AT_ONCE);
  if (wanted <= 0) return { pages: [], row: after, end };
  const where: string[] = ['id > ? AND id <= ?'];
  const values: (string | number)[] = [after, end];
  for (const column of ['site', 'status', 'outcome'] as const) {
    const value = filter[column];
    if (value === undefined) continue;
    where.push(`${column} = ?`);
    values.push(value);
  }
  if (filter.failed) where.push("(outcome = 'server-error' OR outcome GLOB 'failed-*')");
  // The numbers of a site's pages are looked up by the index of sites: a site may have a few among millions.
  const index = filter.site === undefined ? '' : 'INDEXED BY page_of_site';
  const ids = `SELECT id FROM page ${index} WHERE ${where.join(' AND ')} ORDER BY id LIMIT ?`;
  const rows = selectPages(sql, `WHERE id IN (${ids}) ORDER BY id`, ...values, wanted);
  return {
    pages: rows.map(readPage),
    row: rows.length < wanted ? Math.max(after, end) : rows.at(-1)![0],
    end,
  };
};

/** The rows of this member's pages for people: short reads, while the crawl runs or after. */

import { existsSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { PageFilter, PageSlice } from '../../frontier/store.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import type { PlacedPage } from '../../model/settlement.ts';
import { preparing } from '../sqlite/book.ts';
import { storeFault } from '../sqlite/fault.ts';
import { toPage, urlKey } from '../page-row.ts';
import { COLUMNS } from './rows.ts';

/**
 * Rows read in one transaction: a reader that stays open keeps the WAL from shrinking. With the largest extracted
 * values, 6 MiB.
 */
const ROWS_AT_ONCE = 100;

export interface RowsReader {
  pages(filter: PageFilter): Generator<PlacedPage, void, undefined>;
  after(row: number, filter: PageFilter): PageSlice;
  last(): number;
  page(url: string, site: string): PlacedPage | null;
  lastFailure(site: string): PlacedPage | null;
  /** Any, because the last one would have to be looked for among all; empty when there is none. */
  somePage(site: string): string;
  /** Where the archive ends, as far as the batch written last says. */
  end(): ArchiveEnd;
  close(): void;
}

export type Sql = (text: string) => StatementSync;

/** Opens the rows to read them; null when there are none yet. */
export const openToRead = (path: string): { readonly db: DatabaseSync; readonly sql: Sql } | null => {
  if (!existsSync(path)) return null;
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    if ((db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version === 0) {
      db.close();
      return null;
    }
    return { db, sql: preparing(db) };
  } catch (error) {
    db.close();
    throw error;
  }
};

/** Before the first page was settled there is no file, and nothing in it. */
export const openRowsReader = (path: string): RowsReader => {
  let opened: ReturnType<typeof openToRead> = null;
  const read = <T>(none: T, work: (sql: Sql) => T): T => {
    try {
      opened ??= openToRead(path);
      return opened ? work(opened.sql) : none;
    } catch (error) {
      throw storeFault(error);
    }
  };
  const one = (text: string, ...values: (string | number)[]): PlacedPage | null =>
    read<PlacedPage | null>(null, (sql) => {
      const row = sql(`SELECT ${COLUMNS} FROM page ${text}`).get(...values);
      return row ? toPage(row) : null;
    });
  const last = (): number => read(0, lastIn);
  const after: RowsReader['after'] = (row, filter) =>
    read<PageSlice>({ pages: [], row }, (sql) => sliceOf(sql, row, filter));
  return {
    last,
    after,
    pages: function* (filter) {
      const end = last();
      let left = filter.limit ?? Infinity;
      for (let row = 0; row < end && left > 0; ) {
        const slice = after(row, { ...filter, limit: left });
        yield* slice.pages;
        left -= slice.pages.length;
        row = slice.row;
      }
    },
    page: (url, site) => one('WHERE site = ? AND url_key = ? AND url = ?', site, urlKey(url), url),
    // What trouble leaves behind when a link is given up; while it is tried again there is no row.
    lastFailure: (site) =>
      one(
        `WHERE id = (SELECT max(id) FROM page INDEXED BY page_of_site WHERE site = ? AND (outcome = 'server-error' OR outcome GLOB 'failed-*'))`,
        site,
      ),
    somePage: (site) =>
      read(
        '',
        (sql) =>
          (sql('SELECT url FROM page INDEXED BY page_of_site WHERE site = ? LIMIT 1').get(site)?.url as
            | string
            | undefined) ?? '',
      ),
    end: () => read({ file: '', bytes: 0 }, endIn),
    close: () => opened?.db.close(),
  };
};

const lastIn = (sql: Sql): number =>
  (sql('SELECT coalesce(max(id), 0) AS last FROM page').get() as { last: number }).last;

export const endIn = (sql: Sql): ArchiveEnd => {
  const row = sql('SELECT end_file AS file, end_bytes AS bytes FROM batch').get() as
    | { file: string; bytes: number }
    | undefined;
  return row ? { file: row.file, bytes: row.bytes } : { file: '', bytes: 0 };
};

const sliceOf = (sql: Sql, after: number, filter: PageFilter): PageSlice => {
  const where: string[] = ['id > ? AND id <= ?'];
  // The end is read first: rows that come meanwhile lie behind it, and where none matches the whole way to it is done.
  const end = lastIn(sql);
  const values: (string | number)[] = [after, end];
  const add = (condition: string, value: string | number): void => {
    where.push(condition);
    values.push(value);
  };
  if (filter.site !== undefined) add('site = ?', filter.site);
  if (filter.status !== undefined) add('status = ?', filter.status);
  if (filter.outcome !== undefined) add('outcome = ?', filter.outcome);
  const wanted = Math.min(filter.limit ?? Infinity, ROWS_AT_ONCE);
  // The numbers of a site's pages are looked up by the index of sites: a site may have a few among millions.
  const ids = `SELECT id FROM page ${filter.site === undefined ? '' : 'INDEXED BY page_of_site'} WHERE ${where.join(' AND ')} ORDER BY id LIMIT ?`;
  const rows = sql(`SELECT id, ${COLUMNS} FROM page WHERE id IN (${ids}) ORDER BY id`).all(...values, wanted);
  return { pages: rows.map(toPage), row: rows.length < wanted ? end : (rows.at(-1)!.id as number) };
};

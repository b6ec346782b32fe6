/** Reading for people: short transactions, while the crawl runs or after. */

import { DatabaseSync } from 'node:sqlite';
import { StoreFault, type LinkView, type PageFilter, type PageSlice, type LocalReader } from '../../frontier/store.ts';
import type { PlacedPage } from '../../model/settlement.ts';
import { toPage, urlKey } from '../page-row.ts';
import { preparing, readTally, type Book } from './book.ts';
import { censusOf } from './census.ts';
import { robotsOf } from './claim.ts';
import { storeFault } from './fault.ts';
import { findInLine } from './find-in-line.ts';
import type { Waiting } from '../link-text.ts';
import { siteNamed, sitesCount, sitesOf } from './read-sites.ts';
import { shardsIn, versionOf } from './schema.ts';

/**
 * Rows read in one transaction: a reader that stays open keeps the WAL from shrinking. With the largest extracted
 * values, 6 MiB.
 */
const ROWS_AT_ONCE = 100;

export const openSqliteReader = (path: string): LocalReader => {
  try {
    const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
    if (versionOf(db) === 0) {
      db.close();
      throw new StoreFault(`the store "${path}" is empty`, 'the crawl was stopped before it began: a resume begins it');
    }
    const sql = preparing(db);
    const shards = shardsIn(db);
    return {
      census: () => censusOf(sql, { tally: readTally(db), shards, now: Date.now() }),
      pages: (filter) => pagesOf(sql, filter),
      pagesAfter: (row, filter) => sliceOf(sql, row, filter),
      lastRow: () => lastRowOf(sql),
      page: (url, site) => pageOf(sql, url, site),
      isWaiting: (url, site) => findInLine(sql, url, site).found !== null,
      link: (url, site) => atOneMoment(db, () => linkOf(sql, url, site)),
      site: (name) => siteNamed(sql, name),
      sites: (query) => sitesOf(sql, query),
      sitesCount: (search) => sitesCount(sql, search),
      robots: (origins) => origins.map((origin) => robotsOf({ sql }, origin)),
      lastFailure: (site) => lastFailureOf(sql, site),
      close: () => db.close(),
    };
  } catch (error) {
    throw storeFault(error);
  }
};

type Row = Record<string, unknown>;

function* pagesOf(sql: Book['sql'], filter: PageFilter): Generator<PlacedPage> {
  const end = lastRowOf(sql);
  let left = filter.limit ?? Infinity;
  for (let row = 0; row < end && left > 0; ) {
    const slice = sliceOf(sql, row, { ...filter, limit: left });
    yield* slice.pages;
    left -= slice.pages.length;
    row = slice.row;
  }
}

const sliceOf = (sql: Book['sql'], after: number, filter: PageFilter): PageSlice => {
  const where: string[] = ['page.id > ? AND page.id <= ?'];
  // The end is read first: rows that come meanwhile lie behind it, and where none matches the whole way to it is done.
  const end = lastRowOf(sql);
  const values: (string | number)[] = [after, end];
  if (filter.site !== undefined) add('page.site = (SELECT id FROM site WHERE name = ?)', filter.site);
  if (filter.status !== undefined) add('status = ?', filter.status);
  if (filter.outcome !== undefined) add('outcome = ?', filter.outcome);
  function add(condition: string, value: string | number): void {
    where.push(condition);
    values.push(value);
  }
  const wanted = Math.min(filter.limit ?? Infinity, ROWS_AT_ONCE);
  const rows = sql(`SELECT page.*, site.name AS site_name FROM page JOIN site ON site.id = page.site
    WHERE ${where.join(' AND ')} ORDER BY page.id LIMIT ?`).all(...values, wanted) as Row[];
  return { pages: rows.map(toPage), row: rows.length < wanted ? end : (rows.at(-1)!.id as number) };
};

const lastRowOf = (sql: Book['sql']): number =>
  (sql('SELECT coalesce(max(id), 0) AS last FROM page').get() as { last: number }).last;

const pageOf = (sql: Book['sql'], url: string, site: string): PlacedPage | null => {
  const row = sql(`SELECT page.*, site.name AS site_name FROM page JOIN site ON site.id = page.site
    WHERE site.name = ? AND url_key = ? AND url = ?`).get(site, urlKey(url), url) as Row | undefined;
  return row ? toPage(row) : null;
};

/** Several short reads that must agree with each other. */
const atOneMoment = <T>(db: DatabaseSync, read: () => T): T => {
  db.exec('BEGIN');
  try {
    return read();
  } finally {
    db.exec('COMMIT');
  }
};

const linkOf = (sql: Book['sql'], url: string, site: string): LinkView => {
  const view = siteNamed(sql, site);
  const page = view && pageOf(sql, url, site);
  if (!view || page) return { state: page ? 'settled' : 'unknown', page, open: null, site: view, lookedAt: 0 };
  if (view.leased === url) {
    const { leased } = sql('SELECT leased FROM site WHERE name = ?').get(site) as { leased: string };
    return {
      state: 'leased',
      page: null,
      open: { ...(JSON.parse(leased) as Waiting), ahead: 0 },
      site: view,
      lookedAt: 0,
    };
  }
  const { found, lookedAt } = findInLine(sql, url, site);
  // also while another of its links is leased
  const inLine = view.state === 'parked' || view.state === 'held' ? view.state : 'waiting';
  return { state: found ? inLine : 'unknown', page: null, open: found, site: view, lookedAt };
};

/** What trouble leaves behind when a link is given up; while it is tried again there is no row. */
const lastFailureOf = (sql: Book['sql'], site: string): PlacedPage | null => {
  const row =
    sql(`SELECT page.*, site.name AS site_name FROM page INDEXED BY page_of_site JOIN site ON site.id = page.site
    WHERE page.site = (SELECT id FROM site WHERE name = ?) AND (outcome = 'server-error' OR outcome GLOB 'failed-*')
    ORDER BY page.id DESC LIMIT 1`).get(site) as Row | undefined;
  return row ? toPage(row) : null;
};

/** Reading for people: short transactions, while the crawl runs or after. */

import { DatabaseSync } from 'node:sqlite';
import { StoreFault, type PageFilter, type Reader, type SiteView } from '../../frontier/store.ts';
import type { CanonicalUrl } from '../../model/link.ts';
import type { OutcomeName } from '../../model/outcome.ts';
import type { PlacedPage } from '../../model/settlement.ts';
import { preparing, readTally, urlKey, type Book } from './book.ts';
import { censusOf } from './census.ts';
import { storeFault } from './fault.ts';
import type { Waiting } from './line.ts';
import { SITE_HELD, SITE_LEASED, SITE_PARKED, versionOf } from './schema.ts';

/** Rows read in one transaction: a reader that stays open keeps the WAL from shrinking. */
const ROWS_AT_ONCE = 1_000;

export const openSqliteReader = (path: string): Reader => {
  try {
    const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
    if (versionOf(db) === 0) {
      db.close();
      throw new StoreFault(`the store "${path}" is empty`, 'the crawl was stopped before it began: a resume begins it');
    }
    const sql = preparing(db);
    return {
      census: () => censusOf(sql, readTally(db), Date.now()),
      pages: (filter) => pagesOf(sql, filter),
      page: (url, site) => pageOf(sql, url, site),
      isWaiting: (url, site) => isInLine(sql, url, site),
      site: (name) => siteOf(sql, name),
      close: () => db.close(),
    };
  } catch (error) {
    throw storeFault(error);
  }
};

type Row = Record<string, unknown>;

function* pagesOf(sql: Book['sql'], filter: PageFilter): Generator<PlacedPage> {
  const where: string[] = ['page.id > ?'];
  const values: (string | number)[] = [];
  if (filter.site !== undefined) add('page.site = (SELECT id FROM site WHERE name = ?)', filter.site);
  if (filter.status !== undefined) add('status = ?', filter.status);
  if (filter.outcome !== undefined) add('outcome = ?', filter.outcome);
  function add(condition: string, value: string | number): void {
    where.push(condition);
    values.push(value);
  }
  const text = `SELECT page.*, site.name AS site_name FROM page JOIN site ON site.id = page.site
    WHERE ${where.join(' AND ')} ORDER BY page.id LIMIT ?`;
  let left = filter.limit ?? Infinity;
  let last = 0;
  while (left > 0) {
    const wanted = Math.min(left, ROWS_AT_ONCE);
    const rows = sql(text).all(last, ...values, wanted) as Row[];
    for (const row of rows) yield toPage(row);
    left -= rows.length;
    if (rows.length < wanted) return;
    last = rows.at(-1)!['id'] as number;
  }
}

const pageOf = (sql: Book['sql'], url: string, site: string): PlacedPage | null => {
  const row = sql(`SELECT page.*, site.name AS site_name FROM page JOIN site ON site.id = page.site
    WHERE site.name = ? AND url_key = ? AND url = ?`).get(site, urlKey(url), url) as Row | undefined;
  return row ? toPage(row) : null;
};

/** Walks the blocks of the site's line; a line of 100,000 links is some 2,000 of them. */
const isInLine = (sql: Book['sql'], url: string, site: string): boolean => {
  const at = sql('SELECT head AS next, head_at AS read_to FROM site WHERE name = ?').get(site) as { next: number | null; read_to: number } | undefined;
  for (let id = at?.next ?? null, from = at?.read_to ?? 0; id !== null; ) {
    const block = sql('SELECT next, links FROM block WHERE id = ?').get(id) as { next: number | null; links: string } | undefined;
    if (!block) return false; // taken since the last look
    if (block.links.slice(from).includes(` ${url}\n`)) return true;
    id = block.next;
    from = id === null ? 0 : ((sql('SELECT read_to FROM block WHERE id = ?').get(id) as { read_to: number } | undefined)?.read_to ?? 0);
  }
  return false;
};

const toPage = (row: Row): PlacedPage => ({
  url: row['url'] as CanonicalUrl,
  site: row['site_name'] as string,
  outcome: row['outcome'] as OutcomeName,
  status: row['status'] as number | null,
  at: row['at'] as number,
  durationMs: row['duration_ms'] as number,
  contentType: row['content_type'] as string,
  bytes: row['bytes'] as number,
  title: row['title'] as string,
  language: row['language'] as string,
  redirect: row['redirect'] as string,
  digest: row['digest'] as string,
  truncated: row['truncated'] as string,
  noindex: row['noindex'] === 1,
  depth: row['depth'] as number,
  via: row['via'] as string,
  tries: row['tries'] as number,
  robots: row['robots'] as string,
  detail: row['detail'] as string,
  place: row['file'] === null ? null : {
    file: row['file'] as string, offset: row['offset'] as number,
    length: row['length'] as number, groupLength: row['group_length'] as number,
  },
});

const siteOf = (sql: Book['sql'], name: string): SiteView | null => {
  const row = sql('SELECT * FROM site WHERE name = ?').get(name) as Row | undefined;
  if (!row) return null;
  return {
    site: name,
    state: stateOf(row),
    waiting: row['waiting'] as number,
    pages: row['pages'] as number,
    dueAt: row['due_at'] as number,
    delayMs: row['delay_ms'] as number,
    failures: row['failures'] as number,
    leased: row['leased'] === null ? '' : (JSON.parse(row['leased'] as string) as Waiting).link.url,
  };
};

const stateOf = (row: Row): SiteView['state'] => {
  switch (row['state']) {
    case SITE_LEASED: return 'leased';
    case SITE_PARKED: return 'parked';
    case SITE_HELD: return 'held';
    default: return (row['waiting'] as number) > 0 ? 'waiting' : 'idle';
  }
};

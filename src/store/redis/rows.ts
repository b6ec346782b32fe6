/** The rows of this member's settled pages, in a database beside its archive, with the batch that was settled last. */

import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { StoreFault } from '../../frontier/store.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import type { CanonicalUrl } from '../../model/link.ts';
import type { OutcomeName } from '../../model/outcome.ts';
import type { Page, Place, PlacedPage } from '../../model/settlement.ts';
import { fingerprint } from '../../url/fingerprint.ts';

/** What the tables mean. */
export const ROWS_LAYOUT = 1;

const TABLES = `
  CREATE TABLE page (
    id INTEGER PRIMARY KEY AUTOINCREMENT, site TEXT NOT NULL, url_key INTEGER NOT NULL, url TEXT NOT NULL,
    outcome TEXT NOT NULL, status INTEGER, at REAL NOT NULL, duration_ms REAL NOT NULL,
    content_type TEXT NOT NULL, bytes INTEGER NOT NULL, title TEXT NOT NULL, language TEXT NOT NULL,
    redirect TEXT NOT NULL, digest TEXT NOT NULL, truncated TEXT NOT NULL, noindex INTEGER NOT NULL,
    depth INTEGER NOT NULL, via TEXT NOT NULL, tries INTEGER NOT NULL, robots TEXT NOT NULL, detail TEXT NOT NULL, extracted TEXT NOT NULL,
    file TEXT, offset INTEGER, length INTEGER, group_length INTEGER,
    batch INTEGER NOT NULL, shard INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX page_of_site ON page (site, url_key);
  CREATE TABLE batch (
    only INTEGER PRIMARY KEY CHECK (only = 1), number INTEGER NOT NULL,
    before_file TEXT NOT NULL, before_bytes INTEGER NOT NULL, end_file TEXT NOT NULL, end_bytes INTEGER NOT NULL, parts TEXT NOT NULL
  ) STRICT;
  PRAGMA user_version = ${ROWS_LAYOUT};
`;

/** What one settlement of a batch has left on this machine. */
export interface Part {
  readonly shard: number;
  /** Its number among those of its shard, from 1. */
  readonly place: number;
  /** Its records in the archive; null when it has none. */
  readonly records: { readonly file: string; readonly offset: number; readonly bytes: number } | null;
  /** Its row; null when it has no page. */
  readonly row: number | null;
}

export interface Batch {
  readonly number: number;
  /** Where the archive ended before it, and where it ends after. */
  readonly before: ArchiveEnd;
  readonly end: ArchiveEnd;
  /** In the order of the archive. */
  readonly parts: readonly Part[];
}

export interface NewPart extends Omit<Part, 'row'> {
  readonly page: { readonly page: Page; readonly place: Place | null } | null;
}

export interface Rows {
  /** The batch written last, whatever became of it; null before the first. */
  last(): Batch | null;
  /** Rows and batch in one transaction. */
  write(batch: Omit<Batch, 'parts'>, parts: readonly NewPart[]): Batch;
  /** What is left of the last batch when some of it was refused: the other rows go. */
  reduce(batch: Batch, dropped: readonly Part[]): void;
  /** Rows of links that were given up; one that is there already is left alone. */
  giveUp(pages: readonly { readonly page: Page; readonly shard: number }[]): void;
  /** In the order they were settled. */
  pages(): PlacedPage[];
  checkpoint(): void;
  close(): void;
}

export const COLUMNS = `site, url_key, url, outcome, status, at, duration_ms, content_type, bytes, title, language, redirect,
  digest, truncated, noindex, depth, via, tries, robots, detail, extracted, file, offset, length, group_length`;

export const openRows = (path: string): Rows => {
  const db = new DatabaseSync(path);
  // FULL: Redis may be another machine, and would remember what this one forgets without power.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA busy_timeout = 5000;');
  const { user_version: layout } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  if (layout === 0) db.exec(`BEGIN IMMEDIATE; ${TABLES} COMMIT;`);
  else if (layout !== ROWS_LAYOUT) {
    db.close();
    throw new StoreFault(`the rows "${path}" have layout ${layout}, this program knows ${ROWS_LAYOUT}`, 'use the version of gossamer that made them');
  }
  const statements = new Map<string, StatementSync>();
  const sql = (text: string): StatementSync => {
    let statement = statements.get(text);
    if (!statement) statements.set(text, (statement = db.prepare(text)));
    return statement;
  };
  const inTransaction = <T>(work: () => T): T => {
    sql('BEGIN IMMEDIATE').run();
    try {
      const result = work();
      sql('COMMIT').run();
      return result;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };
  const insert = (placed: NonNullable<NewPart['page']>, batch: number, shard: number): number => insertPage(sql, placed, { batch, shard });
  const writeBatch = ({ number, before, end, parts }: Batch): void =>
    void sql('INSERT OR REPLACE INTO batch (only, number, before_file, before_bytes, end_file, end_bytes, parts) VALUES (1, ?, ?, ?, ?, ?, ?)')
      .run(number, before.file, before.bytes, end.file, end.bytes, JSON.stringify(parts));
  return {
    last: () => readBatch(sql),
    write: (batch, parts) => inTransaction(() => {
      const written = { ...batch, parts: parts.map(({ page, ...part }): Part => ({ ...part, row: page && insert(page, batch.number, part.shard) })) };
      writeBatch(written);
      return written;
    }),
    reduce: (batch, dropped) => inTransaction(() => {
      for (const { row } of dropped) if (row !== null) sql('DELETE FROM page WHERE id = ?').run(row);
      writeBatch(batch);
    }),
    giveUp: (pages) => inTransaction(() => {
      for (const { page, shard } of pages) {
        const known = sql("SELECT 1 FROM page WHERE site = ? AND url_key = ? AND url = ? AND outcome = 'gave-up'").get(page.site, urlKey(page.url), page.url);
        if (!known) insert({ page, place: null }, 0, shard);
      }
    }),
    pages: () => sql(`SELECT ${COLUMNS} FROM page ORDER BY id`).all().map(toPage),
    checkpoint: () => void sql('PRAGMA wal_checkpoint(PASSIVE)').get(),
    close: () => db.close(),
  };
};

export const insertPage = (sql: (text: string) => StatementSync, { page, place }: NonNullable<NewPart['page']>, { batch, shard }: { batch: number; shard: number }): number =>
  Number(sql(`INSERT INTO page (${COLUMNS}, batch, shard) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    .run(page.site, urlKey(page.url), page.url, page.outcome, page.status, page.at, page.durationMs, page.contentType, page.bytes,
      page.title, page.language, page.redirect, page.digest, page.truncated, page.noindex ? 1 : 0, page.depth, page.via,
      page.tries, page.robots, page.detail, page.extracted, place?.file ?? null, place?.offset ?? null, place?.length ?? null, place?.groupLength ?? null,
      batch, shard).lastInsertRowid);

/** Null before the first. */
export const readBatch = (sql: (text: string) => StatementSync): Batch | null => {
  const row = sql('SELECT number, before_file, before_bytes, end_file, end_bytes, parts FROM batch').get();
  if (!row) return null;
  return {
    number: row['number'] as number,
    before: { file: row['before_file'] as string, bytes: row['before_bytes'] as number },
    end: { file: row['end_file'] as string, bytes: row['end_bytes'] as number },
    parts: JSON.parse(row['parts'] as string) as Part[],
  };
};

/** 53 bits of a URL's fingerprint, which SQLite and JavaScript both hold as a plain number. */
export const urlKey = (url: string): number => Number(fingerprint(url) >> 11n);

export const toPage = (row: Record<string, unknown>): PlacedPage => ({
  url: row['url'] as CanonicalUrl,
  site: row['site'] as string,
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
  extracted: row['extracted'] as string,
  place: row['file'] === null ? null : { file: row['file'] as string, offset: row['offset'] as number, length: row['length'] as number, groupLength: row['group_length'] as number },
});

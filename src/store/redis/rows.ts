/** The rows of this member's settled pages, in a database beside its archive, with the batch that was settled last. */

import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { ArchiveEnd } from '../../model/census.ts';
import type { Page, Place, PlacedPage } from '../../model/settlement.ts';
import { preparing } from '../sqlite/book.ts';
import { PAGE_COLUMNS, PAGE_DECLARED, PAGE_MARKS, pageValues, toPage, urlKey } from '../page-row.ts';
import { layoutFault } from '../layouts.ts';

/** What the tables mean. */
export const ROWS_LAYOUT = 1;

const TABLES = `
  CREATE TABLE page (
    id INTEGER PRIMARY KEY AUTOINCREMENT, site TEXT NOT NULL, ${PAGE_DECLARED},
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

/** What `toPage` reads. */
export const COLUMNS = `site AS site_name, ${PAGE_COLUMNS}`;

export const openRows = (path: string): Rows => {
  const db = new DatabaseSync(path);
  // FULL: Redis may be another machine, and would remember what this one forgets without power.
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA busy_timeout = 5000;',
  );
  const { user_version: layout } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  if (layout === 0) db.exec(`BEGIN IMMEDIATE; ${TABLES} COMMIT;`);
  else if (layout !== ROWS_LAYOUT) {
    db.close();
    throw layoutFault({ kind: 'pages.db', what: `the table "${path}"`, found: layout, known: ROWS_LAYOUT });
  }
  const sql = preparing(db);
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
  const insert = (placed: NonNullable<NewPart['page']>, batch: number, shard: number): number =>
    insertPage(sql, placed, { batch, shard });
  const writeBatch = ({ number, before, end, parts }: Batch): void =>
    void sql(
      'INSERT OR REPLACE INTO batch (only, number, before_file, before_bytes, end_file, end_bytes, parts) VALUES (1, ?, ?, ?, ?, ?, ?)',
    ).run(number, before.file, before.bytes, end.file, end.bytes, JSON.stringify(parts));
  return {
    last: () => readBatch(sql),
    write: (batch, parts) =>
      inTransaction(() => {
        const written = {
          ...batch,
          parts: parts.map(
            ({ page, ...part }): Part => ({ ...part, row: page && insert(page, batch.number, part.shard) }),
          ),
        };
        writeBatch(written);
        return written;
      }),
    reduce: (batch, dropped) =>
      inTransaction(() => {
        for (const { row } of dropped) if (row !== null) sql('DELETE FROM page WHERE id = ?').run(row);
        writeBatch(batch);
      }),
    giveUp: (pages) =>
      inTransaction(() => {
        for (const { page, shard } of pages) {
          const known = sql(
            "SELECT 1 FROM page WHERE site = ? AND url_key = ? AND url = ? AND outcome = 'gave-up'",
          ).get(page.site, urlKey(page.url), page.url);
          if (!known) insert({ page, place: null }, 0, shard);
        }
      }),
    pages: () => sql(`SELECT ${COLUMNS} FROM page ORDER BY id`).all().map(toPage),
    checkpoint: () => void sql('PRAGMA wal_checkpoint(PASSIVE)').get(),
    close: () => db.close(),
  };
};

export const insertPage = (
  sql: (text: string) => StatementSync,
  { page, place }: NonNullable<NewPart['page']>,
  { batch, shard }: { batch: number; shard: number },
): number =>
  Number(
    sql(`INSERT INTO page (site, ${PAGE_COLUMNS}, batch, shard) VALUES (?, ${PAGE_MARKS}, ?, ?)`).run(
      page.site,
      ...pageValues(page, place),
      batch,
      shard,
    ).lastInsertRowid,
  );

/** Null before the first. */
export const readBatch = (sql: (text: string) => StatementSync): Batch | null => {
  const row = sql('SELECT number, before_file, before_bytes, end_file, end_bytes, parts FROM batch').get();
  if (!row) return null;
  return {
    number: row.number as number,
    before: { file: row.before_file as string, bytes: row.before_bytes as number },
    end: { file: row.end_file as string, bytes: row.end_bytes as number },
    parts: JSON.parse(row.parts as string) as Part[],
  };
};

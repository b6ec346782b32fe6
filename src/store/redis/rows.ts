/** The rows of this member's settled pages, in a database beside its archive, with the batch that was written last. */

import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { ArchiveEnd } from '../../model/census.ts';
import type { DeadRecords } from '../../contract/walk.ts';
import { isArchived, NO_PLACE, type ArchivedRow, type Page, type PageRow } from '../../model/page.ts';
import { layoutFault } from '../layouts.ts';
import { PAGE_DECLARED, PAGE_FIELDS, PAGE_MARKS, pageOfValues, pageValues, urlKey } from '../page-row.ts';
import { openReadOnly } from '../read-only.ts';
import { preparing, type Sql } from '../sqlite/statements.ts';

/** What the tables mean. */
export const ROWS_LAYOUT = 3;

export const PAGE_INDEX = 'CREATE INDEX page_of_site ON page (site, url_key)';

const TABLES = `
  CREATE TABLE page (
    id INTEGER PRIMARY KEY AUTOINCREMENT, site TEXT NOT NULL, ${PAGE_DECLARED},
    batch INTEGER NOT NULL, shard INTEGER NOT NULL, lead INTEGER NOT NULL
  ) STRICT;
  ${PAGE_INDEX};
  CREATE TABLE batch (
    only INTEGER PRIMARY KEY CHECK (only = 1), number INTEGER NOT NULL, before_file TEXT NOT NULL,
    before_bytes INTEGER NOT NULL, end_file TEXT NOT NULL, end_bytes INTEGER NOT NULL, parts TEXT NOT NULL
  ) STRICT;
  CREATE TABLE loose (
    batch INTEGER NOT NULL, shard INTEGER NOT NULL, file TEXT NOT NULL, offset INTEGER NOT NULL, bytes INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE epoch (shard INTEGER PRIMARY KEY, number INTEGER NOT NULL) STRICT;
  PRAGMA user_version = ${ROWS_LAYOUT};
`;

/**
 * Beside the rows: `lead`, bytes of a page's records before its own (its robots.txt); `loose`, records of settlements
 * that have no row; `epoch`, for each shard the last time it went back that this member took part in.
 */

/** What one settlement of a batch has left on this machine. */
export interface Part {
  readonly shard: number;
  /** The number of the settlement among those of its shard, from 1. */
  readonly place: number;
  /** Where its records lie in the archive; null when it has none. */
  readonly records: { readonly file: string; readonly offset: number; readonly bytes: number } | null;
  /** The row of its page; null when it has none. */
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
  readonly page: PageRow | null;
}

/** The row of a link that was given up, and its number among those of its shard; see `givenBatch`. */
export interface GivenUpRow {
  readonly page: Page;
  readonly shard: number;
  readonly number: number;
}

/** Links that are given up are in no batch: their rows are numbered downwards from 0, by shard. */
export const givenBatch = (number: number): number => (number === 0 ? 0 : -number);

export interface Rows {
  /** The batch written last, whatever became of it; null before the first. */
  last(): Batch | null;
  /** Rows and batch in one transaction. */
  write(batch: Omit<Batch, 'parts'>, parts: readonly NewPart[]): Batch;
  /** What is left of the last batch when some of it was refused: the other rows go. */
  reduce(batch: Batch, withdrawn: readonly Part[]): void;
  /** Rows of links that were given up; one that is there already is left alone. */
  giveUp(pages: readonly GivenUpRow[]): void;
  /** Takes back what is of a later batch than the last one that its shard knows, or of a link given up later. */
  forget(shard: number, known: { readonly number: number; readonly given: number }): Forgotten;
  epochs(): ReadonlyMap<number, number>;
  keepEpochs(epochs: Iterable<readonly [shard: number, epoch: number]>): void;
  checkpoint(): void;
  close(): void;
}

/** What was taken back: pages, and where records lie that belong to nothing any more. */
export interface Forgotten {
  readonly pages: readonly PageRow[];
  readonly records: readonly DeadRecords[];
}

export interface RowsDatabase {
  readonly db: DatabaseSync;
  readonly sql: Sql;
}

/** Makes the tables if they are not there. Throws a StoreFault for those of another program. */
export const createRows = (path: string): RowsDatabase => {
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000');
  if (!hasTables(db, path)) db.exec(`BEGIN IMMEDIATE; ${TABLES} COMMIT`);
  return { db, sql: preparing(db) };
};

/** To read; null when there are no rows yet: before the first page was settled there may be no file, or no tables. */
export const readRows = (path: string): RowsDatabase | null => {
  if (!existsSync(path)) return null;
  const db = openReadOnly(path);
  if (hasTables(db, path)) return { db, sql: preparing(db) };
  db.close();
  return null;
};

const hasTables = (db: DatabaseSync, path: string): boolean => {
  try {
    const { user_version: found } = db.prepare('PRAGMA user_version').get() as { user_version: number };
    if (found === ROWS_LAYOUT || found === 0) return found !== 0;
    throw layoutFault({ kind: 'pages.db', what: `the table "${path}"`, found, known: ROWS_LAYOUT });
  } catch (error) {
    db.close();
    throw error;
  }
};

/** In one transaction, which is taken back when the work throws. */
export const inTransaction = <T>(db: DatabaseSync, work: () => T): T => {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
};

export const openRows = (path: string): Rows => {
  const { db, sql } = createRows(path);
  // FULL: Redis may be another machine, and would remember what this one forgets without power.
  db.exec('PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0');
  return {
    last: () => readBatch(sql),
    write: (batch, parts) =>
      inTransaction(db, () => {
        const written = {
          ...batch,
          parts: parts.map(
            ({ page, ...part }): Part => ({ ...part, row: insertPart(sql, batch.number, { page, ...part }) }),
          ),
        };
        writeBatch(sql, written);
        return written;
      }),
    reduce: (batch, withdrawn) =>
      inTransaction(db, () => {
        for (const { row, records } of withdrawn) {
          if (row !== null) sql('DELETE FROM page WHERE id = ?').run(row);
          if (records) sql('DELETE FROM loose WHERE file = ? AND offset = ?').run(records.file, records.offset);
        }
        writeBatch(sql, batch);
      }),
    giveUp: (pages) =>
      inTransaction(db, () => {
        for (const { page, shard, number } of pages)
          if (!hasGivenUp(sql, page)) insertPage(sql, { ...page, ...NO_PLACE }, givenBatch(number), shard);
      }),
    forget: (shard, { number, given }) =>
      inTransaction(db, () => {
        const which = 'shard = ? AND (batch > ? OR batch < ?)';
        const values = [shard, number, -given] as const;
        const pages = sql(`SELECT site, lead, ${PAGE_FIELDS} FROM page WHERE ${which}`, 'arrays').all(
          ...values,
        ) as unknown as [string, number, ...unknown[]][];
        const loose = sql(`SELECT file, offset, bytes FROM loose WHERE ${which}`).all(...values) as never[];
        const forgotten = pages.map(([site, lead, ...rest]) => ({ lead, page: pageOfValues(site, rest) }));
        sql(`DELETE FROM page WHERE ${which}`).run(...values);
        sql(`DELETE FROM loose WHERE ${which}`).run(...values);
        const records = forgotten.flatMap(({ lead, page }) => (isArchived(page) ? [groupOf(page, lead)] : []));
        return { pages: forgotten.map(({ page }) => page), records: [...records, ...loose] };
      }),
    epochs: () =>
      new Map(
        sql('SELECT shard, number FROM epoch')
          .all()
          .map(({ shard, number }) => [shard as number, number as number]),
      ),
    keepEpochs: (epochs) =>
      inTransaction(db, () => {
        for (const [shard, epoch] of epochs) sql('INSERT OR REPLACE INTO epoch VALUES (?, ?)').run(shard, epoch);
      }),
    checkpoint: () => void sql('PRAGMA wal_checkpoint(PASSIVE)').get(),
    close: () => db.close(),
  };
};

const groupOf = (page: ArchivedRow, lead: number): DeadRecords => ({
  file: page.warc_file,
  offset: page.warc_offset - lead,
  bytes: lead + page.warc_group_length,
});

/** The number of its row; null when it has none. */
const insertPart = (sql: Sql, batch: number, { page, records, shard }: NewPart): number | null => {
  if (page && isArchived(page)) return insertPage(sql, page, batch, shard, page.warc_offset - records!.offset);
  if (records)
    sql('INSERT INTO loose (batch, shard, file, offset, bytes) VALUES (?, ?, ?, ?, ?)').run(
      batch,
      shard,
      records.file,
      records.offset,
      records.bytes,
    );
  return page && insertPage(sql, page, batch, shard);
};

export const insertPage = (sql: Sql, page: PageRow, batch: number, shard: number, lead = 0): number =>
  Number(
    sql(`INSERT INTO page (site, ${PAGE_FIELDS}, batch, shard, lead) VALUES (?, ${PAGE_MARKS}, ?, ?, ?)`).run(
      page.site,
      ...pageValues(page),
      batch,
      shard,
      lead,
    ).lastInsertRowid,
  );

/** Whether there is a row that says that this link was given up. */
export const hasGivenUp = (sql: Sql, { site, url }: Pick<Page, 'site' | 'url'>): boolean =>
  sql("SELECT 1 FROM page WHERE site = ? AND url_key = ? AND url = ? AND outcome = 'gave-up'").get(
    site,
    urlKey(url),
    url,
  ) !== undefined;

export const writeBatch = (sql: Sql, { number, before, end, parts }: Batch): void =>
  void sql(
    `INSERT OR REPLACE INTO batch (only, number, before_file, before_bytes, end_file, end_bytes, parts)
     VALUES (1, ?, ?, ?, ?, ?, ?)`,
  ).run(number, before.file, before.bytes, end.file, end.bytes, JSON.stringify(parts));

/** Null before the first. */
export const readBatch = (sql: Sql): Batch | null => {
  const row = sql('SELECT number, before_file, before_bytes, end_file, end_bytes, parts FROM batch').get();
  if (!row) return null;
  return {
    number: row.number as number,
    before: { file: row.before_file as string, bytes: row.before_bytes as number },
    end: { file: row.end_file as string, bytes: row.end_bytes as number },
    parts: JSON.parse(row.parts as string) as Part[],
  };
};

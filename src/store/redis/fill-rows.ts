/** Fills a new file of page rows from another store; it is worth nothing until it is whole. */

import { closeSync, fsyncSync, openSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { ArchiveEnd } from '../../model/census.ts';
import type { PlacedPage } from '../../model/settlement.ts';
import { shardOf } from '../../url/shard.ts';
import { storeFault } from '../sqlite/fault.ts';
import { insertPage, openRows } from './rows.ts';

export interface RowsFilling {
  add(pages: readonly PlacedPage[]): void;
  /** Afterwards the file is whole, on disk and closed. */
  end(archive: ArchiveEnd): void;
  /** Gives up what is not whole. */
  close(): void;
}

export const fillRows = (path: string, shards: number): RowsFilling => {
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw storeFault(error);
    }
  };
  const { db, pageIndex } = guarded(() => begin(path));
  let insert: StatementSync | null = null;
  const sql = (text: string): StatementSync => (insert ??= db.prepare(text));
  return {
    add: (pages) =>
      guarded(() => {
        db.exec('BEGIN IMMEDIATE');
        for (const { place, ...page } of pages)
          insertPage(sql, { page, place }, { batch: 0, shard: shardOf(page.site, shards) });
        db.exec('COMMIT');
      }),
    end: ({ file, bytes }) =>
      guarded(() => {
        // The batch before the first: what lies behind its end was not settled.
        db.prepare(
          'INSERT INTO batch (only, number, before_file, before_bytes, end_file, end_bytes, parts) VALUES (1, 0, ?, ?, ?, ?, ?)',
        ).run(file, bytes, file, bytes, '[]');
        db.exec(`${pageIndex}; PRAGMA journal_mode = WAL`);
        db.close();
        const fd = openSync(path, 'r+');
        fsyncSync(fd); // nothing was synced on the way
        closeSync(fd);
      }),
    close: () => {
      if (db.isOpen) db.close();
    },
  };
};

/**
 * No journal and no sync before the end; and the index is made at the end and in one go: row by row it would be read
 * from all over the disk.
 */
const begin = (path: string): { readonly db: DatabaseSync; readonly pageIndex: string } => {
  openRows(path).close();
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
  const { sql: pageIndex } = db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'page_of_site'").get() as {
    sql: string;
  };
  db.exec('DROP INDEX page_of_site');
  return { db, pageIndex };
};

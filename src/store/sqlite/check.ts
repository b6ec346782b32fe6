/** What a check of a whole crawl reads from the database: is it sound, what does it count, where do pages lie? */

import { DatabaseSync } from 'node:sqlite';
import { preparing, readTally, type Book } from './book.ts';
import { SCHEMA_VERSION, versionOf } from './schema.ts';
import type { Tally } from './tally.ts';
import { layoutFault } from '../layouts.ts';

/** Damaged places of the database that are named; one is enough to know that a copy is needed. */
const INTEGRITY_LINES_MAX = 50;
/** What SQLite says of a file whose content is wrong: SQLITE_CORRUPT and SQLITE_NOTADB. */
const CORRUPT_CODES: readonly number[] = [11, 26];

export interface Checked {
  readonly db: DatabaseSync;
  readonly sql: Book['sql'];
}

/** Opens the database to read it; nothing in it can be changed through this. */
export const openToCheck = (path: string): Checked => {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    // Where rows must be sorted, 2 MiB of them are in memory at a time.
    db.exec('PRAGMA temp_store = FILE');
    const version = versionOf(db);
    if (version !== SCHEMA_VERSION)
      throw layoutFault({ kind: 'crawl.db', what: `the store "${path}"`, found: version, known: SCHEMA_VERSION });
    return { db, sql: preparing(db) };
  } catch (error) {
    db.close();
    throw error;
  }
};

/** A process that ended while it made the store leaves a file without tables; a start makes them. */
export const isUnmade = (path: string): boolean => {
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    return versionOf(db) === 0;
  } catch {
    return false; // what is wrong with it is said by the check
  } finally {
    db.close();
  }
};

export const isCorrupt = (error: unknown): boolean =>
  CORRUPT_CODES.includes(((error as { errcode?: number }).errcode ?? 0) & 0xff);

/** What is wrong inside the database file, one sentence each; empty when it is sound. */
export const integrityOf = ({ db }: Checked): string[] => {
  const lines: string[] = [];
  try {
    // One row at a time: damage that ends the check must not cost what it has said before.
    for (const row of db.prepare(`PRAGMA integrity_check(${INTEGRITY_LINES_MAX})`).iterate()) {
      lines.push(
        ...String(row.integrity_check)
          .split('\n')
          .filter((line) => line !== 'ok' && !line.startsWith('***')),
      );
    }
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    if (lines.length === 0) lines.push((error as Error).message);
  }
  if (lines.length === 0) return [];
  const trees = treesOf(db);
  return lines
    .slice(0, INTEGRITY_LINES_MAX)
    .map((line) => line.replace(/\bTree (\d+)\b/, (whole, root: string) => trees.get(Number(root)) ?? whole));
};

/** SQLite names a damaged tree by its first page; a person knows the tables. */
const treesOf = (db: DatabaseSync): Map<number, string> => {
  try {
    const rows = db.prepare('SELECT type, name, rootpage FROM sqlite_schema WHERE rootpage > 0').all() as {
      type: string;
      name: string;
      rootpage: number;
    }[];
    return new Map(rows.map((row) => [row.rootpage, `${row.type} ${row.name}:`]));
  } catch {
    return new Map(); // the page that lists the tables is damaged too
  }
};

/** The counters as they were last written; null when there are none though there should be, or they cannot be read. */
export const tallyOf = ({ db, sql }: Checked): Tally | null => {
  try {
    const isEmpty =
      sql('SELECT 1 FROM site LIMIT 1').get() === undefined && sql('SELECT 1 FROM page LIMIT 1').get() === undefined;
    return isEmpty || sql("SELECT 1 FROM meta WHERE name = 'tally'").get() ? readTally(db) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
};

/** A settled page with its place, as far as the archive can confirm it. */
export interface PlacedRow {
  readonly id: number;
  readonly url: string;
  readonly digest: string;
  readonly file: string;
  readonly offset: number;
  readonly length: number;
  readonly groupLength: number;
}

/**
 * All pages that have a place, in the order of the archive. Pages are settled in that order, so their numbers give it
 * without an index; where they do not (`inOrder` false), SQLite sorts them in temporary files, which it maps into
 * memory.
 */
export function* placedPages({ sql }: Checked, inOrder: boolean): Generator<PlacedRow> {
  const rows = eachRow<[number, string, string, string, number, number, number]>(
    sql,
    `SELECT id, url, digest, file, offset, length, group_length FROM page
    WHERE file IS NOT NULL ORDER BY ${inOrder ? '' : 'file, offset, '}id`,
  );
  for (const [id, url, digest, file, offset, length, groupLength] of rows)
    yield { id, url, digest, file, offset, length, groupLength };
}

/**
 * Rows as arrays, in the order of their columns. As an object (Node 24), each would leave some 90 bytes behind that
 * only a full collection frees: 100 MiB at a million pages.
 */
export const eachRow = <Row extends readonly unknown[]>(sql: Book['sql'], text: string): Iterable<Row> =>
  sql(text, 'arrays').iterate() as Iterable<unknown> as Iterable<Row>;

/** Whether the log of fingerprints can be read: eight bytes each. */
export const isLogWhole = ({ sql }: Checked): boolean =>
  sql('SELECT 1 FROM seen WHERE length(fingerprints) % 8 <> 0 LIMIT 1').get() === undefined;

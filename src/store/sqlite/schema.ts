/** The layout of the embedded store, and how its database is opened. */

import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { SHARDS } from '../../url/shard.ts';
import { layoutFault } from '../layouts.ts';
import { PAGE_DECLARED } from '../page-row.ts';
import { openReadOnly } from '../read-only.ts';
import { preparing, sqlFile, type Sql } from './statements.ts';

export const SCHEMA_VERSION = 5;

const PAGE_TABLE = `CREATE TABLE page (id INTEGER PRIMARY KEY, site INTEGER NOT NULL, ${PAGE_DECLARED}) STRICT`;
/** A crawl that is filled gets it at the end and in one go: row by row it would be read from all over the disk. */
export const PAGE_INDEX = 'CREATE INDEX page_of_site ON page (site, url_key)';
/** Written last: a database without it is no crawl. */
export const SET_VERSION = `PRAGMA user_version = ${SCHEMA_VERSION}`;

/** Measured at 3 M links: neither 2 nor 192 MiB make a verb faster; the system's own cache has the file anyway. */
const CACHE_KIB = 8 * 1024;
/** The WAL file is cut back to this after a checkpoint; it stays small because readers are short. */
const WAL_BYTES_MAX = 64 * 1024 * 1024;
/** How long a statement waits for a lock of another process. */
const BUSY_MS = 5_000;

/** A database that is open. */
export interface Connection {
  readonly db: DatabaseSync;
  readonly sql: Sql;
}

/** Opens the database to write it, and creates its tables if it is new. Throws what SQLite throws. */
export const openDatabase = (path: string, shards: number = SHARDS): Connection => {
  const db = new DatabaseSync(path);
  try {
    // WAL with synchronous NORMAL: a killed process loses nothing, a power failure the last seconds.
    // No checkpoint by itself: the archive is synced before each (store.ts).
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -${CACHE_KIB};
      PRAGMA journal_size_limit = ${WAL_BYTES_MAX}; PRAGMA wal_autocheckpoint = 0; PRAGMA busy_timeout = ${BUSY_MS};`);
    if (versionOf(db) === 0) {
      db.exec('BEGIN IMMEDIATE');
      createTables(db, shards);
      db.exec(`${PAGE_INDEX}; ${SET_VERSION}; COMMIT`);
    }
    checkLayout(db, path);
    return { db, sql: preparing(db) };
  } catch (error) {
    db.close();
    throw error;
  }
};

/** All but the index of pages and the version. */
export const createTables = (db: DatabaseSync, shards: number): void => {
  db.exec(`${sqlFile('schema')}; ${PAGE_TABLE}`);
  db.prepare("INSERT INTO meta (name, value) VALUES ('shards', ?)").run(String(shards));
};

/**
 * Opens the database to read it, and makes nothing. Null when there is no crawl: no file, or one that a process left
 * before it was whole. Throws what SQLite throws.
 */
export const openToRead = (path: string): Connection | null => {
  if (!existsSync(path)) return null;
  const db = openReadOnly(path);
  try {
    if (versionOf(db) !== 0) {
      checkLayout(db, path);
      return { db, sql: preparing(db) };
    }
  } catch (error) {
    db.close();
    throw error;
  }
  db.close();
  return null;
};

const checkLayout = (db: DatabaseSync, path: string): void => {
  const found = versionOf(db);
  if (found !== SCHEMA_VERSION)
    throw layoutFault({ kind: 'crawl.db', what: `the store "${path}"`, found, known: SCHEMA_VERSION });
};

const versionOf = (db: DatabaseSync): number =>
  (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;

/** How many shards the crawl was made with. */
export const shardsIn = (db: DatabaseSync): number =>
  Number((db.prepare("SELECT value FROM meta WHERE name = 'shards'").get() as { value: string } | undefined)?.value);

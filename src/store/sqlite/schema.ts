/** The tables of the embedded store, and how its database is opened. */

import { DatabaseSync } from 'node:sqlite';
import { SHARDS } from '../../url/shard.ts';
import { PAGE_DECLARED } from '../page-row.ts';

export const SCHEMA_VERSION = 3;

/**
 * What a site is doing. The due index has just those that wait. Whether a link waits is a state of its own, because a
 * partial index over the counter would be written for every link that is added.
 */
export const SITE_WAITING = 0;
export const SITE_LEASED = 1;
export const SITE_PARKED = 2;
export const SITE_HELD = 3;
/** No link of it waits. */
export const SITE_IDLE = 4;

/**
 * Waiting links lie in blocks: what one page gives one site is one row. `site.line` has the numbers of its blocks
 * in order, the middle of a long line in packs (lib/long-queue.ts), so that new blocks are appended in rowid order, no
 * block is touched to hook on the next, and no index has an entry per link. `head_at` is how far the first block has
 * been read.
 * `seen` is a log of fingerprints, one row per transaction; the table in memory is its index.
 */
const TABLES = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;

  CREATE TABLE site (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    shard INTEGER NOT NULL,
    state INTEGER NOT NULL DEFAULT ${SITE_WAITING},
    waiting INTEGER NOT NULL DEFAULT 0,
    pages INTEGER NOT NULL DEFAULT 0,
    due_at REAL NOT NULL,
    delay_ms REAL NOT NULL DEFAULT 0,
    crawl_delay_ms REAL NOT NULL DEFAULT 0,
    response_ms REAL NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    line TEXT NOT NULL DEFAULT '',
    head_at INTEGER NOT NULL DEFAULT 0,
    lease INTEGER,
    holder TEXT,
    leased TEXT
  ) STRICT;
  CREATE INDEX site_due ON site (shard, due_at) WHERE state = ${SITE_WAITING};
  CREATE INDEX site_leased ON site (holder) WHERE state = ${SITE_LEASED};
  CREATE INDEX site_aside ON site (state) WHERE state IN (${SITE_PARKED}, ${SITE_HELD});

  CREATE TABLE pack (id INTEGER PRIMARY KEY, blocks TEXT NOT NULL) STRICT;
  CREATE TABLE block (id INTEGER PRIMARY KEY, read_to INTEGER NOT NULL, via TEXT NOT NULL, links TEXT NOT NULL) STRICT;

  CREATE TABLE robots (
    origin TEXT PRIMARY KEY, fetched_at REAL NOT NULL, expires_at REAL NOT NULL,
    verdict TEXT NOT NULL, rules TEXT NOT NULL, crawl_delay_ms REAL
  ) STRICT;

  CREATE TABLE seen (id INTEGER PRIMARY KEY, fingerprints BLOB NOT NULL) STRICT;

  CREATE TABLE page (
    id INTEGER PRIMARY KEY, site INTEGER NOT NULL, ${PAGE_DECLARED}
  ) STRICT;
  CREATE INDEX page_of_site ON page (site, url_key);

  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** Measured at 3 M links: neither 2 nor 192 MiB make a verb faster; the system's own cache has the file anyway. */
const CACHE_KIB = 8 * 1024;
/** The WAL file is cut back to this after a checkpoint; it stays small because readers are short. */
const WAL_BYTES_MAX = 64 * 1024 * 1024;

/** Opens the database to write it, and creates its tables if it is new. Throws what SQLite throws. */
export const openDatabase = (path: string, shards: number = SHARDS): DatabaseSync => {
  const db = new DatabaseSync(path);
  // WAL with synchronous NORMAL: a killed process loses nothing, a power failure the last seconds.
  // No checkpoint by itself: the archive is synced before each (store.ts).
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -${CACHE_KIB};
    PRAGMA journal_size_limit = ${WAL_BYTES_MAX}; PRAGMA wal_autocheckpoint = 0; PRAGMA busy_timeout = 5000;`);
  const version = versionOf(db);
  if (version === 0)
    db.exec(`BEGIN IMMEDIATE; ${TABLES} INSERT INTO meta (name, value) VALUES ('shards', '${shards}'); COMMIT;`);
  return db;
};

/** How many shards the crawl was made with. */
export const shardsIn = (db: DatabaseSync): number =>
  Number(
    (db.prepare("SELECT value FROM meta WHERE name = 'shards'").get() as { value: string } | undefined)?.value ??
      SHARDS,
  );

export const versionOf = (db: DatabaseSync): number =>
  (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;

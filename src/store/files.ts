/** The files that stores have in the directory of a member, and how they change hands when a crawl is moved. */

import { closeSync, existsSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StoreFault } from '../contract/fault.ts';
import { settledTotal, type Census } from '../model/census.ts';
import { kindOf, type StoreKind } from './address.ts';
import type { StorePlace } from './options.ts';

/** The embedded store. */
export const CRAWL_DB = 'crawl.db';
/** Rows of the pages that a member fetched, where the store leaves them to it. */
export const PAGES_DB = 'pages.db';
/** Waiting links of a crawl in Redis with `--frontier files`. */
export const FRONTIER_DIR = 'frontier';

/** Files that SQLite has beside a database. */
const COMPANIONS = ['-wal', '-shm', '-journal'] as const;
/** The snapshot of known URLs beside the embedded store. */
export const snapshotPath = (database: string): string => `${database}-seen`;

const DATABASES: Readonly<Record<StoreKind, readonly string[]>> = {
  sqlite: [CRAWL_DB],
  redis: [PAGES_DB],
  postgres: [],
};

const freshOf = (path: string): string => `${path}.new`;
const movedOf = (path: string): string => `${path}-moved`;

/** Where a file of the store lies. */
export const pathOf = ({ dir, isFresh }: Pick<StorePlace, 'dir' | 'isFresh'>, file: string): string =>
  isFresh ? freshOf(join(dir, file)) : join(dir, file);

/** Removes a database with all that SQLite has beside it. */
export const removeDatabase = (path: string): void => {
  rmSync(path, { force: true });
  removeCompanions(path);
};

const removeCompanions = (path: string): void => {
  for (const ending of COMPANIONS) rmSync(path + ending, { force: true });
};

/**
 * Gives the files of the new store their names, and the old ones theirs. Each step may be repeated: killed in between,
 * the next run, or a resume, takes those that are left.
 */
export const switchFiles = (dir: string, from: string, to: string): void => {
  for (const file of [CRAWL_DB, PAGES_DB]) {
    const path = join(dir, file);
    const isFresh = DATABASES[kindOf(to)].includes(file);
    if (isFresh ? !existsSync(freshOf(path)) : !DATABASES[kindOf(from)].includes(file)) continue;
    if (existsSync(path)) rename(path, movedOf(path));
    rmSync(snapshotPath(path), { force: true });
    if (isFresh) rename(freshOf(path), path);
    else removeCompanions(path);
  }
};

const rename = (path: string, to: string): void => {
  foldLog(path);
  removeCompanions(to); // they would be read as those of the database that comes
  renameSync(path, to);
};

/** A database whose log is in it can be renamed. */
const foldLog = (path: string): void => {
  const db = new DatabaseSync(path, { timeout: 5_000 });
  try {
    const { busy } = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
    if (busy !== 0)
      throw new StoreFault(`"${path}" is being read`, 'end the program that reads it, then run the move again');
  } finally {
    db.close();
  }
};

/** Whether files of a store that a crawl is moved to do not have their names yet. */
export const hasFreshFiles = (dir: string): boolean =>
  [CRAWL_DB, PAGES_DB].some((file) => existsSync(freshOf(join(dir, file))));

/** Files of former stores that may be deleted. No crawl that was moved has waiting links in files. */
export const leftBehind = (dir: string): string[] =>
  [movedOf(join(dir, CRAWL_DB)), movedOf(join(dir, PAGES_DB)), join(dir, FRONTIER_DIR)].filter((path) =>
    existsSync(path),
  );

/** Whether the directory has what its store keeps there; a store on a server keeps what matters itself. */
export const hasStore = (dir: string, url: string): boolean => kindOf(url) !== 'sqlite' || isMade(join(dir, CRAWL_DB));

/** A process that ended while it made the store leaves a file without tables; a start makes them. */
const isMade = (path: string): boolean => {
  if (!existsSync(path)) return false;
  // Looked at without SQLite, which would make files beside it; unless what it has is still in its log.
  if (versionIn(path) !== 0 || !existsSync(`${path}-wal`)) return versionIn(path) !== 0;
  const db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version !== 0;
  } catch {
    return true; // what is wrong with it is said by a check
  } finally {
    db.close();
  }
};

/** Where a database file has its user_version, in four bytes. */
const VERSION_AT = 60;

/** Also a number when the file is none of SQLite's: what is wrong with it is said by a check. */
const versionIn = (path: string): number => {
  const fd = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(4);
    return readSync(fd, bytes, 0, 4, VERSION_AT) < 4 ? 0 : bytes.readUInt32BE();
  } finally {
    closeSync(fd);
  }
};

/** Bytes of the databases in the directory, which a check reads whole. */
export const databaseBytes = (dir: string): number =>
  [CRAWL_DB, PAGES_DB].reduce(
    (sum, file) => sum + (statSync(join(dir, file), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );

/** About what a link and a page take in a database, with their share of the indexes. */
const LINK_BYTES = 150;
const PAGE_BYTES = 800;

/** Bytes that a crawl will take in the directory, about, when it is moved there. */
export const bytesNeeded = (dir: string, { from, to }: { from: string; to: string }, census: Census): number => {
  const kind = kindOf(to);
  if (kind === 'postgres') return 0;
  if (kind === 'redis') return PAGE_BYTES * settledTotal(census);
  if (kindOf(from) === 'sqlite') return statSync(join(dir, CRAWL_DB)).size;
  return LINK_BYTES * (census.waiting + census.parked + census.held) + PAGE_BYTES * settledTotal(census);
};

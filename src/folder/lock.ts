/** One process per crawl: a lock that the system drops when the process dies, however it dies. */

import { closeSync, openSync, readSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UsageError } from '../model/read-settings.ts';
import { isDiskFull } from '../store/disk-full.ts';

/** A database that holds nothing: SQLite's own file lock on it is the lock, and works on every system. */
const LOCK_FILE = 'crawl.lock';
/** Where a database file keeps its user_version, in which the owner's process id is noted. */
const OWNER_AT = 60;

export interface Lock {
  release(): void;
}

/**
 * Crawls open in this process. A second look at a lock file would drop the first one's lock (POSIX), and
 * a database that nobody refers to is closed by the garbage collector, lock and all.
 */
const openHere = new Map<string, DatabaseSync>();

/** Throws a UsageError when another process, or this one, has the crawl open, or its directory cannot be written. */
export const lockCrawl = (dir: string): Lock => {
  const path = join(realpathSync(dir), LOCK_FILE);
  if (openHere.has(path)) throw taken(dir, process.pid);
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(path);
    db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF');
    db.exec(`PRAGMA user_version = ${process.pid}`);
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db?.close();
    if (isBusy(error)) throw taken(dir, ownerOf(path));
    if (isDiskFull(error)) throw error;
    throw new UsageError(
      `crawl "${dir}" cannot be locked (${(error as Error).message}): make its directory writable for this user`,
    );
  }
  openHere.set(path, db);
  return {
    release: () => {
      openHere.delete(path);
      db.close();
    },
  };
};

/** The process that has the crawl open; 0 when none has. */
export const lockOwner = (dir: string): number => {
  const path = join(realpathSync(dir), LOCK_FILE);
  if (openHere.has(path)) return process.pid;
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(path, { readOnly: true });
    db.prepare('PRAGMA user_version').get();
    return 0;
  } catch (error) {
    return isBusy(error) ? ownerOf(path) : 0;
  } finally {
    db?.close();
  }
};

const isBusy = (error: unknown): boolean => ((error as { errcode?: number }).errcode ?? 0) % 256 === 5;

const ownerOf = (path: string): number => {
  const fd = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(4);
    return readSync(fd, bytes, 0, 4, OWNER_AT) === 4 ? bytes.readUInt32BE() : 0;
  } finally {
    closeSync(fd);
  }
};

const taken = (dir: string, owner: number): UsageError =>
  new UsageError(`crawl "${dir}" is open in process ${owner || '(unknown)'}; stop it or choose another --dir`);

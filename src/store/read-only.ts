/** How a database file is opened by those who only read it. */

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/** How long a statement waits for a lock of another process. */
const BUSY_MS = 5_000;

export const openReadOnly = (path: string): DatabaseSync => {
  const url = pathToFileURL(path);
  // SQLite makes a file beside a database in WAL mode, also to read it. Told that it cannot change, it does not.
  if (isAtRest(path)) url.searchParams.set('immutable', '1');
  return new DatabaseSync(url, { readOnly: true, timeout: BUSY_MS });
};

/**
 * Nobody has it open and all of it is in its one file: whoever writes has a -shm beside it, and a -wal with what is not
 * in it yet; whoever is killed leaves both. Only asked where this user can make neither.
 */
const isAtRest = (path: string): boolean =>
  !canWrite(dirname(path)) &&
  !existsSync(`${path}-shm`) &&
  (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0;

const canWrite = (dir: string): boolean => {
  try {
    accessSync(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

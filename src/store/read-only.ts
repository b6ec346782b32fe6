/** How a database file is opened by those who only read it. */

import { accessSync, constants, existsSync } from 'node:fs';
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
 * Nobody has it open and all of it is in its one file: whoever writes has these two files beside it, and whoever was
 * killed left them. Only asked where this user can make none.
 */
const isAtRest = (path: string): boolean =>
  !canWrite(dirname(path)) && !existsSync(`${path}-wal`) && !existsSync(`${path}-shm`);

const canWrite = (dir: string): boolean => {
  try {
    accessSync(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * The last steps of a move, when crawl.json names the new store: files take their names, and what was left behind is
 * put away.
 */

import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EMBEDDED, kindOf, type StoreKind } from '../../store/place.ts';
import { frontierFolder } from '../../store/redis/line-files.ts';
import { COMPANIONS } from '../../store/sqlite/move.ts';
import { snapshotPath } from '../../store/sqlite/snapshot.ts';
import { StoreFault } from '../../frontier/store.ts';
import { FILES, keepIdentity, type Identity } from '../folder.ts';
import { lockCrawl } from '../lock.ts';

/** A file of the new store, until the crawl is there. */
export const freshOf = (path: string): string => `${path}.new`;
/** What the crawl was before; it may be deleted. */
export const movedOf = (path: string): string => `${path}-moved`;

/** The files that a store has in the directory. */
const DATABASES: Readonly<Record<StoreKind, readonly string[]>> = {
  sqlite: [FILES.store],
  redis: [FILES.rows],
  postgres: [],
};

/**
 * Gives the files of the new store their names, and the old ones theirs. Each step may be repeated: killed in between,
 * the next run, or a resume, takes those that are left.
 */
const switchFiles = (dir: string, from: StoreKind, to: StoreKind): void => {
  for (const file of [FILES.store, FILES.rows]) {
    const path = join(dir, file);
    const isFresh = DATABASES[to].includes(file);
    if (isFresh ? !existsSync(freshOf(path)) : !DATABASES[from].includes(file)) continue;
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

const removeCompanions = (path: string): void => {
  for (const ending of COMPANIONS) rmSync(path + ending, { force: true });
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

/**
 * Puts the files right after a move that was killed; the directory must be locked. What is left to do beside files
 * stays noted.
 */
export const finishFiles = (dir: string, identity: Identity): Identity => {
  const { movedFrom, ...rest } = identity;
  if (!movedFrom) return identity;
  const from = kindOf(movedFrom.store);
  switchFiles(dir, from, kindOf(identity.settings.store ?? EMBEDDED));
  return from === 'sqlite' ? keepIdentity(dir, rest) : identity;
};

/** The same for whoever opens the crawl; does nothing when no move was killed. */
export const finishMove = (dir: string, identity: Identity): Identity => {
  if (!identity.movedFrom) return identity;
  const lock = lockCrawl(dir);
  try {
    return finishFiles(dir, identity);
  } finally {
    lock.release();
  }
};

/** Whether the files of the crawl do not have their names yet. */
export const isHalfMoved = (dir: string, { movedFrom }: Identity): boolean =>
  movedFrom !== undefined && [FILES.store, FILES.rows].some((file) => existsSync(freshOf(join(dir, file))));

/**
 * Files of former stores that may be deleted, and the folder of waiting links: no crawl that was moved has these in
 * files.
 */
export const leftBehind = (dir: string): string[] =>
  [...[FILES.store, FILES.rows].map((file) => movedOf(join(dir, file))), frontierFolder(join(dir, FILES.rows))].filter(
    (path) => existsSync(path),
  );

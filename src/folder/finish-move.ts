/** The last steps of a move, when crawl.json names the new store: files take their names, old ones are put away. */

import { EMBEDDED, isShared } from '../store/address.ts';
import { hasFreshFiles, switchFiles } from '../store/files.ts';
import { keepIdentity, type Identity } from './folder.ts';
import { lockCrawl } from './lock.ts';

/**
 * Puts the files right after a move that was killed; the directory must be locked. What is left to do beside files
 * stays noted.
 */
export const finishFiles = (dir: string, identity: Identity): Identity => {
  const { movedFrom, ...rest } = identity;
  if (!movedFrom) return identity;
  switchFiles(dir, movedFrom.store, identity.settings.store ?? EMBEDDED);
  return isShared(movedFrom.store) ? identity : keepIdentity(dir, rest);
};

/** Finishes a move that was killed, for whoever opens the crawl; does nothing when none was. */
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
  movedFrom !== undefined && hasFreshFiles(dir);

/** Opens the store of a crawl to read it, while the crawl runs or after. */

import type { StoredCrawl } from '../contract/stored-crawl.ts';
import { UsageError } from '../model/read-settings.ts';
import { hasStore } from '../store/files.ts';
import { openStoredCrawl } from '../store/open.ts';
import { readIdentity, type Identity } from './folder.ts';
import { knownStore, storePlace } from './store-place.ts';

export interface OpenCrawl {
  readonly crawl: StoredCrawl;
  readonly identity: Identity;
}

/**
 * Rejects with a UsageError when there is no crawl, or it has not begun. `given` is the address of its store with the
 * password, where the caller has it: the directory does not.
 */
export const openToRead = async (dir: string, given?: string): Promise<OpenCrawl> => {
  const identity = readIdentity(dir);
  const url = knownStore(identity.settings.store, given);
  if (!hasStore(dir, url))
    throw new UsageError(
      `crawl "${dir}" has no store yet: it was stopped before it began; "gossamer resume ${dir}" begins it`,
    );
  return { identity, crawl: await openStoredCrawl({ ...storePlace(dir, identity, url), say: () => {} }) };
};

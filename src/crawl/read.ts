/** Opens the store of a crawl to read it, while the crawl runs or after. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Reader } from '../frontier/store.ts';
import { UsageError } from '../model/read-settings.ts';
import { kindOf } from '../store/place.ts';
import { openSharedCrawl } from '../store/shared.ts';
import { openSqliteReader } from '../store/sqlite/reader.ts';
import { FILES, readIdentity, type Identity } from './folder.ts';
import { knownStore, sharedPlace, storeStart } from './store-place.ts';

export interface OpenReader {
  readonly reader: Reader;
  readonly identity: Identity;
}

/** Rejects with a UsageError when there is no crawl, or it has not begun. */
export const openReader = async (dir: string): Promise<OpenReader> => {
  const identity = readIdentity(dir);
  const url = knownStore(identity.settings.store);
  return { identity, reader: kindOf(url) === 'sqlite' ? openEmbedded(dir) : await openShared(dir, identity, url) };
};

const openEmbedded = (dir: string): Reader => {
  const path = join(dir, FILES.store);
  if (!existsSync(path))
    throw new UsageError(
      `crawl "${dir}" has no store yet: it was stopped before it began; "gossamer resume ${dir}" begins it`,
    );
  return openSqliteReader(path);
};

/** The connection ends with the reader. */
const openShared = async (dir: string, identity: Identity, url: string): Promise<Reader> => {
  const crawl = await openSharedCrawl(sharedPlace(storeStart(dir, identity, url), () => {}));
  const reader = crawl.reader(join(dir, FILES.rows));
  return {
    ...reader,
    close: async () => {
      await reader.close();
      await crawl.close();
    },
  };
};

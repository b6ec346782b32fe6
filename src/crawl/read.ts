/** Opens the store of a crawl to read it, while the crawl runs or after. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Reader } from '../frontier/store.ts';
import { UsageError } from '../model/read-settings.ts';
import { openSqliteReader } from '../store/sqlite/reader.ts';
import { FILES, readIdentity, type Identity } from './folder.ts';

export interface OpenReader {
  readonly reader: Reader;
  readonly identity: Identity;
}

/** Throws a UsageError when there is no crawl, or it has not begun. */
export const openReader = (dir: string): OpenReader => {
  const identity = readIdentity(dir);
  const path = join(dir, FILES.store);
  if (!existsSync(path)) throw new UsageError(`crawl "${dir}" has no store yet: it was stopped before it began; "gossamer resume ${dir}" begins it`);
  return { identity, reader: openSqliteReader(path) };
};

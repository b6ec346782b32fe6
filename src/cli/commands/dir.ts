/** The crawl that a command is about. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FILES, readIdentity, type Identity } from '../../crawl/folder.ts';
import { UsageError } from '../../model/read-settings.ts';
import type { Reader } from '../../frontier/store.ts';
import { openSqliteReader } from '../../store/sqlite/reader.ts';
import type { Read } from '../flags.ts';

export const crawlDirOf = ({ words }: Read, more = 0): string => {
  const [dir, ...rest] = words;
  if (dir === undefined) throw new UsageError('the directory of the crawl is missing, such as ./crawl');
  if (rest.length > more) throw new UsageError(`"${rest[more]}" is one word too many`);
  return dir;
};

/** Opens the crawl's store to read it, and closes it whatever happens. */
export const withReader = async <T>(dir: string, work: (reader: Reader, identity: Identity) => T | Promise<T>): Promise<T> => {
  const identity = readIdentity(dir);
  const path = join(dir, FILES.store);
  if (!existsSync(path)) throw new UsageError(`crawl "${dir}" has no store yet: it was stopped before it began; "gossamer resume ${dir}" begins it`);
  const reader = openSqliteReader(path);
  try {
    return await work(reader, identity);
  } finally {
    reader.close();
  }
};

/** The crawl that a command is about. */

import type { Identity } from '../../crawl/folder.ts';
import { openReader } from '../../crawl/read.ts';
import { UsageError } from '../../model/read-settings.ts';
import type { Reader } from '../../frontier/store.ts';
import type { Read } from '../flags.ts';

export const crawlDirOf = ({ words }: Read, more = 0): string => {
  const [dir, ...rest] = words;
  if (dir === undefined) throw new UsageError('the directory of the crawl is missing, such as ./crawl');
  if (rest.length > more) throw new UsageError(`"${rest[more]}" is one word too many`);
  return dir;
};

/** Opens the crawl's store to read it, and closes it whatever happens. */
export const withReader = async <T>(
  dir: string,
  work: (reader: Reader, identity: Identity) => T | Promise<T>,
): Promise<T> => {
  const { reader, identity } = await openReader(dir);
  try {
    return await work(reader, identity);
  } finally {
    await reader.close();
  }
};

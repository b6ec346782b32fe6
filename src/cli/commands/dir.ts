/** The crawl that a command is about. */

import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import type { Identity } from '../../folder/folder.ts';
import { openToRead } from '../../results/read.ts';
import { UsageError } from '../../model/read-settings.ts';
import type { Read } from '../flags.ts';

export const crawlDirOf = ({ words }: Read, more = 0): string => {
  const [dir, ...rest] = words;
  if (dir === undefined) throw new UsageError('the directory of the crawl is missing, such as ./crawl');
  if (rest.length > more) throw new UsageError(`"${rest[more]}" is one word too many`);
  return dir;
};

/** Opens the crawl to read it, and closes it whatever happens. */
export const withCrawl = async <T>(
  dir: string,
  work: (crawl: StoredCrawl, identity: Identity) => T | Promise<T>,
): Promise<T> => {
  const { crawl, identity } = await openToRead(dir);
  try {
    return await work(crawl, identity);
  } finally {
    await crawl.close();
  }
};

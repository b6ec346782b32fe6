/** The crawl that a command is about. */

import { accessSync, constants } from 'node:fs';
import { StoreFault } from '../../contract/fault.ts';
import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import type { Identity } from '../../folder/folder.ts';
import { knownStore } from '../../folder/store-place.ts';
import { isShared } from '../../store/address.ts';
import { openToRead } from '../../results/read.ts';
import { UsageError } from '../../model/read-settings.ts';
import type { Read } from '../flags.ts';

export const crawlDirOf = ({ words }: Read, more = 0): string => {
  const [dir, ...rest] = words;
  if (dir === undefined) throw new UsageError('the directory of the crawl is missing, such as ./crawl');
  if (rest.length > more) throw new UsageError(`"${rest[more]}" is one word too many`);
  return dir;
};

/** Opens the crawl to read it, and closes it whatever happens. Throws a UsageError when that takes more rights. */
export const withCrawl = async <T>(
  dir: string,
  work: (crawl: StoredCrawl, identity: Identity) => T | Promise<T>,
): Promise<T> => {
  const { crawl, identity } = await openToRead(dir);
  try {
    return await work(crawl, identity);
  } catch (error) {
    throw error instanceof StoreFault && !isShared(knownStore(identity.settings.store)) && !isWritable(dir)
      ? new UsageError(
          `crawl "${dir}" cannot be read: a process has it open, or was killed, and what is not in its database yet can ` +
            'only be read in a directory that can be written: make it writable for this user, or copy the crawl to where it is',
        )
      : error;
  } finally {
    await crawl.close();
  }
};

const isWritable = (dir: string): boolean => {
  try {
    accessSync(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

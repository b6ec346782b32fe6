/** The crawl that a command is about. */

import { accessSync, constants } from 'node:fs';
import { StoreFault } from '../../contract/fault.ts';
import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import type { Identity } from '../../folder/folder.ts';
import { gather, type Gathering } from '../../folder/gathering.ts';
import { notGiven, rosterOf, whereIs } from '../../folder/roster.ts';
import { knownStore } from '../../folder/store-place.ts';
import { isShared } from '../../store/address.ts';
import { plural } from '../../lib/units.ts';
import { visible } from '../../lib/visible.ts';
import { UsageError } from '../../model/read-settings.ts';
import type { Read } from '../flags.ts';

export const crawlDirOf = ({ words }: Read, more = 0): string => {
  const [dir, ...rest] = words;
  if (dir === undefined) throw new UsageError('the directory of the crawl is missing, such as ./crawl');
  if (rest.length > more) throw new UsageError(`"${rest[more]}" is one word too many`);
  return dir;
};

/** The directories of a crawl, at least one. */
export const crawlDirsOf = ({ words }: Pick<Read, 'words'>): readonly string[] => {
  if (words.length === 0) throw new UsageError('the directory of the crawl is missing, such as ./crawl');
  return words;
};

/** Directories of a crawl, and a URL after them. */
export const dirsAndUrlOf = ({ words }: Read, command: string): { dirs: readonly string[]; url: string } => {
  if (words.length === 1) throw new UsageError(`the URL is missing: gossamer ${command} <dir>... <url>`);
  return { dirs: crawlDirsOf({ words: words.slice(0, -1) }), url: words.at(-1)! };
};

/** Opens the crawl to read it, and closes it whatever happens. Throws a UsageError when that takes more rights. */
export const withCrawl = <T>(
  dir: string,
  work: (crawl: StoredCrawl, identity: Identity) => T | Promise<T>,
): Promise<T> => withGathering([dir], ({ crawl, identity }) => work(crawl, identity));

/** As `withCrawl`, for the directories of several members of one crawl. */
export const withGathering = async <T>(
  dirs: readonly string[],
  work: (gathering: Gathering) => T | Promise<T>,
): Promise<T> => {
  const gathering = await gather(dirs);
  try {
    return await work(gathering);
  } catch (error) {
    const locked = isShared(knownStore(gathering.identity.settings.store))
      ? undefined
      : dirs.find((dir) => !isWritable(dir));
    throw error instanceof StoreFault && locked !== undefined
      ? new UsageError(
          `crawl "${locked}" cannot be read: a process has it open, or was killed, and what is not in its database yet can ` +
            'only be read in a directory that can be written: make it writable for this user, or copy the crawl to where it is',
        )
      : error;
  } finally {
    await gathering.close();
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

/** Says on standard error whose pages a list does not have, where each member keeps the rows of its own. */
export const tellMissing = async ({ crawl, members, isRowsByMember }: Gathering): Promise<void> => {
  if (!isRowsByMember) return;
  const missing = notGiven(await rosterOf(crawl, members), members);
  if (missing.length === 0) return;
  const links = missing.reduce((sum, { settled }) => sum + settled, 0);
  console.error(
    visible(
      `${plural(links, 'link')} settled by ${plural(missing.length, 'other member')} of this crawl ${links === 1 ? 'is' : 'are'} not among these: give ${missing.length === 1 ? 'its directory' : 'their directories'}, too (${missing.map(whereIs).join(', ')})`,
    ),
  );
};

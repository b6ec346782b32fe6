/** What the first process of a crawl leaves in a shared store for those that join it, and what they take from there. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../lib/replace-file.ts';
import { UsageError } from '../model/read-settings.ts';
import { withoutPassword } from '../store/address.ts';
import type { NewEntry } from '../contract/journal.ts';
import type { StoredCrawl } from '../contract/stored-crawl.ts';
import { openStoredCrawl } from '../store/open.ts';
import type { LookOptions } from '../store/options.ts';
import { homesOfLines } from './seeds.ts';
import { FILES, withNewNames, type Identity } from './folder.ts';

export const IDENTITY_NOTE = 'identity';
/** Left in a store that a crawl was moved away from: where it is now. */
export const MOVED_NOTE = 'moved';

/** Opens the crawl to look at it, and closes it whatever happens. */
export const withCrawl = async <T>(place: LookOptions, work: (crawl: StoredCrawl) => Promise<T>): Promise<T> => {
  const crawl = await openStoredCrawl(place);
  try {
    return await work(crawl);
  } finally {
    await crawl.close();
  }
};

/** Throws a UsageError when the store has another crawl of that name. */
export const checkNameIsFree = (place: LookOptions): Promise<void> =>
  withCrawl(place, async (crawl) => {
    if ((await crawl.note(IDENTITY_NOTE)) !== null) throw taken(place);
  });

const taken = ({ url, crawl }: LookOptions): UsageError =>
  new UsageError(
    `${withoutPassword(url)} has a crawl "${crawl}" already: take part in it by "gossamer join", or choose another --name`,
  );

export interface Announced {
  readonly identity: Identity;
  readonly dir: string;
  /** The first entry of the journal, if it has none yet: everything that is in force. */
  readonly first: NewEntry;
}

/**
 * Makes the crawl known to those who join; does nothing when it is. Throws a UsageError when another crawl has the
 * name.
 */
export const announce = (place: LookOptions, { identity, dir, first }: Announced): Promise<void> =>
  withCrawl(place, async (crawl) => {
    await checkNotMoved(crawl, place);
    let kept = identity;
    if ((await crawl.note(IDENTITY_NOTE)) === null) await crawl.write(first);
    // The identity last: who finds it finds the rest.
    for (const [name, text] of Object.entries(notesOf(identity, dir))) {
      const there = await crawl.keepNote(name, text);
      if (name === IDENTITY_NOTE) kept = JSON.parse(there) as Identity;
    }
    if (kept.id !== identity.id) throw taken(place);
  });

/** What those who join must know beside the journal, the identity last. Seeds only where they are the scope. */
export const notesOf = (identity: Identity, dir: string): Record<string, string> => {
  const seeds = join(dir, FILES.seeds);
  const text = existsSync(seeds) ? readFileSync(seeds, 'utf8') : '';
  const { member: _, movedFrom: __, journal: ___, seedBytes: ____, ...shared } = identity;
  return {
    ...(homesOfLines(text, identity.settings).length > 0 ? { [FILES.seeds]: text } : {}),
    [IDENTITY_NOTE]: JSON.stringify(shared),
  };
};

/** Throws a UsageError when the crawl is elsewhere by now. */
export const checkNotMoved = async (crawl: StoredCrawl, place: LookOptions): Promise<void> => {
  const to = await crawl.note(MOVED_NOTE);
  if (to !== null)
    throw new UsageError(
      `the crawl "${place.crawl}" in ${withoutPassword(place.url)} was moved to ${to}: go on with it there`,
    );
};

/** Tells members that still have the crawl here where it is now. */
export const tellMoved = (place: LookOptions, to: string): Promise<void> =>
  withCrawl(place, async (crawl) => void (await crawl.keepNote(MOVED_NOTE, to)));

/** What a new member starts from. Throws a UsageError when there is no crawl of that name. */
export const identityIn = (place: LookOptions): Promise<Omit<Identity, 'member'>> =>
  withCrawl(place, async (crawl) => {
    await checkNotMoved(crawl, place);
    const text = await crawl.note(IDENTITY_NOTE);
    if (text === null)
      throw new UsageError(
        `${withoutPassword(place.url)} has no crawl "${place.crawl}": start it by "gossamer crawl", or give its --name`,
      );
    return withNewNames(JSON.parse(text) as Identity);
  });

/** Writes the seeds that are the scope of all into the directory of a new member. */
export const takeScope = (place: LookOptions, dir: string): Promise<void> =>
  withCrawl(place, async (crawl) => replaceFile(join(dir, FILES.seeds), (await crawl.note(FILES.seeds)) ?? ''));

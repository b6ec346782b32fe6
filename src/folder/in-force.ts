/**
 * What is in force of a crawl's settings and lists. The journal in its store is the truth; the directory of each member
 * has a copy, in crawl.json and exclude.txt, to be read without the store.
 */

import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Entry, NewEntry } from '../contract/journal.ts';
import { fold, NOTHING_IN_FORCE, writeChange, type CrawlChange, type InForce } from '../model/crawl-change.ts';
import type { Settings } from '../model/settings.ts';
import type { LookOptions } from '../store/options.ts';
import { FILES, keepIdentity, readIdentity, writeIdentity, type Identity } from './folder.ts';
import { checkNotMoved, withCrawl } from './notes.ts';
import { writeExcluded } from './seeds.ts';

/** Gives entries after a number; see the contract of stores. */
export type ReadJournal = (after: number) => Promise<readonly Entry[]>;

/**
 * What the journal says now. It goes on after what is known, if the journal still has that; a store that went back in
 * time may have forgotten it.
 */
export const inForceNow = async (journal: ReadJournal, known: InForce = NOTHING_IN_FORCE): Promise<InForce> => {
  const [last] = known.number === 0 ? [] : await journal(known.number - 1);
  let now = last?.id === known.id ? known : NOTHING_IN_FORCE;
  for (;;) {
    const entries = await journal(now.number);
    if (entries.length === 0) return now;
    now = fold(now, entries);
  }
};

/**
 * What the journal of a stored crawl says: from its first entry on, whatever a copy says that somebody may have edited.
 * Throws a UsageError when the crawl was moved.
 */
export const inForceIn = (place: LookOptions): Promise<InForce> =>
  withCrawl(place, async (crawl) => {
    await checkNotMoved(crawl, place);
    return inForceNow((after) => crawl.journal(after));
  });

/** Renews the copy; `settings` are all that this member has, its own included. */
export const keepCopy = (dir: string, { number, id, seeds, excluded }: InForce, settings: Settings): Identity => {
  // The number last: a copy is never older than its number says.
  writeExcluded(dir, excluded);
  return writeIdentity(dir, settings, { ...readIdentity(dir), journal: { number, id, seeds } });
};

export const seedBytesOf = (dir: string): number => {
  const path = join(dir, FILES.seeds);
  return existsSync(path) ? statSync(path).size : 0;
};

/** Remembers that the journal knows of the seeds that this directory has. */
export const noteSeeds = (dir: string, identity: Identity = readIdentity(dir)): Identity =>
  keepIdentity(dir, { ...identity, seedBytes: seedBytesOf(dir) });

/** An entry with an id of its own. */
export const newEntry = (change: CrawlChange, id: string = randomUUID()): NewEntry => ({
  id,
  text: writeChange(change),
});

/** Who changes something, for people: `anna@host`. */
export const whoWeAre = (): string => {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return hostname(); // a user without a name, as in some containers
  }
};

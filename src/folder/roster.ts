/** Who takes part in a crawl: what its store knows of each member, and what this machine has of it. */

import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { StoreFault } from '../contract/fault.ts';
import type { MemberView } from '../contract/journal.ts';
import type { StoredCrawl } from '../contract/stored-crawl.ts';
import { isShared } from '../store/address.ts';
import { FILES, readIdentity } from './folder.ts';
import { gather, shortName, type Gathered } from './gathering.ts';
import { lockOwner } from './lock.ts';
import { knownStore, memberOf } from './store-place.ts';

export interface RosterEntry extends MemberView {
  /** The directory of the member, where that is given or found on this machine; null where it is not at hand. */
  readonly atHand: string | null;
}

/** All who took part, in the order in which they came. */
export const rosterOf = async (
  crawl: StoredCrawl,
  given: readonly Pick<Gathered, 'dir' | 'member'>[],
): Promise<RosterEntry[]> => {
  const views = await crawl.members();
  const met = new Set(views.map(({ member }) => member));
  // A directory that joined and settled nothing yet is a member all the same.
  const silent = given.filter(({ member }) => !met.has(member)).map(({ member }) => asView(member));
  return [...views, ...silent].map((view) => {
    const atHand = given.find(({ member }) => member === view.member)?.dir ?? foundHere(view);
    // The lock of a directory tells more than when the store last heard of it.
    return { ...view, atHand, isLive: atHand === null ? view.isLive : isOpen(atHand) };
  });
};

/** Whether another process works there. */
const isOpen = (dir: string): boolean => ![0, process.pid].includes(lockOwner(dir));

const asView = (member: string): MemberView => ({ member, seenAt: 0, isLive: false, settled: 0, about: null });

/** Members that settled something and whose directory was not given. */
export const notGiven = (roster: readonly RosterEntry[], given: readonly Pick<Gathered, 'member'>[]): RosterEntry[] =>
  roster.filter(({ member, settled }) => settled > 0 && !given.some((one) => one.member === member));

/** Where a member is, as far as it told: `db1:/data/crawl`. */
export const whereIs = ({ member, about }: MemberView): string =>
  about === null ? shortName(member) : `${about.host}:${about.dir}`;

/** A member tells its host and its directory; another machine may have another crawl at that path. */
const foundHere = ({ member, about }: MemberView): string | null => {
  if (about === null || about.host !== hostname() || !existsSync(join(about.dir, FILES.identity))) return null;
  try {
    return memberOf(readIdentity(about.dir)) === member ? about.dir : null;
  } catch {
    return null; // no crawl of ours, or not readable
  }
};

/** Members that took part and are not among some directories. */
export interface Others {
  readonly missing: readonly RosterEntry[];
  /** Why nobody can tell who else took part; null when the store told. */
  readonly unknown: string | null;
}

/** Asks the store who else took part; a store that cannot be reached leaves that open, and is no fault. */
export const othersOf = async (dirs: readonly string[]): Promise<Others> => {
  if (!isShared(knownStore(readIdentity(dirs[0]!).settings.store))) return { missing: [], unknown: null };
  try {
    const { crawl, members, close } = await gather(dirs);
    try {
      const roster = await rosterOf(crawl, members);
      return { missing: roster.filter((one) => !members.some(({ member }) => member === one.member)), unknown: null };
    } finally {
      await close();
    }
  } catch (error) {
    if (error instanceof StoreFault) return { missing: [], unknown: error.message };
    throw error;
  }
};

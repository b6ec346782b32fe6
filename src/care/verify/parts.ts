/** The directories of a crawl that is checked, opened: each with the crawl as it is seen from there. */

import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import type { Found, FoundTally } from '../../contract/walk.ts';
import { readIdentity, type Identity } from '../../folder/folder.ts';
import { joinCrawls } from '../../folder/joined-crawl.ts';
import { notGiven, rosterOf, whereIs, type RosterEntry } from '../../folder/roster.ts';
import { knownStore, memberOf, storePlace } from '../../folder/store-place.ts';
import { isShared, keepsRowsByMember } from '../../store/address.ts';
import { openStoredCrawl } from '../../store/open.ts';
import type { NotGiven } from './options.ts';

export interface Part {
  readonly dir: string;
  /** Null when crawl.json cannot be read. */
  readonly identity: Identity | null;
  readonly member: string;
  readonly crawl: StoredCrawl;
  /** Rows that a walk over the pages has met. */
  rows: number;
}

export interface Parts {
  readonly parts: readonly Part[];
  /** All of them as one crawl; a walk over its pages counts the rows of each. */
  readonly crawl: StoredCrawl;
  readonly isRowsByMember: boolean;
  /** Who took part; empty where the crawl has one directory. */
  readonly roster: readonly RosterEntry[];
  /** Members that settled links and whose directories are not among these. */
  readonly notGiven: readonly NotGiven[];
  close(): Promise<void>;
}

/** Null when crawl.json cannot be read: the check says so. */
export const identityOf = (dir: string): Identity | null => {
  try {
    return readIdentity(dir);
  } catch {
    return null;
  }
};

/** The store of a crawl whose crawl.json may be damaged: then it is the embedded one, or nothing can be checked. */
export const openParts = async (dirs: readonly string[]): Promise<Parts> => {
  const parts: Part[] = [];
  const close = async (): Promise<void> => void (await Promise.all(parts.map(({ crawl }) => crawl.close())));
  try {
    for (const dir of dirs) {
      const identity = identityOf(dir);
      const url = knownStore(identity?.settings.store);
      const crawl = await openStoredCrawl({ ...storePlace(dir, identity, url), say: () => {} });
      parts.push({ dir, identity, member: identity ? memberOf(identity) : '', crawl, rows: 0 });
    }
    const url = knownStore(parts[0]!.identity?.settings.store);
    const isRowsByMember = keepsRowsByMember(url);
    const roster = isShared(url) ? await rosterOf(parts[0]!.crawl, parts) : [];
    return {
      parts,
      isRowsByMember,
      roster,
      crawl: joinCrawls(parts.map(counting), isRowsByMember),
      notGiven: notGiven(roster, parts).map((one) => ({
        member: one.member,
        where: whereIs(one),
        settled: one.settled,
      })),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

const counting = (part: Part): StoredCrawl => ({
  ...part.crawl,
  walk: async function* (parts): AsyncGenerator<Found, void, undefined> {
    if (parts.includes('pages')) part.rows = 0;
    for await (const found of part.crawl.walk(parts)) {
      if (found.kind === 'pages') part.rows += found.pages.length;
      yield found;
    }
  },
});

/** Links that a member settled, and of which its directory has no row. */
export const rowsMissing = ({ isRowsByMember, roster }: Parts, { member, rows }: Part): number => {
  if (!isRowsByMember) return 0;
  return Math.max(0, (roster.find((one) => one.member === member)?.settled ?? 0) - rows);
};

/** Settled links whose rows are in no directory that is given; null when the store knows of members without a count. */
export const rowsElsewhere = (all: Parts, { elsewhere }: FoundTally): number | null => {
  if (!all.isRowsByMember) return 0;
  if (elsewhere.some((name) => !all.roster.some(({ member }) => member === name))) return null;
  const others = all.notGiven.reduce((sum, { settled }) => sum + settled, 0);
  return all.parts.reduce((sum, part) => sum + rowsMissing(all, part), others);
};

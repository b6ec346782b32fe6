/** Directories of one crawl that are looked at together: those of its members that are at hand. */

import type { StoredCrawl } from '../contract/stored-crawl.ts';
import { plural } from '../lib/units.ts';
import { UsageError } from '../model/read-settings.ts';
import { isSameStore, keepsRowsByMember, withoutPassword } from '../store/address.ts';
import type { Identity } from './folder.ts';
import { readIdentity } from './folder.ts';
import { joinCrawls } from './joined-crawl.ts';
import { openToRead } from './read.ts';
import { crawlNameOf, knownStore, memberOf } from './store-place.ts';

/** The directory of one member, with the crawl as it is seen from there. */
export interface Gathered {
  readonly dir: string;
  readonly member: string;
  readonly identity: Identity;
  readonly crawl: StoredCrawl;
}

export interface Gathering {
  /** In the order in which they were given; at least one. */
  readonly members: readonly Gathered[];
  readonly dirs: readonly string[];
  /** The first one's, with what any of them has kept at some time. */
  readonly identity: Identity;
  /** One crawl out of all: pages of every member, one member after the other where each has its own rows. */
  readonly crawl: StoredCrawl;
  /** Whether rows of pages lie with the members that settled them. */
  readonly isRowsByMember: boolean;
  close(): Promise<void>;
}

/** Throws a UsageError unless these are directories of one crawl, each of another member; changes nothing. */
export const identitiesOf = (dirs: readonly string[]): readonly Identity[] => {
  const identities = membersAt(dirs);
  const [first] = identities;
  for (const [i, identity] of identities.entries()) {
    const dir = dirs[i]!;
    if (placeOf(identity, dir) !== placeOf(first!, dirs[0]!) || !isSameStore(storeOf(identity), storeOf(first!)))
      throw new UsageError(
        `"${dir}" has the crawl in ${withoutPassword(storeOf(identity))}, and "${dirs[0]}" in ${withoutPassword(storeOf(first!))}: a move was not finished; run "gossamer migrate" with all its directories again`,
      );
  }
  return identities;
};

/** As `identitiesOf`, also while a move is not finished, and some know the crawl at its new place already. */
export const membersAt = (dirs: readonly string[]): readonly Identity[] => {
  const identities = dirs.map((dir) => readIdentity(dir));
  const [first] = identities;
  const byMember = new Map<string, string>();
  for (const [i, identity] of identities.entries()) {
    const dir = dirs[i]!;
    if (identity.id !== first!.id)
      throw new UsageError(
        `"${dir}" is no directory of the crawl in "${dirs[0]}": give directories of one crawl, which "gossamer members ${dirs[0]}" lists`,
      );
    const same = byMember.get(memberOf(identity));
    if (same !== undefined)
      throw new UsageError(
        same === dir
          ? `"${dir}" is given twice: give it once`
          : `"${dir}" and "${same}" are the same member of the crawl: one is a copy of the other, give one of them`,
      );
    byMember.set(memberOf(identity), dir);
  }
  return identities;
};

const storeOf = ({ settings }: Identity): string => knownStore(settings.store);
const placeOf = ({ settings, fixed }: Identity, dir: string): string =>
  `${crawlNameOf(settings.name ?? '', dir)} ${fixed.shards}`;

/** Opens the directories to read the crawl; `given` is the address of its store with the password. */
export const gather = async (dirs: readonly string[], given?: string): Promise<Gathering> => {
  const identities = identitiesOf(dirs);
  const members: Gathered[] = [];
  const close = async (): Promise<void> => void (await Promise.all(members.map(({ crawl }) => crawl.close())));
  try {
    for (const [i, dir] of dirs.entries())
      members.push({ dir, member: memberOf(identities[i]!), ...(await openToRead(dir, given)) });
  } catch (error) {
    await close();
    throw error;
  }
  const isRowsByMember = keepsRowsByMember(storeOf(identities[0]!));
  const crawls = members.map(({ crawl }) => crawl);
  return {
    members,
    dirs,
    identity: common(identities),
    crawl: joinCrawls(crawls, isRowsByMember),
    isRowsByMember,
    close,
  };
};

/** What any of the directories has in its archive, the crawl has. */
const common = (identities: readonly Identity[]): Identity => ({
  ...identities[0]!,
  ...(identities.some(({ unkept }) => unkept) ? { unkept: true } : {}),
  ...(identities.some(({ textOnly }) => textOnly) ? { textOnly: true } : {}),
  ...(identities.some(({ linksKept }) => linksKept) ? { linksKept: true } : {}),
  ...(identities.some(({ unnoted }) => unnoted) ? { unnoted: true } : {}),
});

/** A member as a person can tell it from others: the first characters of its id. */
export const shortName = (member: string): string => member.slice(0, 8);

/** `these 2 directories`, for a sentence. */
export const directories = (n: number): string =>
  n === 1 ? 'this directory' : `these ${plural(n, 'directory', 'directories')}`;

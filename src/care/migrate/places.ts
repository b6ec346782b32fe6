/** Where a crawl is and where it goes, from what a person said and what the environment adds. */

import { UsageError } from '../../model/read-settings.ts';
import { EMBEDDED, isSameStore, isShared, storeKind, withoutPassword } from '../../store/address.ts';
import type { StorePlace } from '../../store/options.ts';
import type { Identity } from '../../folder/folder.ts';
import { crawlNameOf, knownStore, STORE_VARIABLE, storePlace } from '../../folder/store-place.ts';

/** The address of the store that a crawl is moved to, as GOSSAMER_STORE has that of the store it is in. */
export const TARGET_VARIABLE = 'GOSSAMER_STORE_TO';

/** Far more than there can be threads; a census asks every shard. */
export const SHARDS_MAX = 1_024;

export interface Wanted {
  /** Must be where the crawl is; may bring the password. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly name?: string | undefined;
  readonly shards?: number | undefined;
}

export interface Places {
  readonly from: StorePlace;
  readonly to: StorePlace;
}

/** Throws a UsageError when what was asked for cannot be. */
export const placesOf = (dir: string, identity: Identity, wanted: Wanted): Places => {
  const kept = identity.settings.store ?? EMBEDDED;
  if (wanted.from !== undefined && !isSameStore(checked(wanted.from, '--from'), kept)) {
    throw new UsageError(`crawl "${dir}" is in ${kept}, not in ${withoutPassword(wanted.from)}: omit --from`);
  }
  const { shards } = wanted;
  if (shards !== undefined && !(Number.isInteger(shards) && shards >= 1 && shards <= SHARDS_MAX)) {
    throw new UsageError(`--shards ${shards} cannot be: give a whole number from 1 to ${SHARDS_MAX}`);
  }
  const from = storePlace(dir, identity, knownStore(kept, wanted.from));
  const url = targetOf(wanted, from.url);
  if (!isShared(url) && wanted.name !== undefined)
    throw new UsageError('--name is for a crawl in Redis or PostgreSQL: omit it');
  const crawl = isShared(url) ? crawlNameOf(wanted.name ?? identity.settings.name ?? '', dir) : from.crawl;
  return { from, to: { ...from, url, crawl, frontier: 'store', shards: shards ?? from.shards } };
};

/** Whether there is nothing to move. */
export const isSame = ({ from, to }: Places): boolean => isSameCrawl(from, to) && from.shards === to.shards;

/** Whether both are the same crawl in the same store. */
export const isSameCrawl = (a: StorePlace, b: StorePlace): boolean =>
  isSameStore(a.url, b.url) && (!isShared(a.url) || a.crawl === b.crawl);

/** With another number of shards alone the crawl stays where it is. */
const targetOf = ({ to, shards }: Wanted, from: string): string => {
  const given = to ?? (process.env[TARGET_VARIABLE] || (shards === undefined ? undefined : from));
  if (given === undefined)
    throw new UsageError(
      `where to is missing: give --to, such as ${EMBEDDED}, redis://HOST:PORT or postgres://USER@HOST:PORT/DATABASE`,
    );
  const url = checked(given, '--to');
  if (hasPassword(url)) return url;
  // The password may be in the environment, or be that of the store it comes from.
  const told = [process.env[TARGET_VARIABLE], process.env[STORE_VARIABLE], from];
  return (
    told.find(
      (text) => text !== undefined && storeKind(text) !== null && isSameStore(text, url) && hasPassword(text),
    ) ?? url
  );
};

const hasPassword = (text: string): boolean => withoutPassword(text) !== text;

const checked = (text: string, flag: string): string => {
  if (storeKind(text) !== null) return text;
  throw new UsageError(
    `${flag} "${withoutPassword(text)}" is not understood: write ${EMBEDDED}, redis://HOST:PORT, rediss://HOST:PORT or postgres://USER@HOST:PORT/DATABASE`,
  );
};

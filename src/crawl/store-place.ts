/** Where the store of a crawl is, and what it is called there. */

import { basename, resolve } from 'node:path';
import { UsageError } from '../model/read-settings.ts';
import { EMBEDDED, isSamePlace, storeKind, withoutPassword } from '../store/place.ts';
import type { SharedPlace } from '../store/shared.ts';
import type { StoreStart } from '../threads/messages.ts';
import type { Identity } from './folder.ts';

/** The address of a store, so that its password is neither on the command line nor in a file. */
export const STORE_VARIABLE = 'GOSSAMER_STORE';

const fromEnvironment = (): string | undefined => process.env[STORE_VARIABLE] || undefined;

/** The store of a new crawl: what a person gave, else what the environment says, else the embedded one. */
export const newStore = (given: string | undefined): string => checkedStore(given ?? fromEnvironment() ?? EMBEDDED);

const checkedStore = (text: string): string => {
  if (storeKind(text) !== null) return text;
  throw new UsageError(
    `--store "${withoutPassword(text)}" is not understood: write ${EMBEDDED}, redis://HOST:PORT, rediss://HOST:PORT or postgres://USER@HOST:PORT/DATABASE`,
  );
};

/** The store of a crawl that is there, with the password that was given with it this time or is in the environment. */
export const knownStore = (kept: string = EMBEDDED, given?: string): string => {
  if (given !== undefined && !isSamePlace(checkedStore(given), kept)) {
    throw new UsageError(
      `the crawl is in ${kept}, not in ${withoutPassword(given)}: leave --store away, or move the crawl with "gossamer migrate"`,
    );
  }
  const told = [given, fromEnvironment()].find(
    (text) => text !== undefined && storeKind(text) !== null && isSamePlace(text, kept),
  );
  return told ?? kept;
};

/** Names that every store can have. */
const NAME = /^[a-z0-9_]{1,40}$/;

/** The name of a crawl in a shared store: as given, or that of its directory. */
export const crawlNameOf = (name: string, dir: string): string => {
  if (name !== '' && !NAME.test(name))
    throw new UsageError(
      `--name "${name}" cannot be the name of a crawl: use up to 40 of the characters a-z, 0-9 and _`,
    );
  return (
    name ||
    basename(resolve(dir))
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '_')
      .slice(0, 40) ||
    'crawl'
  );
};

/** What the store thread opens. */
export const storeStart = (dir: string, identity: Identity, url: string): StoreStart => ({
  url,
  crawl: crawlNameOf(identity.settings.name ?? '', dir),
  member: memberOf(identity),
  shards: Number(identity.fixed.shards),
  frontier: identity.settings.frontier ?? 'store',
});

export const memberOf = ({ member, id }: Identity): string => member ?? id;

export const sharedPlace = ({ url, crawl, shards }: StoreStart, say: SharedPlace['say']): SharedPlace => ({
  url,
  crawl,
  shards,
  say,
});

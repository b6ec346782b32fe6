/** Where the store of a crawl is, and what it is called there. */

import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { UsageError } from '../model/read-settings.ts';
import { EMBEDDED, isSameStore, storeKind, takesCa, withoutPassword } from '../store/address.ts';
import type { StorePlace } from '../store/options.ts';
import { SHARDS } from '../url/shard.ts';
import type { Identity } from './folder.ts';

/** The address of a store, so that its password is neither on the command line nor in a file. */
export const STORE_VARIABLE = 'GOSSAMER_STORE';

const fromEnvironment = (): string | undefined => process.env[STORE_VARIABLE] || undefined;

/** The store of a new crawl: what a person gave, else what the environment says, else the embedded one. */
export const newStore = (given: string | undefined): string => checkedStore(given ?? fromEnvironment() ?? EMBEDDED);

const checkedStore = (text: string): string => {
  if (storeKind(text) !== null) return text;
  throw new UsageError(
    `--store "${withoutPassword(text)}" is not understood: write ${EMBEDDED}, redis://HOST:PORT, rediss://HOST:PORT, redis+sentinel://HOST:PORT,HOST:PORT/MASTER or postgres://USER@HOST:PORT/DATABASE`,
  );
};

/** The store of a crawl that is there, with the password that was given with it this time or is in the environment. */
export const knownStore = (kept: string = EMBEDDED, given?: string): string => {
  if (given !== undefined && !isSameStore(checkedStore(given), kept)) {
    throw new UsageError(
      `the crawl is in ${kept}, not in ${withoutPassword(given)}: omit --store, or move the crawl with "gossamer migrate"`,
    );
  }
  const told = [given, fromEnvironment()].find(
    (text) => text !== undefined && storeKind(text) !== null && isSameStore(text, kept),
  );
  return told ?? kept;
};

/** The absolute path of a file of certificates; empty when none was named. Throws a UsageError when it is of no use. */
export const checkStoreCa = (given: string, url: string): string => {
  if (given === '') return '';
  if (!takesCa(url))
    throw new UsageError(
      `--store-ca is for a store with TLS, and ${withoutPassword(url)} has none: write rediss://, or --store-ca ''`,
    );
  const path = resolve(given);
  const text = textOf(path, (why) => new UsageError(`--store-ca "${given}" cannot be read: ${why}`));
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new UsageError(`--store-ca "${given}" holds no certificate: name a file in PEM format`);
  return path;
};

const textOf = (path: string, refusal: (why: string) => Error): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw refusal((error as Error).message);
  }
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

/** Which crawl of which store a directory belongs to; without an identity, as far as the directory tells. */
export const storePlace = (dir: string, identity: Identity | null, url: string): StorePlace => ({
  url,
  ca: identity?.settings.storeCa ?? '',
  crawl: crawlNameOf(identity?.settings.name ?? '', dir),
  member: identity ? memberOf(identity) : '',
  shards: Number(identity?.fixed.shards ?? SHARDS),
  frontier: identity?.settings.frontier ?? 'store',
  dir,
});

/** The id of this directory among those of its crawl. */
export const memberOf = ({ member, id }: Identity): string => member ?? id;

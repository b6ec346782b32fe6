/** The directory of a crawl: what is in it, how it is made, how it is opened again. */

import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../lib/make-folder.ts';
import { replaceFile } from '../lib/replace-file.ts';
import { renamed, UsageError } from '../model/read-settings.ts';
import type { Settings } from '../model/settings.ts';
import { EMBEDDED, withoutPassword } from '../store/address.ts';
import { CANONICAL_VERSION } from '../url/canonical.ts';
import { HASH_VERSION } from '../url/fingerprint.ts';
import { SHARDS } from '../url/shard.ts';
import { PUBLIC_SUFFIX_VERSION } from '../url/site.ts';
import { VERSION } from './version.ts';

export const FILES = {
  identity: 'crawl.json',
  store: 'crawl.db',
  seeds: 'seeds.txt',
  excluded: 'exclude.txt',
  lock: 'crawl.lock',
  rows: 'pages.db',
  warc: 'warc',
  logs: 'logs',
  control: 'control.sock',
} as const;

/** What must not change during a crawl, because it decides where a site and a URL belong. */
const FIXED = {
  hash: HASH_VERSION,
  canonical: CANONICAL_VERSION,
  publicSuffixList: PUBLIC_SUFFIX_VERSION,
} as const;

export interface Identity {
  readonly format: 1;
  readonly id: string;
  /** This directory among those of the crawl, where its store is shared; the first one has the crawl's own id. */
  readonly member?: string;
  readonly createdAt: string;
  readonly gossamer: string;
  /** The number of shards is the crawl's own; `migrate` changes it. */
  readonly fixed: Readonly<Record<keyof typeof FIXED | 'shards', string | number>>;
  readonly settings: Settings;
  /** It ran with `--keep none` at some time: pages of that time have no record. */
  readonly unkept?: true;
  /** It ran with `--keep text` at some time: pages of that time have their text for a first record. */
  readonly textOnly?: true;
  /** It ran with `--keep-links` at some time: pages of that time have their links in the archive. */
  readonly linksKept?: true;
  /** It ran without a ledger at some time: calls of that time are not noted. */
  readonly unnoted?: true;
  /** It ran with credentials at some time; which they were is written nowhere. */
  readonly credentialed?: true;
  /** Set while archived pages are still to be read again, because the scope of the crawl became wider. */
  readonly widened?: true;
  /** The last entry of the crawl's journal that was seen here, and how often seeds were added: see in-force.ts. */
  readonly journal?: { readonly number: number; readonly id: string; readonly seeds: number };
  /** The length of the seed file that the journal knows of, where seeds decide which links are wanted. */
  readonly seedBytes?: number;
  /** Where it was moved from, as long as something is left to be put away there. */
  readonly movedFrom?: { readonly store: string; readonly name: string; readonly shards: number };
}

/** Files that a set-up which did not come to its end may have left. */
const LEFTOVERS: readonly string[] = [FILES.seeds, FILES.excluded, FILES.lock];

/** Throws a UsageError unless a new crawl can be made here; changes nothing. */
export const checkNewFolder = (dir: string): void => {
  if (!existsSync(dir)) return;
  if (!statSync(dir).isDirectory()) throw new UsageError(`"${dir}" is not a directory: choose another --dir`);
  if (existsSync(join(dir, FILES.identity))) {
    throw new UsageError(
      `"${dir}" holds a crawl already: go on with it by "gossamer resume ${dir}", or choose another --dir`,
    );
  }
  const foreign = readdirSync(dir).filter(
    (name) => !LEFTOVERS.includes(name.replace(/\.new$/, '')) && name !== `${FILES.identity}.new`,
  );
  if (foreign.length > 0)
    throw new UsageError(`"${dir}" is not empty (it holds "${foreign[0]}") and is no crawl: choose another --dir`);
};

/**
 * For the user alone: what was fetched, and the settings, are in it. Gives back what takes it away again, as long as
 * there is no crawl in it.
 */
export const makeCrawlFolder = (dir: string): (() => void) => {
  try {
    const made = makeFolder(dir);
    // In a folder that was there before, only the lock is ours.
    const ours = made.length > 0 ? LEFTOVERS : existsSync(join(dir, FILES.lock)) ? [] : [FILES.lock];
    return () => unmake(dir, made, ours);
  } catch (error) {
    throw new UsageError(`"${dir}" cannot be made: ${(error as Error).message}; choose another --dir`);
  }
};

const unmake = (dir: string, made: readonly string[], ours: readonly string[]): void => {
  if (existsSync(join(dir, FILES.identity))) return;
  for (const name of ours) rmSync(join(dir, name), { force: true });
  try {
    for (const folder of made) rmdirSync(folder);
  } catch {
    // Something of others is in it by now.
  }
};

/** Settings as they may be written down. */
const withoutSecrets = (settings: Settings): Settings => ({
  ...settings,
  store: withoutPassword(settings.store ?? EMBEDDED),
});

/** The crawl exists from the moment this file does: it is written last. */
export const writeIdentity = (dir: string, settings: Settings, former?: Identity): Identity => {
  const identity: Identity = former
    ? { ...former, settings: withoutSecrets(settings) }
    : {
        format: 1,
        id: randomUUID(),
        createdAt: new Date().toISOString(),
        gossamer: VERSION,
        fixed: { ...FIXED, shards: SHARDS },
        settings: withoutSecrets(settings),
      };
  return keepIdentity(dir, {
    ...identity,
    ...(settings.keep === 'none' ? { unkept: true } : {}),
    ...(settings.keep === 'text' ? { textOnly: true } : {}),
    ...(settings.keepLinks ? { linksKept: true } : {}),
    ...(isUnnoted(settings, former) ? { unnoted: true } : {}),
  });
};

const isUnnoted = ({ ledger }: Settings, former: Identity | undefined): boolean =>
  ledger === 'off' || (former !== undefined && former.settings.ledger !== 'on');

export const keepIdentity = (dir: string, identity: Identity): Identity => {
  replaceFile(join(dir, FILES.identity), `${JSON.stringify(identity, null, 2)}\n`);
  return identity;
};

/** Remembers that a crawl runs with credentials, not which. */
export const markCredentialed = (dir: string, identity: Identity): Identity =>
  identity.credentialed ? identity : keepIdentity(dir, { ...identity, credentialed: true });

/** Throws a UsageError unless there is a crawl here that this program can go on with. */
export const readIdentity = (dir: string): Identity => {
  const path = join(dir, FILES.identity);
  let identity: Identity;
  try {
    identity = JSON.parse(readFileSync(path, 'utf8')) as Identity;
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new UsageError(`there is no crawl in "${dir}": start one by "gossamer crawl example.org --dir ${dir}"`);
    // A copy would not help: the file may be whole.
    if (code !== undefined) throw new UsageError(`"${path}" cannot be read: ${message}; run as its owner`);
    throw new UsageError(`"${path}" cannot be read (${message}): restore it from a copy`);
  }
  if (identity.format !== 1 || typeof identity.settings !== 'object') {
    throw new UsageError(
      `"${path}" is not of a kind that gossamer ${VERSION} knows: use the version that made it (${identity.gossamer ?? 'unknown'})`,
    );
  }
  return withNewNames(identity);
};

/** A crawl that an earlier version made has the names of then. */
export const withNewNames = <T extends Pick<Identity, 'settings'>>(identity: T): T => ({
  ...identity,
  settings: renamed(identity.settings) as Settings,
});

/** Refuses to go on with a crawl whose sites and URLs this program would put elsewhere. */
export const checkFixed = (dir: string, identity: Identity): void => {
  for (const name of Object.keys(FIXED) as (keyof typeof FIXED)[]) {
    if (identity.fixed?.[name] === FIXED[name]) continue;
    throw new UsageError(
      `crawl "${dir}" was made with ${name} ${identity.fixed?.[name] ?? '(unknown)'}, this program has ${FIXED[name]}: ` +
        `go on with gossamer ${identity.gossamer}, or start a new crawl`,
    );
  }
};

/** Makes a crawl's directory, or opens it again; everything is checked before anything is changed. */

import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readConnectTo } from '../fetch/connect-to.ts';
import { isNameServer } from '../fetch/lookup.ts';
import { writeBytes } from '../lib/units.ts';
import { completeSettings, renamed, UsageError } from '../model/read-settings.ts';
import type { OldSettings } from '../model/old-settings.ts';
import type { FrontierPlace, Settings } from '../model/settings.ts';
import type { SecretHeaders } from '../model/credentials.ts';
import { firstNotText } from '../model/body-types.ts';
import { checkListen } from '../observe/metrics/serve.ts';
import { isShared, takesFrontierFiles } from '../store/address.ts';
import { hasStore } from '../store/files.ts';
import type { StorePlace } from '../store/options.ts';
import { readPattern } from '../url/link-patterns.ts';
import { SHARDS } from '../url/shard.ts';
import { canonicalRules } from '../url/site-rules.ts';
import { checkDescriptors, DiskError, diskFreeBytes } from '../folder/ceilings.ts';
import {
  checkFixed,
  checkNewFolder,
  FILES,
  makeCrawlFolder,
  markCredentialed,
  readIdentity,
  writeIdentity,
  type Identity,
} from '../folder/folder.ts';
import { checkHooks } from '../hooks/check.ts';
import { checkLogFile } from '../folder/log-path.ts';
import { lockCrawl, type Lock } from '../folder/lock.ts';
import { checkOwner } from '../folder/owner.ts';
import { checkUserAgent } from './user-agent.ts';
import { isWider } from './wider.ts';
import { finishMove } from '../folder/finish-move.ts';
import { announce, checkNameIsFree, identityIn, takeScope } from '../folder/notes.ts';
import { crawlNameOf, knownStore, newStore, storePlace } from '../folder/store-place.ts';
import { checkSeedFiles, readExcludeFile, takeSeeds, writeExcluded, type SeedSource } from '../folder/seeds.ts';

export interface CrawlRequest {
  readonly dir: string;
  readonly settings: Readonly<Partial<Settings & OldSettings>>;
  readonly seeds: SeedSource;
  readonly excludeFile: string | null;
  /** For this process alone. */
  readonly credentials?: SecretHeaders | null;
  /** Tells a person what was skipped. */
  readonly say: (text: string) => void;
}

export interface OpenCrawl {
  readonly dir: string;
  readonly identity: Identity;
  /** With the password of the store, which the identity does not have. */
  readonly store: StorePlace;
  readonly lock: Lock;
  /** In memory alone. */
  readonly credentials: SecretHeaders | null;
}

/** The settings as they are kept: what a person wrote for their own folder holds in every other. */
const checked = async (settings: Settings): Promise<Settings> => {
  for (const text of settings.connectTo) {
    if (!readConnectTo(text))
      throw new UsageError(
        `--connect-to "${text}" is not understood: write HOST:PORT:ADDR:PORT, such as *:80:127.0.0.1:8080`,
      );
  }
  for (const flag of ['include', 'exclude'] as const) {
    for (const text of settings[flag]) {
      const read = readPattern(text);
      if ('why' in read) throw new UsageError(`--${flag} "${text}" ${read.why}`);
    }
  }
  for (const text of settings.nameServers) {
    if (!isNameServer(text))
      throw new UsageError(
        `--name-server "${text}" is not understood: write the address of one, such as 127.0.0.1 or [::1]:5353`,
      );
  }
  if (settings.frontier === 'files' && !takesFrontierFiles(settings.store))
    throw new UsageError('--frontier files is for a crawl in Redis: give its address by --store, or omit it');
  if (settings.keepLinks && settings.keep === 'none')
    throw new UsageError(
      '--keep-links puts the links of pages into the archive, and --keep none has none: choose --keep text or --keep all, or omit it',
    );
  checkUserAgent(settings);
  const unkept = settings.keep === 'all' ? null : firstNotText(settings.types);
  if (unkept !== null)
    throw new UsageError(
      `--types ${unkept} asks for bodies that are not text, and --keep ${settings.keep} archives none of them: choose --keep all, or omit ${unkept}`,
    );
  checkDescriptors(settings);
  const sites = canonicalRules(settings.sites);
  if ('why' in sites) throw new UsageError(`sites ${sites.why}`);
  return { ...settings, sites, logFile: checkLogFile(settings.logFile), hooks: await checkHooks(settings.hooks) };
};

const checkDisk = (dir: string, { diskReserveBytes }: Settings): void => {
  const free = diskFreeBytes(existing(dir));
  if (free >= diskReserveBytes) return;
  throw new DiskError(
    `the disk of "${dir}" has ${writeBytes(free)} free, less than --disk-reserve ${writeBytes(diskReserveBytes)}: free some space or lower it`,
  );
};

/** Where a directory that is still to be made will be: a disk that is full is found before it is. */
const existing = (dir: string): string => (existsSync(dir) ? dir : existing(dirname(resolve(dir))));

export const createCrawl = async (request: CrawlRequest): Promise<OpenCrawl> => {
  const { dir, say, credentials = null } = request;
  const url = newStore(request.settings.store);
  const settings = await checked(
    completeSettings(
      { ...renamed(request.settings), store: url, name: crawlNameOf(request.settings.name ?? '', dir) },
      availableParallelism(),
    ),
  );
  checkNewFolder(dir);
  const excluded = request.excludeFile === null ? null : readExcludeFile(request.excludeFile);
  checkSeedFiles(request.seeds);
  checkDisk(dir, settings);
  if (isShared(url)) await checkNameIsFree({ ...newPlace(dir, url, settings.name), say });
  await checkListen(settings.metrics);
  const unmake = makeCrawlFolder(dir);
  const lock = lockCrawl(dir);
  try {
    checkNewFolder(dir); // another process may have been quicker
    await takeSeeds({ dir, source: request.seeds, where: 'anew', say });
    if (excluded !== null) writeExcluded(dir, excluded);
    const identity = marked(dir, writeIdentity(dir, settings), credentials); // last: from here on it is a crawl
    const store = storePlace(dir, identity, url);
    if (isShared(url)) await announce({ ...store, say }, identity, dir);
    return { dir, lock, identity, store, credentials };
  } catch (error) {
    unmake(); // with the lock: nobody else has anything in it yet
    lock.release();
    throw error;
  }
};

export const reopenCrawl = async (request: CrawlRequest): Promise<OpenCrawl> => {
  const { dir, seeds, credentials = null } = request;
  const found = readIdentity(dir);
  checkFixed(dir, found);
  checkOwner(dir, found.settings, request.settings);
  const former = finishMove(dir, found);
  const url = knownStore(former.settings.store, request.settings.store);
  checkName(former, request.settings.name);
  checkFrontier(former, request.settings.frontier);
  const settings = await checked(
    completeSettings({ ...former.settings, ...renamed(request.settings), store: url }, availableParallelism()),
  );
  const excluded = request.excludeFile === null ? null : readExcludeFile(request.excludeFile);
  const more = seeds.files.length > 0 || seeds.urls.length > 0;
  checkSeedFiles(seeds);
  checkStore(dir, url);
  checkDisk(dir, settings);
  const lock = lockCrawl(dir);
  try {
    await checkListen(settings.metrics); // with the lock: the port of a crawl that runs is taken by itself
    // First: where there is no good one nothing is changed.
    if (more) await takeSeeds({ dir, source: seeds, where: 'behind', say: request.say });
    const isWide = isWider(former.settings, settings) || isLess(dir, excluded) || (more && hasHomes(settings));
    if (excluded !== null) writeExcluded(dir, excluded);
    const known = isWide ? { ...former, widened: true as const } : former;
    const identity = marked(dir, writeIdentity(dir, settings, known), credentials);
    tellMissing(identity, credentials, request.say);
    const store = storePlace(dir, identity, url);
    if (isShared(url)) await announce({ ...store, say: request.say }, identity, dir);
    return { dir, lock, identity, store, credentials };
  } catch (error) {
    lock.release();
    throw error;
  }
};

/** The identity, which remembers that there were credentials. */
const marked = (dir: string, identity: Identity, credentials: SecretHeaders | null): Identity =>
  credentials !== null && credentials.size > 0 ? markCredentialed(dir, identity) : identity;

const tellMissing = ({ credentialed }: Identity, credentials: SecretHeaders | null, say: CrawlRequest['say']): void => {
  if (!credentialed || credentials !== null) return;
  say(
    'the crawl was run with credentials, and none are given now: its pages are fetched without; --credentials FILE gives them',
  );
};

/** Whether the exclude file that is given lacks a name of the one that is there. */
const isLess = (dir: string, excluded: string | null): boolean => {
  const path = join(dir, FILES.excluded);
  if (excluded === null || !existsSync(path)) return false;
  const kept = new Set(excluded.split('\n'));
  return readFileSync(path, 'utf8')
    .split('\n')
    .some((name) => !kept.has(name));
};

/** Where more seeds mean that more links are wanted. */
const hasHomes = ({ scope, sites }: Settings): boolean =>
  scope !== 'any' || sites.some((rule) => rule.scope !== undefined);

const checkName = (former: Identity, name: string | undefined): void => {
  if (name === undefined || name === former.settings.name) return;
  throw new UsageError(`the crawl is called "${former.settings.name}", which cannot be changed: omit --name`);
};

const checkFrontier = (former: Omit<Identity, 'member'>, frontier: FrontierPlace | undefined): void => {
  const { frontier: kept = 'store' } = former.settings;
  if (frontier === undefined || frontier === kept) return;
  throw new UsageError(
    `the waiting links of the crawl lie in ${kept === 'files' ? 'files' : 'its store'}, which cannot be changed: omit --frontier`,
  );
};

export interface JoinRequest {
  readonly dir: string;
  /**
   * What this member has for itself; for all else the settings of the crawl hold. `store` and `name` say which crawl.
   */
  readonly settings: Readonly<Partial<Settings>>;
  /** For this process alone. */
  readonly credentials?: SecretHeaders | null;
  readonly say: (text: string) => void;
}

/** Makes a directory that takes part in a crawl in a shared store. */
export const joinCrawl = async ({ dir, settings: given, credentials = null, say }: JoinRequest): Promise<OpenCrawl> => {
  const url = newStore(given.store);
  if (!isShared(url))
    throw new UsageError('only a crawl in Redis or PostgreSQL can be joined: give its address by --store');
  checkNewFolder(dir);
  const place = { ...newPlace(dir, url, crawlNameOf(given.name ?? '', dir)), say };
  const crawl = await identityIn(place);
  checkFixed(dir, crawl);
  if (crawl.settings.frontier === 'files')
    throw new UsageError(
      `the waiting links of the crawl "${place.crawl}" lie in files of the machine it was begun on: it cannot be joined, resume it there`,
    );
  checkFrontier(crawl, given.frontier);
  checkOwnHooks(crawl, given.hooks);
  // This machine may be another; where it is the same, two processes neither share a log nor a port.
  const own = { fetchers: undefined, parsers: undefined, hooks: undefined, logFile: undefined, metrics: undefined };
  const settings = await checked(
    completeSettings(
      { ...defined({ ...crawl.settings, ...own }), ...given, store: url, name: place.crawl },
      availableParallelism(),
    ),
  );
  checkDisk(dir, settings);
  await checkListen(settings.metrics);
  makeCrawlFolder(dir);
  const lock = lockCrawl(dir);
  try {
    checkNewFolder(dir);
    await takeScope(place, dir);
    const identity = marked(dir, writeIdentity(dir, settings, { ...crawl, member: randomUUID() }), credentials);
    tellMissing(identity, credentials, say);
    return { dir, lock, identity, store: storePlace(dir, identity, url), credentials };
  } catch (error) {
    lock.release();
    throw error;
  }
};

/**
 * Whoever can write to the store could otherwise choose what runs on this machine. To go on without the hooks of the
 * crawl is not chosen for a person either: links that the others refuse would be taken in.
 */
const checkOwnHooks = ({ settings }: Omit<Identity, 'member'>, given: string | undefined): void => {
  const { hooks = '' } = settings;
  if (hooks === '' || given !== undefined) return;
  throw new UsageError(
    `the crawl "${settings.name}" uses hooks, "${hooks}" where it was begun, and no module is run on the word of a store: ` +
      "give the one of this machine by --hooks FILE, or --hooks '' to take part without",
  );
};

/** A crawl that is only known by its name yet. */
const newPlace = (dir: string, url: string, crawl: string): StorePlace => ({
  url,
  crawl,
  member: '',
  shards: SHARDS,
  frontier: 'store',
  dir,
});

const defined = (settings: Readonly<Record<string, unknown>>): Partial<Settings> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Partial<Settings>;

/** Without its store, the archive of a crawl would look unsettled and be cut to nothing. */
const checkStore = (dir: string, url: string): void => {
  const warc = join(dir, FILES.warc);
  if (hasStore(dir, url) || !existsSync(warc) || readdirSync(warc).length === 0) return;
  throw new UsageError(`crawl "${dir}" has an archive but its ${FILES.store} is missing: restore it from a copy`);
};

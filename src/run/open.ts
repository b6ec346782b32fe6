/** Makes a crawl's directory, or opens it again; everything is checked before anything is changed. */

import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { writeBytes } from '../lib/units.ts';
import { completeSettings, renamed, UsageError } from '../model/read-settings.ts';
import { beginning, changeTo, ofCrawl, type CrawlChange, type InForce } from '../model/crawl-change.ts';
import type { OldSettings } from '../model/old-settings.ts';
import { hasFlag, SETTINGS, type SettingName } from '../model/setting-table.ts';
import type { FrontierPlace, Settings } from '../model/settings.ts';
import type { SecretHeaders } from '../model/credentials.ts';
import { checkListen } from '../observe/metrics/serve.ts';
import { isShared } from '../store/address.ts';
import { hasStore } from '../store/files.ts';
import type { StorePlace } from '../store/options.ts';
import { SHARDS } from '../url/shard.ts';
import { DiskError, diskFreeBytes } from '../folder/ceilings.ts';
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
import { checkLogFile } from '../folder/log-path.ts';
import { lockCrawl, type Lock } from '../folder/lock.ts';
import { checkOwner } from '../folder/owner.ts';
import { checked } from './check-settings.ts';
import { isWider } from './wider.ts';
import { finishMove } from '../folder/finish-move.ts';
import { announce, checkNameIsFree, identityIn, takeScope, type Announced } from '../folder/notes.ts';
import { inForceIn, keepCopy, newEntry, noteSeeds, whoWeAre } from '../folder/in-force.ts';
import { checkStoreCa, crawlNameOf, knownStore, newStore, storePlace } from '../folder/store-place.ts';
import {
  checkSeedFiles,
  excludedNames,
  readExcludeFile,
  takeSeeds,
  writeExcluded,
  type SeedSource,
} from '../folder/seeds.ts';

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
  /** What the run writes to the journal before it begins; null when nothing differs from what is in force. */
  readonly change: CrawlChange | null;
}

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
  const excluded = request.excludeFile === null ? [] : readExcludeFile(request.excludeFile);
  checkSeedFiles(request.seeds);
  checkDisk(dir, settings);
  if (isShared(url)) await checkNameIsFree({ ...newPlace(dir, settings), say });
  await checkListen(settings.metrics);
  const unmake = makeCrawlFolder(dir);
  const lock = lockCrawl(dir);
  try {
    checkNewFolder(dir); // another process may have been quicker
    await takeSeeds({ dir, source: request.seeds, where: 'anew', say });
    writeExcluded(dir, excluded);
    // Last: from here on it is a crawl.
    const identity = marked(dir, noteSeeds(dir, writeIdentity(dir, settings)), credentials);
    const store = storePlace(dir, identity, url);
    if (isShared(url)) await announce({ ...store, say }, announced(dir, identity, excluded));
    return { dir, lock, identity, store, credentials, change: null };
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
  const given = renamed(request.settings);
  const excluded = request.excludeFile === null ? null : readExcludeFile(request.excludeFile);
  const more = seeds.files.length > 0 || seeds.urls.length > 0;
  checkSeedFiles(seeds);
  checkStore(dir, url);
  // What is this member's own is known before the store is looked at, which leaves traces in the directory.
  const own = completeSettings({ ...former.settings, ...given }, availableParallelism());
  checkLogFile(own.logFile);
  checkDisk(dir, own);
  const { inForce, settings: standing } = await standingOf(dir, former, { url, say: request.say });
  const settings = await checked(completeSettings({ ...standing, ...given, store: url }, availableParallelism()));
  const lock = lockCrawl(dir);
  try {
    await checkListen(settings.metrics); // with the lock: the port of a crawl that runs is taken by itself
    // First: where there is no good one nothing is changed.
    if (more) await takeSeeds({ dir, source: seeds, where: 'behind', say: request.say });
    const names = excluded ?? (inForce.number === 0 ? excludedNames(dir) : inForce.excluded);
    const isWide = isWider(former.settings, settings) || isLess(dir, names) || (more && hasHomes(settings));
    const known = isWide ? { ...former, widened: true as const } : former;
    const identity = marked(dir, writeIdentity(dir, settings, known), credentials);
    tellMissing(identity, credentials, request.say);
    const store = storePlace(dir, identity, url);
    if (isShared(url)) await announce({ ...store, say: request.say }, announced(dir, identity, names));
    const change = changeTo(inForce, { settings: picked(settings, given), excluded }, whoWeAre());
    return { dir, lock, identity, store, credentials, change };
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

/** The settings of a member of a crawl: its own from its directory, those of the crawl from the journal. */
const standingOf = async (
  dir: string,
  identity: Identity,
  { url, say }: { readonly url: string; readonly say: CrawlRequest['say'] },
): Promise<{ inForce: InForce; settings: Settings }> => {
  const inForce = await inForceIn({ ...storePlace(dir, identity, url), say });
  return { inForce, settings: { ...identity.settings, ...inForce.settings } };
};

/** These settings, as far as they were given. */
const picked = (settings: Settings, given: Readonly<Partial<Settings>>): Partial<Settings> =>
  Object.fromEntries(
    Object.entries(settings).filter(([name]) => given[name as keyof Settings] !== undefined),
  ) as Partial<Settings>;

/** The id of the first entry is that of the crawl: it is written once, whoever tries. */
const announced = (dir: string, identity: Identity, excluded: readonly string[]): Announced => ({
  dir,
  identity,
  first: newEntry(beginning(identity.settings, excluded, whoWeAre()), identity.id),
});

/** Whether the list lacks a name of the one that is there. */
const isLess = (dir: string, names: readonly string[]): boolean => {
  const kept = new Set(names);
  return excludedNames(dir).some((name) => !kept.has(name));
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
  const storeCa = checkStoreCa(given.storeCa ?? '', url);
  const place = { ...newPlace(dir, { store: url, storeCa, name: crawlNameOf(given.name ?? '', dir) }), say };
  const crawl = await identityIn(place);
  checkFixed(dir, crawl);
  if (crawl.settings.frontier === 'files')
    throw new UsageError(
      `the waiting links of the crawl "${place.crawl}" lie in files of the machine it was begun on: it cannot be joined, resume it there`,
    );
  checkFrontier(crawl, given.frontier);
  checkOwnHooks(crawl, given.hooks);
  const inForce = await inForceIn(place);
  const standing = completeSettings(
    { ...defined({ ...crawl.settings, ...NOT_HANDED_ON }), ...inForce.settings, store: url, name: place.crawl },
    availableParallelism(),
  );
  const settings = await checked(
    completeSettings({ ...standing, ...given, store: url, name: place.crawl }, availableParallelism()),
  );
  refuseChanges(standing, picked(settings, given));
  checkDisk(dir, settings);
  await checkListen(settings.metrics);
  makeCrawlFolder(dir);
  const lock = lockCrawl(dir);
  try {
    checkNewFolder(dir);
    await takeScope(place, dir);
    writeIdentity(dir, settings, { ...crawl, member: randomUUID() });
    const identity = marked(dir, noteSeeds(dir, keepCopy(dir, inForce, settings)), credentials);
    tellMissing(identity, credentials, say);
    return { dir, lock, identity, store: storePlace(dir, identity, url), credentials, change: null };
  } catch (error) {
    lock.release();
    throw error;
  }
};

/**
 * What a new member has for itself, whatever the first one has. This machine may be another; where it is the same, two
 * processes neither share a log nor a port.
 */
const NOT_HANDED_ON: { readonly [K in keyof Settings]?: undefined } = {
  fetchers: undefined,
  parsers: undefined,
  hooks: undefined,
  logFile: undefined,
  metrics: undefined,
  maxDurationMs: undefined,
  storeCa: undefined,
};

/** Throws a UsageError when a setting of the crawl would be another: who joins does not change it for the others. */
const refuseChanges = (standing: Settings, given: Readonly<Partial<Settings>>): void => {
  const [name] = Object.keys(ofCrawl(given, (one, value) => JSON.stringify(standing[one]) !== JSON.stringify(value)));
  if (name === undefined) return;
  const { flag } = SETTINGS[name as SettingName];
  throw new UsageError(
    `${hasFlag(name as SettingName) ? '--' : ''}${flag} belongs to the whole crawl, not to one member of it: join without it, then change it for all ` +
      'members by "gossamer set" or "gossamer resume"',
  );
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
const newPlace = (dir: string, { store, storeCa, name }: Pick<Settings, 'store' | 'storeCa' | 'name'>): StorePlace => ({
  url: store,
  ca: storeCa,
  crawl: name,
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

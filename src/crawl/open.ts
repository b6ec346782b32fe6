/** Makes a crawl's directory, or opens it again; everything is checked before anything is changed. */

import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readConnectTo } from '../fetch/connect-to.ts';
import { writeBytes } from '../lib/units.ts';
import { completeSettings, UsageError } from '../model/read-settings.ts';
import type { Settings } from '../model/settings.ts';
import { checkDescriptors, diskFreeBytes } from './ceilings.ts';
import { checkFixed, checkNewFolder, FILES, makeFolder, readIdentity, writeIdentity, type Identity } from './folder.ts';
import { checkHooks } from './hooks.ts';
import { lockCrawl, type Lock } from './lock.ts';
import { checkSeeds, copySeeds, readExcludeFile, writeExcluded, type SeedSource } from './seeds.ts';

export interface CrawlRequest {
  readonly dir: string;
  readonly settings: Readonly<Partial<Settings>>;
  readonly seeds: SeedSource;
  readonly excludeFile: string | null;
  /** Tells a person what was skipped. */
  readonly say: (text: string) => void;
}

export interface OpenCrawl {
  readonly dir: string;
  readonly identity: Identity;
  readonly lock: Lock;
}

/** The disk has less room than the crawl must leave free. */
export class DiskError extends Error {}

/** The settings as they are kept: what a person wrote for their own folder holds in every other. */
const checked = async (settings: Settings): Promise<Settings> => {
  for (const text of settings.connectTo) {
    if (!readConnectTo(text)) throw new UsageError(`--connect-to "${text}" is not understood: write HOST:PORT:ADDR:PORT, such as *:80:127.0.0.1:8080`);
  }
  checkDescriptors(settings);
  return { ...settings, hooks: await checkHooks(settings.hooks) };
};

const checkDisk = (dir: string, { diskReserveBytes }: Settings): void => {
  const free = diskFreeBytes(existing(dir));
  if (free >= diskReserveBytes) return;
  throw new DiskError(`the disk of "${dir}" has ${writeBytes(free)} free, less than --disk-reserve ${writeBytes(diskReserveBytes)}: free some space or lower it`);
};

/** Where a directory that is still to be made will be: a disk that is full is found before it is. */
const existing = (dir: string): string => (existsSync(dir) ? dir : existing(dirname(resolve(dir))));

export const createCrawl = async (request: CrawlRequest): Promise<OpenCrawl> => {
  const { dir, say } = request;
  const settings = await checked(completeSettings(request.settings, availableParallelism()));
  checkNewFolder(dir);
  const excluded = request.excludeFile === null ? null : readExcludeFile(request.excludeFile);
  await checkSeeds(request.seeds, say);
  checkDisk(dir, settings);
  makeFolder(dir);
  const lock = lockCrawl(dir);
  try {
    checkNewFolder(dir); // another process may have been quicker
    if (excluded !== null) writeExcluded(dir, excluded);
    await copySeeds({ dir, source: request.seeds, where: 'anew', say });
    return { dir, lock, identity: writeIdentity(dir, settings) }; // last: from here on it is a crawl
  } catch (error) {
    lock.release();
    throw error;
  }
};

export const reopenCrawl = async (request: CrawlRequest): Promise<OpenCrawl> => {
  const { dir, seeds } = request;
  const former = readIdentity(dir);
  checkFixed(dir, former);
  const settings = await checked(completeSettings({ ...former.settings, ...request.settings }, availableParallelism()));
  const excluded = request.excludeFile === null ? null : readExcludeFile(request.excludeFile);
  const more = seeds.file !== null || seeds.urls.length > 0;
  if (more) await checkSeeds(seeds, request.say);
  checkStore(dir);
  checkDisk(dir, settings);
  const lock = lockCrawl(dir);
  try {
    if (excluded !== null) writeExcluded(dir, excluded);
    if (more) await copySeeds({ dir, source: seeds, where: 'behind', say: request.say });
    return { dir, lock, identity: writeIdentity(dir, settings, former) };
  } catch (error) {
    lock.release();
    throw error;
  }
};

/** Without its store, the archive of a crawl would look unsettled and be cut to nothing. */
const checkStore = (dir: string): void => {
  const warc = join(dir, FILES.warc);
  if (existsSync(join(dir, FILES.store)) || !existsSync(warc) || readdirSync(warc).length === 0) return;
  throw new UsageError(`crawl "${dir}" has an archive but its ${FILES.store} is missing: restore it from a copy`);
};

/** `--config FILE`: the settings of a crawl from a YAML or JSON file. */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import { unreadable, type SeedSource } from '../folder/seeds.ts';
import { readConnectTo } from '../fetch/connect-to.ts';
import { writeBytes } from '../lib/units.ts';
import {
  adviceOf,
  complaintOf,
  isLimit,
  notUnderstood,
  readText,
  UsageError,
  type Reading,
} from '../model/read-settings.ts';
import { OLD_SETTINGS } from '../model/old-settings.ts';
import { SETTING_NAMES, SETTINGS, type SettingName } from '../model/setting-table.ts';
import type { Settings } from '../model/settings.ts';
import { readPattern } from '../url/link-patterns.ts';
import { readSeed } from '../url/seed.ts';
import {
  CONFIG_BYTES_MAX,
  isMapping,
  readEntries,
  type Entry,
  type Format,
  type List,
  type Scalar,
} from './config-text.ts';
import { CREDENTIALS_FLAG } from './credentials-file.ts';
import { nearest } from '../lib/nearest.ts';
import type { Flag, Read } from './flags.ts';
import { looksLikeSeed } from './seed-words.ts';
import { siteRulesOf } from './site-rules-file.ts';
import { RUN_FLAGS } from './watch-run.ts';

export interface FileConfig {
  readonly settings: Readonly<Partial<Settings>>;
  readonly dir: string | null;
  readonly seeds: SeedSource | null;
  readonly excludeFile: string | null;
}

/** What a file may say beside the settings. */
export const FILE_NAMES = {
  dir: 'where the crawl lives',
  seeds: 'a seed file, a URL or domain, or a list of these two; a resume leaves it alone',
  'exclude-file': 'sites never to visit: a domain or a host per line',
} as const;

export const CONFIG_FLAG: Flag = {
  name: 'config',
  value: 'FILE',
  says: 'settings from a YAML or JSON file; flags win',
};

const FORMATS: Readonly<Record<string, Format>> = { '.yaml': 'yaml', '.yml': 'yaml', '.json': 'json' };

const NOTHING: FileConfig = { settings: {}, dir: null, seeds: null, excludeFile: null };

/** What `--config` gives, if it is there. */
export const configOf = async ({ values }: Read): Promise<FileConfig> => {
  const path = values.get(CONFIG_FLAG.name)?.[0];
  return path === undefined ? NOTHING : readConfigFile(path);
};

/**
 * Throws a UsageError with the place of the first mistake; paths in the file are relative to it. The names in `except`
 * are refused.
 */
export const readConfigFile = async (path: string, except: readonly string[] = []): Promise<FileConfig> => {
  const format = FORMATS[extname(path).toLowerCase()];
  if (format === undefined)
    throw new UsageError(`--config "${path}" is neither YAML nor JSON: name it ${Object.keys(FORMATS).join(', ')}`);
  const folder = dirname(resolve(path));
  const config: { -readonly [K in keyof FileConfig]: FileConfig[K] } = { ...NOTHING };
  const settings: Record<string, unknown> = {};
  for (const entry of await readEntries(path, textOf(path), format)) {
    if (entry.name === SETTINGS.sites.flag || isMapping(entry)) {
      settings.sites = siteRulesOf(entry);
      continue;
    }
    const name = settingNamed(entry.name);
    if (except.includes(entry.name))
      throw new UsageError(
        `${entry.where}: ${entry.name} belongs to one crawl: give it on the command line, or in a --config file`,
      );
    if (name !== undefined) settings[name] = settingOf(name, entry, folder);
    else if (entry.name === OLD_SETTINGS.seededOnly.flag) Object.assign(settings, seededOnly(entry), settings);
    else if (entry.name === 'dir') config.dir = pathOf(entry, folder);
    else if (entry.name === 'exclude-file') config.excludeFile = pathOf(entry, folder);
    else if (entry.name === 'seeds') config.seeds = seedsOf(entry, folder);
    else throw unknownName(entry);
  }
  return { ...config, settings: settings as Partial<Settings> };
};

const textOf = (path: string): string => {
  try {
    const { size } = statSync(path);
    if (size > CONFIG_BYTES_MAX)
      throw new UsageError(
        `"${path}" has ${writeBytes(size)}, and settings have at most ${writeBytes(CONFIG_BYTES_MAX)}: put seeds into a file of their own`,
      );
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    throw error instanceof UsageError ? error : unreadable(path, error);
  }
};

const settingNamed = (text: string): SettingName | undefined =>
  SETTING_NAMES.find((name) => SETTINGS[name].flag === text);

/** A name of before; the one of now wins, wherever it stands in the file. */
const seededOnly = ({ name, value }: Entry): Partial<Settings> => {
  if (value.kind === 'scalar' && typeof value.value === 'boolean') return OLD_SETTINGS.seededOnly.now(value.value);
  throw new UsageError(
    `${value.where}: ${name} ${notUnderstood(value.kind === 'scalar' ? value.value : [], 'write true or false')}`,
  );
};

const unknownName = ({ name, where }: Entry): UsageError => {
  if ([...RUN_FLAGS, CREDENTIALS_FLAG].some((flag) => flag.name === name))
    return new UsageError(`${where}: ${name} is not kept in a file: give --${name} on the command line`);
  // People who know the library write maxPages.
  const known = [...SETTING_NAMES.map((one) => SETTINGS[one].flag), ...Object.keys(FILE_NAMES)];
  const setting = SETTING_NAMES.find((one) => one === name);
  const best = setting === undefined ? nearest(name.replace(/^--/, ''), known) : SETTINGS[setting].flag;
  return new UsageError(
    `${where}: there is no setting ${JSON.stringify(name)}${best === null ? '; "gossamer help settings" lists all' : ` (did you mean ${best}?)`}`,
  );
};

const settingOf = (name: SettingName, { name: written, where, value }: Entry, folder: string): unknown => {
  const isList =
    SETTINGS[name].kind === 'texts' || (['networks', 'types'].includes(SETTINGS[name].kind) && value.kind === 'list');
  const reading = isList ? readList(value) : readValue(name, value);
  if ('why' in reading) throw new UsageError(`${value.where}: ${written} ${reading.why}`);
  const why = complaintOf(name, reading.value);
  if (why !== null) throw new UsageError(`${where}: ${written} ${why}`);
  if (name === 'connectTo') checkRules(value);
  if (name === 'include' || name === 'exclude') checkPatterns(written, value);
  return name === 'hooks' ? modulePath(reading.value as string, folder) : reading.value;
};

const readValue = (name: SettingName, given: Scalar | List): Reading => {
  if (given.kind === 'list') return { why: `takes one value, not a list: ${adviceOf(name)}` };
  const { value, text } = given;
  // A name with nothing after it is more likely forgotten than meant to lift a limit.
  if (value === null && text === '') return { why: `has no value: ${adviceOf(name)}` };
  if (value === null && isLimit(name)) return { value };
  switch (SETTINGS[name].kind) {
    case 'count':
    case 'duration':
    case 'bytes':
      // As in a flag: what was written counts, so that 1e3 is no count.
      return typeof value === 'string' || typeof value === 'number'
        ? readText(name, text)
        : { why: notUnderstood(value, adviceOf(name)) };
    case 'switch':
      return typeof value === 'boolean' ? { value } : { why: notUnderstood(value, adviceOf(name)) };
    case 'networks':
      if (typeof value === 'boolean') return { value };
      return typeof value === 'string' ? readText(name, text) : { why: notUnderstood(value, adviceOf(name)) };
    case 'types':
      return typeof value === 'string' ? readText(name, text) : { why: notUnderstood(value, adviceOf(name)) };
    default:
      return typeof value === 'string' ? { value } : { why: notUnderstood(value, adviceOf(name)) };
  }
};

/** One text is a list of one. */
const readList = (given: Scalar | List): Reading => {
  const items = given.kind === 'list' ? given.items : [given];
  const wrong = items.find(({ value }) => typeof value !== 'string');
  return wrong
    ? { why: notUnderstood(wrong.value, 'give a list of texts') }
    : { value: items.map(({ value }) => value) };
};

const checkRules = (given: Scalar | List): void => {
  for (const { value, where } of given.kind === 'list' ? given.items : [given]) {
    if (!readConnectTo(String(value)))
      throw new UsageError(
        `${where}: connect-to ${notUnderstood(value, 'write HOST:PORT:ADDR:PORT, such as "*:80:127.0.0.1:8080"')}`,
      );
  }
};

const checkPatterns = (name: string, given: Scalar | List): void => {
  for (const { value, where } of given.kind === 'list' ? given.items : [given]) {
    const read = readPattern(String(value));
    if ('why' in read) throw new UsageError(`${where}: ${name} ${JSON.stringify(value)} ${read.why}`);
  }
};

const pathOf = ({ name, value }: Entry, folder: string): string => {
  if (value.kind === 'list' || typeof value.value !== 'string' || value.value === '') {
    throw new UsageError(`${value.where}: ${name} is not a path: write one, relative to this file`);
  }
  return resolve(folder, value.value);
};

/** Empty for none; a URL is whole as it is. */
const modulePath = (text: string, folder: string): string =>
  text === '' || text.startsWith('file:') ? text : resolve(folder, text);

const seedsOf = (entry: Entry, folder: string): SeedSource => {
  const { value } = entry;
  if (value.kind === 'scalar') {
    const path = pathOf(entry, folder);
    return looksLikeSeed(value.text) && !existsSync(path)
      ? { files: [], urls: [value.text] }
      : { files: [path], urls: [] };
  }
  const urls = value.items.map(({ value: seed, where }) => {
    const read = readSeed(typeof seed === 'string' ? seed : '');
    if (read.kind !== 'link')
      throw new UsageError(
        `${where}: ${read.kind === 'bad' ? read.why : `${JSON.stringify(seed)} is not a seed`}: give a domain, host or URL`,
      );
    return seed as string;
  });
  return { files: [], urls };
};

/** The settings of a crawl as flags: grouped for the help, and read back. */

import { looksLikeNetworks, NO_LIMIT, readSetting } from '../model/read-settings.ts';
import { OLD_SETTINGS } from '../model/old-settings.ts';
import { hasFlag, SETTING_NAMES, SETTINGS, type SettingName } from '../model/setting-table.ts';
import type { Settings } from '../model/settings.ts';
import { writeSetting } from '../model/write-setting.ts';
import type { Flag, Read } from './flags.ts';

/** The headings of the help, in the order in which they are shown. */
export const GROUPS = ['What is crawled', 'Politeness', 'Limits', 'Machine', 'Output'] as const;
export type Group = (typeof GROUPS)[number];

/** Where each setting stands; a rare one is shown by `gossamer help settings` alone. */
const PLACES: Readonly<Record<SettingName, readonly [Group, 'rare'?]>> = {
  email: ['What is crawled'],
  scope: ['What is crawled'],
  include: ['What is crawled'],
  exclude: ['What is crawled'],
  sitemaps: ['What is crawled'],
  maxDepth: ['What is crawled'],
  hooks: ['What is crawled', 'rare'],
  delayMs: ['Politeness'],
  userAgent: ['Politeness', 'rare'],
  robotsToken: ['Politeness', 'rare'],
  acceptLanguage: ['Politeness', 'rare'],
  headers: ['Politeness', 'rare'],
  troubleDelayMs: ['Politeness', 'rare'],
  parkAfter: ['Politeness', 'rare'],
  verifyTls: ['Politeness', 'rare'],
  allowPrivateAddresses: ['Politeness', 'rare'],
  connectTo: ['Politeness', 'rare'],
  nameServers: ['Machine', 'rare'],
  maxPages: ['Limits'],
  maxDurationMs: ['Limits'],
  maxPagesPerSite: ['Limits'],
  maxWaitingPerSite: ['Limits', 'rare'],
  bodyBytesMax: ['Limits', 'rare'],
  timeoutMs: ['Limits', 'rare'],
  concurrency: ['Machine'],
  fetchers: ['Machine', 'rare'],
  parsers: ['Machine', 'rare'],
  bodyMemoryBytes: ['Machine', 'rare'],
  diskReserveBytes: ['Machine', 'rare'],
  store: ['Machine'],
  storeCa: ['Machine', 'rare'],
  name: ['Machine', 'rare'],
  frontier: ['Machine', 'rare'],
  types: ['Output', 'rare'],
  keep: ['Output'],
  keepLinks: ['Output', 'rare'],
  metrics: ['Machine', 'rare'],
  logFile: ['Output', 'rare'],
  ledger: ['Output', 'rare'],
  sites: ['Politeness', 'rare'],
};

export const groupOf = (name: SettingName): Group => PLACES[name][0];

/** In the order of the table above, which is that of the help and of a printed file. */
export const SETTINGS_SHOWN = Object.keys(PLACES) as SettingName[];

/** Whether a setting can be given by its name alone, and turned off by `--no-<name>`. */
export const isSwitch = (name: SettingName): boolean => ['switch', 'networks'].includes(SETTINGS[name].kind);

const OLD_FLAG: Flag = {
  name: OLD_SETTINGS.seededOnly.flag,
  negatable: true,
  group: PLACES.scope[0],
  rare: true,
  says: OLD_SETTINGS.seededOnly.says,
};

const FLAGS_OF_NOW: readonly Flag[] = SETTINGS_SHOWN.filter(hasFlag).map((name) => {
  const spec = SETTINGS[name];
  const fallback = writeDefault(name);
  return {
    name: spec.flag,
    ...(spec.value === undefined ? {} : { value: spec.value }),
    repeatable: spec.kind === 'texts',
    negatable: isSwitch(name),
    ...(spec.kind === 'networks' ? { isValue: looksLikeNetworks } : {}),
    group: PLACES[name][0],
    rare: PLACES[name][1] === 'rare',
    says: `${spec.says}${fallback === '' ? '' : ` (default ${fallback})`}`,
  };
});

export const SETTING_FLAGS: readonly Flag[] = [...FLAGS_OF_NOW, OLD_FLAG];

/** The default as a person would write it; empty where there is none to name. */
export function writeDefault(name: SettingName): string {
  const { fallback } = SETTINGS[name];
  if (Array.isArray(fallback)) return fallback.join(',');
  if (fallback === null || fallback === '' || isSwitch(name)) return '';
  return String(writeSetting(name, fallback));
}

/** What was given on the command line, and only that. */
export const givenSettings = (read: Read): Partial<Settings> => {
  const given: Record<string, unknown> = {};
  const old = OLD_SETTINGS.seededOnly;
  if (read.switches.has(old.flag) || read.off.has(old.flag)) Object.assign(given, old.now(read.switches.has(old.flag)));
  for (const name of SETTING_NAMES) {
    const { flag, kind } = SETTINGS[name];
    if (read.switches.has(flag) || read.off.has(flag)) given[name] = read.switches.has(flag);
    const values = read.values.get(flag);
    if (!values) continue;
    if (kind !== 'texts') given[name] = readSetting(name, values[0]!);
    else given[name] = values.length === 1 && values[0] === NO_LIMIT ? [] : values;
  }
  return given as Partial<Settings>;
};

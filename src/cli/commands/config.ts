/** `gossamer config`: the settings that would be in force, as a file that can be given back. */

import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { readIdentity, type Identity } from '../../folder/folder.ts';
import { VERSION } from '../../folder/version.ts';
import { checkSetting, fallbackOf, NO_LIMIT, UsageError } from '../../model/read-settings.ts';
import { SETTINGS, type SettingName } from '../../model/setting-table.ts';
import type { Settings } from '../../model/settings.ts';
import { writeSetting, type Written } from '../../model/write-setting.ts';
import type { Command } from '../command.ts';
import { CONFIG_FLAG, configOf, FILE_NAMES, type FileConfig } from '../config-file.ts';
import { printForeign, printObject } from '../listing.ts';
import { siteLines, siteValues } from '../site-values.ts';
import { writeSiteRules, type WrittenRules } from '../site-rules-file.ts';
import { NO_USER_CONFIG, userConfig } from '../user-config.ts';
import { givenSettings, GROUPS, groupOf, SETTING_FLAGS, SETTINGS_SHOWN } from '../setting-flags.ts';

/** Who gave a value; of several, the last one here wins. */
const SOURCES = ['default', 'user', 'environment', 'crawl', 'file', 'flag'] as const;
type Source = (typeof SOURCES)[number];

interface Sourced {
  readonly value: Written | WrittenRules;
  readonly from: Source;
}

const NO_CRAWL: { readonly settings: Readonly<Partial<Settings>>; readonly journal?: Identity['journal'] } = {
  settings: {},
};

export const configCommand: Command = {
  name: 'config',
  usage: 'config [<dir>] [--config FILE] [--site HOST] [--json] [flags of crawl]',
  says: 'Print the settings in force, as a file for --config. Each value says where it comes from: a flag wins over the file, the file over what the crawl in <dir> has stored; without <dir>, over GOSSAMER_EMAIL and the file of the user; and these over the default. Nothing is changed.',
  flags: [
    CONFIG_FLAG,
    { name: 'site', value: 'HOST', says: 'what holds for a host, by the rules per site, and where it comes from' },
    { name: 'json', says: 'print one JSON object, with the sources' },
    ...SETTING_FLAGS.map((flag) => ({ ...flag, rare: true })),
  ],
  example: 'gossamer config --email you@example.org --delay 10s > crawl.yaml',
  run: async (read) => {
    const [dir, ...rest] = read.words;
    if (rest.length > 0) throw new UsageError(`"${rest[0]}" is one word too many`);
    const { settings: stored, journal } = dir === undefined ? NO_CRAWL : readIdentity(dir);
    const file = await configOf(read);
    // A crawl that is there has its settings: what holds for new ones is not for it.
    const { user, environment } = dir === undefined ? await userConfig(process.env) : NO_USER_CONFIG;
    const settings = sourced({ user, environment, crawl: stored, file: file.settings, flag: givenSettings(read) });
    const isJson = read.switches.has('json');
    const host = read.values.get('site')?.[0];
    if (host !== undefined) {
      const given = { ...user, ...environment, ...stored, ...file.settings, ...givenSettings(read) };
      const values = siteValues(host, given, (name) => settings.get(name)!.from);
      await (isJson ? printObject(values, 2) : printForeign(`${siteLines(values).join('\n')}\n`));
      return 0;
    }
    if (isJson) await printObject(objectOf(settings, file), 2);
    else await printForeign(`${linesOf(settings, file, journal?.number).join('\n')}\n`);
    return 0;
  },
};

type Given = Readonly<Record<Exclude<Source, 'default'>, Readonly<Partial<Settings>>>>;

const sourced = (given: Given): Map<SettingName, Sourced> =>
  new Map(
    SETTINGS_SHOWN.map((name) => {
      const from = SOURCES.findLast((source) => source !== 'default' && given[source][name] !== undefined) ?? 'default';
      const value = from === 'default' ? fallbackOf(name, availableParallelism()) : given[from][name];
      // An address that nobody gave yet is no mistake here.
      if (name !== 'email' || value !== '') checkSetting(name, value);
      // A path on the command line is relative to where it is typed; the printed file may lie elsewhere.
      const isRelative = name === 'hooks' && from === 'flag' && value !== '' && !String(value).startsWith('file:');
      if (isRelative) return [name, { value: resolve(String(value)), from }];
      const isRules = name === 'sites';
      return [name, { value: isRules ? writeSiteRules(value as Settings['sites']) : writeSetting(name, value), from }];
    }),
  );

/** What a file says beside the settings. */
const besides = ({ dir, seeds, excludeFile }: FileConfig): Readonly<Record<keyof typeof FILE_NAMES, Written>> => ({
  dir: dir,
  seeds: seeds?.files[0] ?? seeds?.urls ?? null,
  'exclude-file': excludeFile,
});

const objectOf = (settings: ReadonlyMap<SettingName, Sourced>, file: FileConfig): Record<string, Sourced> => ({
  ...Object.fromEntries(
    Object.entries(besides(file))
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, { value, from: 'file' }]),
  ),
  ...Object.fromEntries([...settings].map(([name, one]) => [SETTINGS[name].flag, one])),
});

const EXAMPLES: Readonly<Record<keyof typeof FILE_NAMES, string>> = {
  dir: './crawl',
  seeds: 'seeds.txt',
  'exclude-file': 'exclude.txt',
};

/** `change` is the last one of the crawl that its directory knows of. */
const linesOf = (settings: ReadonlyMap<SettingName, Sourced>, file: FileConfig, change?: number): string[] => {
  const beside = besides(file);
  const names = Object.keys(FILE_NAMES) as (keyof typeof FILE_NAMES)[];
  return [
    `# Settings of gossamer ${VERSION}, to be given back with --config FILE.`,
    '# The comment after each value says where it comes from: default, user, environment, crawl, file or flag.',
    ...(change === undefined ? [] : [`# What the crawl has is as of its change ${change}.`]),
    '',
    ...names.flatMap((name) => [
      `# ${FILE_NAMES[name]}`,
      beside[name] === null ? `# ${name}: ${EXAMPLES[name]}` : `${name}: ${yamlOf(beside[name])} # file`,
    ]),
    ...GROUPS.flatMap((group) => [
      '',
      `## ${group}`,
      ...[...settings]
        .filter(([name]) => groupOf(name) === group)
        .flatMap(([name, one]) => [`# ${SETTINGS[name].says}`, ...linesFor(name, one)]),
    ]),
  ];
};

const linesFor = (name: SettingName, { value, from }: Sourced): string[] => {
  const { flag } = SETTINGS[name];
  if (name === 'email' && value === '') return [`# ${flag}: you@example.org # missing: a crawl needs it`];
  if (isRules(value)) return [`${flag}:${Object.keys(value).length === 0 ? ' {}' : ''} # ${from}`, ...ruleLines(value)];
  return [`${flag}: ${yamlOf(value)} # ${from}`];
};

const isRules = (value: Written | WrittenRules): value is WrittenRules =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A host in quotes is one whatever it consists of; a rule that names nothing is written as such. */
const ruleLines = (rules: WrittenRules): string[] =>
  Object.entries(rules).flatMap(([host, values]) => [
    `  ${JSON.stringify(host)}:${Object.keys(values).length === 0 ? ' {}' : ''}`,
    ...Object.entries(values).map(([name, value]) => `    ${name}: ${ruleYaml(value)}`),
  ]);

const ruleYaml = (value: WrittenRules[string][string]): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : yamlOf(value);

/** Plain where that is safe; JSON in quotes is YAML too. */
const yamlOf = (value: Written): string => {
  if (value === null) return NO_LIMIT;
  return typeof value === 'string' && /^\d+[a-z]+$/i.test(value)
    ? value
    : typeof value === 'string' || Array.isArray(value)
      ? JSON.stringify(value)
      : String(value);
};

/** What holds for one host, by the settings and the rules per site, and where each value comes from. */

import { fallbackOf, UsageError } from '../model/read-settings.ts';
import { SETTINGS, type SettingName } from '../model/setting-table.ts';
import type { Settings } from '../model/settings.ts';
import { RULE_VALUE_NAMES, RULE_VALUES, type RuleValueName } from '../model/site-rules.ts';
import { writeSetting } from '../model/write-setting.ts';
import { siteOf } from '../url/site.ts';
import { readRuleName, valueFor } from '../url/site-rules.ts';
import { writeRuleValue, type WrittenRule } from './site-rules-file.ts';

export interface SiteValue {
  readonly value: WrittenRule[string];
  /** The rule that gives it, or the setting that holds for all sites; null where neither does. */
  readonly rule: string | null;
  readonly setting: string | null;
  /** Who gave the rule or the setting: default, crawl, file or flag. */
  readonly from: string;
}

export interface SiteValues {
  readonly host: string;
  readonly site: string;
  readonly values: Readonly<Record<string, SiteValue>>;
}

/** The setting that holds where no rule names the value. */
const SETTING_OF: Readonly<Partial<Record<RuleValueName, SettingName>>> = {
  delayMs: 'delayMs',
  maxPages: 'maxPagesPerSite',
  scope: 'scope',
  headers: 'headers',
};
/** What holds where there is no such setting. */
const OTHERWISE: Readonly<Partial<Record<RuleValueName, WrittenRule[string]>>> = { own: false, robots: 'obey' };

export const siteValues = (
  text: string,
  settings: Readonly<Partial<Settings>>,
  fromOf: (name: SettingName) => string,
): SiteValues => {
  const read = readRuleName(text);
  if ('why' in read) throw new UsageError(`--site ${read.why}`);
  const host = read.name;
  const valueOfHost = (name: RuleValueName): SiteValue | null => {
    const rule = valueFor(settings.sites, host, name);
    if (rule) return { value: writeRuleValue(name, rule.value), rule: rule.by, setting: null, from: fromOf('sites') };
    const setting = SETTING_OF[name];
    if (setting !== undefined) {
      const value = settings[setting] === undefined ? fallbackOf(setting, 1) : settings[setting];
      const { flag } = SETTINGS[setting];
      return { value: writeSetting(setting, value), rule: null, setting: flag, from: fromOf(setting) };
    }
    const otherwise = OTHERWISE[name];
    return otherwise === undefined ? null : { value: otherwise, rule: null, setting: null, from: 'default' };
  };
  const values = RULE_VALUE_NAMES.flatMap((name) => {
    const value = valueOfHost(name);
    return value ? [[RULE_VALUES[name].called, value] as const] : [];
  });
  return { host, site: siteOf(host), values: Object.fromEntries(values) };
};

export const siteLines = ({ host, site, values }: SiteValues): string[] => [
  `# ${host}${host === site ? '' : `, of the site ${site}`}: what holds, and where it comes from.`,
  ...Object.entries(values).map(([name, one]) => `${name}: ${written(one.value)} # ${sourceOf(one)}`),
];

const sourceOf = ({ rule, setting, from }: SiteValue): string => {
  if (rule !== null) return `rule for ${rule}, ${from}`;
  return setting === null ? from : `${setting}, ${from}`;
};

const written = (value: WrittenRule[string]): string =>
  value === null ? 'none' : typeof value === 'object' ? JSON.stringify(value) : String(value);

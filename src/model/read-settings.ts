/** From what a person wrote to settings that are whole and right, or a sentence that says what is not. */

import { isMapped, readNetwork } from '../lib/network.ts';
import { BODY_TYPES_ADVICE, bodyTypeComplaint } from './body-types.ts';
import { readBytes, readDurationMs } from '../lib/units.ts';
import { OLD_SETTINGS, type OldSettings } from './old-settings.ts';
import { hasFlag, SETTING_NAMES, SETTINGS, type SettingName, type Spec } from './setting-table.ts';
import { defaultThreads, type Settings } from './settings.ts';
import { headersComplaint, languagesComplaint } from './request-headers.ts';
import { robotsTokenComplaint, userAgentComplaint } from './user-agent.ts';
import { rulesComplaint } from './site-rules.ts';

/** Wrong use by a person: the message says what happened and what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Limits can be lifted: they are then null. The type of the settings says which these are. */
type LimitName = { [K in SettingName]: null extends Settings[K] ? K : never }[SettingName];
const LIMITS: Readonly<Record<LimitName, true>> = {
  maxPages: true,
  maxDurationMs: true,
  maxDepth: true,
  maxPagesPerSite: true,
  maxWaitingPerSite: true,
};
export const isLimit = (name: SettingName): boolean => Object.hasOwn(LIMITS, name);

/** How a person lifts a limit: `--max-pages none`. */
export const NO_LIMIT = 'none';

/** How a person names all networks: `--allow-private-addresses all`. */
const ALL_NETWORKS = 'all';

/**
 * Whether a word after a flag whose networks may be left out was meant as its networks: it begins as an address does.
 * Whether it is right is another question.
 */
export const looksLikeNetworks = (word: string): boolean =>
  word === ALL_NETWORKS || /^(?:\d+(?:\.\d+)+|[0-9a-f]*:[0-9a-f:.]*)(?:%\w*)?(?:\/\d*)?(?:,|$)/i.test(word);

/** What was meant, or why it means nothing: `why` completes "--delay ..." and "crawl.yaml line 3: delay ...". */
export type Reading = { readonly value: unknown } | { readonly why: string };

/** Reads the text of one flag, or of one value in a file. */
export const readText = (name: SettingName, text: string): Reading => {
  if (text === NO_LIMIT && isLimit(name)) return { value: null };
  const value = parse(name, text);
  return value === null ? { why: notUnderstood(text, adviceOf(name)) } : { value };
};

const parse = (name: SettingName, text: string): unknown => {
  switch (SETTINGS[name].kind) {
    case 'duration':
      return readDurationMs(text);
    case 'bytes':
      return readBytes(text);
    case 'count':
      return /^\d+$/.test(text) ? Number(text) : null;
    case 'networks':
      return text === ALL_NETWORKS ? true : text.split(',').map((one) => one.trim());
    case 'types':
      return text.split(',').map((one) => one.trim().toLowerCase());
    default:
      return text;
  }
};

/** How a value of this setting is written. */
export const adviceOf = (name: SettingName): string => {
  const { kind, choices } = SETTINGS[name];
  const lifted = isLimit(name) ? `, or ${NO_LIMIT}` : '';
  switch (kind) {
    case 'duration':
      return `write a time in seconds, or with its unit, such as 500ms, 90s, 10m or 24h${lifted}`;
    case 'bytes':
      return `write a size with its unit, such as 512KiB, 2MiB or 1GiB${lifted}`;
    case 'count':
      return `write a whole number${lifted}`;
    case 'switch':
      return 'write true or false';
    case 'choice':
      return `choose one of ${choices!.join(', ')}`;
    case 'networks':
      return `write networks such as 10.1.0.0/16,fd00::/8, or ${ALL_NETWORKS}`;
    case 'types':
      return BODY_TYPES_ADVICE;
    case 'texts':
      return 'give a list of texts';
    case 'text':
      return 'give a text';
    case 'sites':
      return 'write domains or hosts, each with its values below it';
    default:
      return kind satisfies never;
  }
};

export const notUnderstood = (value: unknown, advice: string): string =>
  `${JSON.stringify(value)} is not understood: ${advice}`;

/** Reads the text of one flag; throws a UsageError when it is wrong. */
export const readSetting = (name: SettingName, text: string): unknown => {
  const reading = readText(name, text);
  if ('why' in reading) throw new UsageError(`--${SETTINGS[name].flag} ${reading.why}`);
  return reading.value;
};

/** The value of a setting that nobody gave. */
export const fallbackOf = (name: SettingName, cores: number): unknown => {
  const threads = defaultThreads(cores);
  return name === 'fetchers' ? threads.fetchers : name === 'parsers' ? threads.parsers : SETTINGS[name].fallback;
};

/** Settings under the names that they have now. */
export const renamed = ({ seededOnly, ...given }: Readonly<Partial<Settings & OldSettings>>): Partial<Settings> =>
  seededOnly === undefined ? given : { ...OLD_SETTINGS.seededOnly.now(seededOnly), ...given };

/** Fills in the defaults and checks every value, whoever gave it. */
export const completeSettings = (given: Readonly<Partial<Settings>>, cores: number): Settings => {
  for (const name of Object.keys(given)) {
    if (!(name in SETTINGS)) throw new UsageError(`there is no setting "${name}"`);
  }
  const settings: Record<string, unknown> = {};
  for (const name of SETTING_NAMES) {
    settings[name] = given[name] === undefined ? fallbackOf(name, cores) : given[name];
    checkSetting(name, settings[name]);
  }
  return settings as unknown as Settings;
};

/** Throws a UsageError unless the value is right. */
export const checkSetting = (name: SettingName, value: unknown): void => {
  const why = complaintOf(name, value);
  if (why !== null) throw new UsageError(`${hasFlag(name) ? '--' : ''}${SETTINGS[name].flag} ${why}`);
};

/** What is wrong with a value, completing "--delay ..."; null when nothing is. */
export const complaintOf = (name: SettingName, value: unknown): string | null => {
  if (name === 'email') return emailComplaint(value);
  if (name === 'userAgent') return userAgentComplaint(value);
  if (name === 'robotsToken') return robotsTokenComplaint(value);
  if (name === 'acceptLanguage') return languagesComplaint(value);
  const spec = SETTINGS[name];
  switch (spec.kind) {
    case 'duration':
    case 'bytes':
    case 'count':
      return value === null && isLimit(name) ? null : numberComplaint(spec, value);
    case 'switch':
      return typeof value === 'boolean' ? null : notUnderstood(value, 'give true or false');
    case 'choice':
      return spec.choices!.includes(value as string) ? null : notUnderstood(value, adviceOf(name));
    case 'networks':
      return typeof value === 'boolean' ? null : networksComplaint(value);
    case 'types':
      return typesComplaint(name, value);
    case 'texts':
      if (!isTexts(value)) return notUnderstood(value, adviceOf(name));
      return name === 'headers' ? headersComplaint(value) : null;
    case 'text':
      return typeof value === 'string' ? null : notUnderstood(value, adviceOf(name));
    case 'sites':
      return rulesComplaint(value);
    default:
      return spec.kind satisfies never;
  }
};

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
const NUMBERS: Readonly<Partial<Record<Spec['kind'], string>>> = {
  duration: 'give a number of milliseconds',
  bytes: 'give a number of bytes',
};

const numberComplaint = (spec: Spec, value: unknown): string | null => {
  if (typeof value !== 'number' || !Number.isFinite(value))
    return notUnderstood(value, NUMBERS[spec.kind] ?? 'give a number');
  if (spec.kind === 'count' && !Number.isInteger(value)) return notUnderstood(value, 'give a whole number');
  if (spec.least !== undefined && value < spec.least) return notUnderstood(value, `the least is ${spec.least}`);
  if (spec.most !== undefined && value > spec.most) return notUnderstood(value, `the most is ${spec.most}`);
  return null;
};

const typesComplaint = (name: SettingName, value: unknown): string | null => {
  if (!Array.isArray(value) || value.length === 0) return notUnderstood(value, adviceOf(name));
  for (const one of value as readonly unknown[]) {
    const why = typeof one === 'string' ? bodyTypeComplaint(one) : notUnderstood(one, adviceOf(name));
    if (why !== null) return why;
  }
  return null;
};

const networksComplaint = (value: unknown): string | null => {
  if (!Array.isArray(value)) return notUnderstood(value, 'give true, false or a list of networks');
  for (const text of value as readonly unknown[]) {
    const network = typeof text === 'string' ? readNetwork(text) : null;
    if (network === null)
      return `${JSON.stringify(text)} is not a network: write an address and its bits, such as 10.1.0.0/16 or fd00::/8`;
    if (isMapped(network)) return `${JSON.stringify(text)} is a network of IPv4 addresses: write it as one`;
  }
  return null;
};

const emailComplaint = (value: unknown): string | null => {
  if (value === '' || value === undefined)
    return 'is missing: give an address where a site owner reaches you, such as you@example.org';
  // One @, no spaces or control characters, a dot in the domain: enough to catch a slip, and safe in a header.
  const isAddress =
    typeof value === 'string' &&
    value.length <= 254 &&
    /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(value);
  return isAddress
    ? null
    : `${JSON.stringify(value)} is not an e-mail address: give one where a site owner reaches you`;
};

/** From what a person wrote to settings that are whole and right, or a sentence that says what is not. */

import { readBytes, readDurationMs } from '../lib/units.ts';
import { defaultThreads, SETTING_NAMES, SETTINGS, type SettingName, type Settings, type Spec } from './settings.ts';

/** Wrong use by a person: the message says what happened and what to do. */
export class UsageError extends Error {}

/** Reads the text of one flag. */
export const readSetting = (name: SettingName, text: string): unknown => {
  const spec = SETTINGS[name];
  switch (spec.kind) {
    case 'duration':
      return readDurationMs(text) ?? bad(spec, text, 'write a time with its unit, such as 500ms, 90s, 10m or 24h');
    case 'bytes':
      return readBytes(text) ?? bad(spec, text, 'write a size with its unit, such as 512KiB, 2MiB or 1GiB');
    case 'count':
      return /^\d+$/.test(text) ? Number(text) : bad(spec, text, 'write a whole number');
    default:
      return text;
  }
};

const bad = (spec: Spec, text: unknown, advice: string): never => {
  throw new UsageError(`--${spec.flag} ${JSON.stringify(text)} is not understood: ${advice}`);
};

/** Fills in the defaults and checks every value, whoever gave it. */
export const completeSettings = (given: Readonly<Partial<Settings>>, cores: number): Settings => {
  for (const name of Object.keys(given)) {
    if (!(name in SETTINGS)) throw new UsageError(`there is no setting "${name}"`);
  }
  const threads = defaultThreads(cores);
  const settings: Record<string, unknown> = {};
  for (const name of SETTING_NAMES) {
    const fallback = name === 'fetchers' ? threads.fetchers : name === 'parsers' ? threads.parsers : SETTINGS[name].fallback;
    settings[name] = given[name] === undefined ? fallback : given[name];
    check(name, settings[name]);
  }
  return settings as unknown as Settings;
};

const check = (name: SettingName, value: unknown): void => {
  const spec = SETTINGS[name];
  if (name === 'email') return checkEmail(value);
  if (name === 'userAgent') return checkUserAgent(value);
  switch (spec.kind) {
    case 'duration':
    case 'bytes':
    case 'count':
      return checkNumber(spec, value);
    case 'switch':
      if (typeof value !== 'boolean') bad(spec, value, 'give true or false');
      return;
    case 'choice':
      if (!spec.choices!.includes(value as string)) bad(spec, value, `choose one of ${spec.choices!.join(', ')}`);
      return;
    case 'texts':
      if (!Array.isArray(value) || value.some((one) => typeof one !== 'string')) bad(spec, value, 'give a list of texts');
      return;
    case 'text':
      if (typeof value !== 'string') bad(spec, value, 'give a text');
      return;
    default:
      spec.kind satisfies never;
  }
};

const checkNumber = (spec: Spec, value: unknown): void => {
  if (value === null && spec.fallback === null) return;
  if (typeof value !== 'number' || !Number.isFinite(value)) bad(spec, value, 'give a number');
  const n = value as number;
  if (spec.least !== undefined && n < spec.least) bad(spec, value, `the least is ${spec.least}`);
  if (spec.most !== undefined && n > spec.most) bad(spec, value, `the most is ${spec.most}`);
};

const checkEmail = (value: unknown): void => {
  if (value === '' || value === undefined) {
    throw new UsageError('--email is missing: give an address where a site owner reaches you, such as --email you@example.org');
  }
  // One @, no spaces or control characters, a dot in the domain: enough to catch a slip, and safe in a header.
  if (typeof value !== 'string' || value.length > 254 || !/^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(value)) {
    throw new UsageError(`--email ${JSON.stringify(value)} is not an e-mail address: give one where a site owner reaches you`);
  }
};

const checkUserAgent = (value: unknown): void => {
  // The product token is matched in robots.txt (RFC 9309, 2.2.1): letters, - and _; a version may follow.
  if (typeof value !== 'string' || (value !== '' && !/^[A-Za-z_-]{1,64}(\/[\w.-]{1,32})?$/.test(value))) {
    throw new UsageError(`--user-agent ${JSON.stringify(value)} is not a product token: use letters, - and _, with a version if you like, such as MyBot/1.0`);
  }
};

/** The settings of a crawl as flags. */

import { readSetting } from '../model/read-settings.ts';
import { SETTING_NAMES, SETTINGS, type SettingName, type Settings } from '../model/settings.ts';
import { writeBytes, writeDuration } from '../lib/units.ts';
import type { Flag, Read } from './flags.ts';

export const SETTING_FLAGS: readonly Flag[] = SETTING_NAMES.map((name) => {
  const spec = SETTINGS[name];
  return {
    name: spec.flag,
    ...(spec.value === undefined ? {} : { value: spec.value }),
    repeatable: spec.kind === 'texts',
    says: `${spec.says}${defaultOf(name)}`,
  };
});

function defaultOf(name: SettingName): string {
  const text = writeDefault(name);
  return text === '' ? '' : ` (default ${text})`;
}

/** The default as a person would write it; empty where there is none to name. */
export function writeDefault(name: SettingName): string {
  const { kind, fallback } = SETTINGS[name];
  if (fallback === null || fallback === '' || Array.isArray(fallback)) return '';
  switch (kind) {
    case 'duration': return writeDuration(fallback as number);
    case 'bytes': return writeBytes(fallback as number).replace(' ', '');
    case 'switch': return '';
    default: return String(fallback);
  }
}

/** What was given on the command line, and only that. */
export const givenSettings = (read: Read): Partial<Settings> => {
  const given: Record<string, unknown> = {};
  for (const name of SETTING_NAMES) {
    const { flag, kind } = SETTINGS[name];
    if (kind === 'switch') {
      if (read.switches.has(flag)) given[name] = true;
      continue;
    }
    const values = read.values.get(flag);
    if (values) given[name] = kind === 'texts' ? values : readSetting(name, values[0]!);
  }
  return given as Partial<Settings>;
};

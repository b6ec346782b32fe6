/** A setting's value as a person writes it in a flag or a file; it reads back as the same value. */

import { SETTINGS, type SettingName } from './setting-table.ts';

/** What a file can hold for a setting; null for a limit that is lifted. */
export type Written = string | number | boolean | null | readonly string[];

/** Largest first: the first that divides a value without a rest is its unit. */
const DURATION_UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
];
const SIZE_UNITS: readonly (readonly [string, number])[] = [
  ['TiB', 1024 ** 4],
  ['GiB', 1024 ** 3],
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
];

export const writeSetting = (name: SettingName, value: unknown): Written => {
  if (value === null) return null;
  switch (SETTINGS[name].kind) {
    case 'duration':
      return value === 0 ? '0s' : inUnits(value as number, DURATION_UNITS, 'ms');
    case 'bytes':
      return value === 0 ? '0B' : inUnits(value as number, SIZE_UNITS, 'B');
    default:
      return value as Written;
  }
};

const inUnits = (value: number, units: readonly (readonly [string, number])[], smallest: string): string => {
  const [unit, size] = units.find(([, factor]) => value % factor === 0) ?? [smallest, 1];
  return `${value / size}${unit}`;
};

/** Durations and sizes as people write and read them. */

const MS_PER: Readonly<Record<string, number>> = { '': 1_000, ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const BYTES_PER: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1024,
  kib: 1024,
  kb: 1000,
  m: 1024 ** 2,
  mib: 1024 ** 2,
  mb: 1000 ** 2,
  g: 1024 ** 3,
  gib: 1024 ** 3,
  gb: 1000 ** 3,
  t: 1024 ** 4,
  tib: 1024 ** 4,
  tb: 1000 ** 4,
};

const read = (text: string, units: Readonly<Record<string, number>>): number | null => {
  const match = /^(\d+(?:\.\d+)?|\.\d+)\s*([a-z]*)$/i.exec(text.trim());
  const factor = match && units[match[2]!.toLowerCase()];
  return match && factor !== undefined && factor !== null ? Math.round(Number(match[1]) * factor) : null;
};

/** `90s`, `10m`, `24h`, `500ms`; a bare number is in seconds. Null when it is none of these. */
export const readDurationMs = (text: string): number | null => read(text, MS_PER);

/** `2MiB`, `500kB`, `1024`. Null when it is none of these. */
export const readBytes = (text: string): number | null => read(text, BYTES_PER);

export const writeDuration = (ms: number): string => {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${trim(ms / 1_000)}s`;
  if (ms < 3_600_000) return pair(ms, 60_000, 'm', 's');
  if (ms < 86_400_000) return pair(ms, 3_600_000, 'h', 'm');
  return pair(ms, 86_400_000, 'd', 'h');
};

const pair = (ms: number, unitMs: number, unit: string, lower: string): string => {
  const lowerMs = MS_PER[lower]!;
  const rounded = Math.round(ms / lowerMs) * lowerMs;
  const rest = Math.round((rounded % unitMs) / lowerMs);
  return `${Math.floor(rounded / unitMs)}${unit}${rest > 0 ? ` ${rest}${lower}` : ''}`;
};

export const writeBytes = (bytes: number): string => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let i = 0;
  while (value >= 1024 && i < units.length - 1) [value, i] = [value / 1024, i + 1];
  return `${trim(value)} ${units[i]}`;
};

/** 1234567 as 1,234,567. */
export const writeCount = (n: number): string => Math.round(n).toLocaleString('en-US');

/** A number with what it counts: `1 page`, `2,000 pages`, `1 link waits`. */
export const plural = (n: number, one: string, many = `${one}s`): string => `${writeCount(n)} ${n === 1 ? one : many}`;

const trim = (n: number): string =>
  n >= 100 || Number.isInteger(n) ? String(Math.round(n)) : n.toFixed(1).replace(/\.0$/, '');

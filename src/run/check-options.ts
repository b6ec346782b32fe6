/** Options that only a program gives: the compiler checks them, but not every caller has one. */

import { notUnderstood, UsageError } from '../model/read-settings.ts';
import { OLD_SETTINGS } from '../model/old-settings.ts';
import { SETTINGS } from '../model/setting-table.ts';

type Check = readonly [isRight: (value: unknown) => boolean, advice: string];

const TEXT: Check = [(value) => typeof value === 'string' && value !== '', 'give a path'];
const FUNCTION: Check = [(value) => typeof value === 'function', 'give a function'];

/** Handlers of pages at a time: each holds a page in memory. */
const PAGE_CALLS_MAX = 1_000;

const CHECKS: Readonly<Record<string, Check>> = {
  dir: TEXT,
  seeds: [
    (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
    'give a list of domains, hosts or URLs',
  ],
  seedFile: TEXT,
  excludeFile: TEXT,
  credentials: [(value) => typeof value === 'object' && value !== null, 'give a mapping from https origins'],
  retryParked: [(value) => typeof value === 'boolean', 'give true or false'],
  onSnapshot: FUNCTION,
  onLog: FUNCTION,
  onPage: FUNCTION,
  onPageConcurrency: [
    (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= PAGE_CALLS_MAX,
    `give a whole number from 1 to ${PAGE_CALLS_MAX}`,
  ],
  signal: [(value) => value instanceof AbortSignal, 'give the signal of an AbortController'],
};

/** Throws a UsageError that names the first option that is wrong or unknown. Settings are checked where all are. */
export const checkOptions = (options: Readonly<Record<string, unknown>>): void => {
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name] : undefined;
    if (Object.hasOwn(OLD_SETTINGS, name) && typeof value !== 'boolean' && value !== undefined)
      throw new UsageError(`${name} ${notUnderstood(value, 'give true or false')}`);
    if (check === undefined && ![SETTINGS, OLD_SETTINGS].some((known) => Object.hasOwn(known, name)))
      throw new UsageError(`there is no option "${name}"`);
    if (check && value !== undefined && !check[0](value))
      throw new UsageError(`${name} ${notUnderstood(value, check[1])}`);
    if (SETTINGS[name as 'store']?.kind === 'text' && value !== undefined && typeof value !== 'string')
      throw new UsageError(`${name} ${notUnderstood(value, 'give a text')}`);
  }
};

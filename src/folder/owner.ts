/** A crawl of another user: what it tells us to run, or to write outside of it, is not done on its word alone. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from '../lib/shell-word.ts';
import { UsageError } from '../model/read-settings.ts';
import { SETTINGS } from '../model/setting-table.ts';
import type { Settings } from '../model/settings.ts';
import { FILES } from './folder.ts';

/** Settings by which a crawl runs code, or writes outside of its directory. */
const REACHING = ['hooks', 'logFile'] as const;

/**
 * Throws a UsageError when the directory is another user's and names hooks or a log file that were not given now.
 * Whoever owns it could otherwise let whoever resumes it, root above all, run a module or write to a file.
 */
export const checkOwner = (dir: string, kept: Partial<Settings>, given: Readonly<Partial<Settings>>): void => {
  const named = REACHING.filter((name) => (kept[name] ?? '') !== '');
  if (named.every((name) => given[name] !== undefined)) return;
  const owner = otherOwner(dir);
  if (owner === null) return;
  const words = named.map((name) => `--${SETTINGS[name].flag} ${shellWord(String(given[name] ?? kept[name]))}`);
  throw new UsageError(
    `crawl "${dir}" belongs to user ${owner}, and ${named.map((name) => `--${SETTINGS[name].flag}`).join(' and ')} in it ` +
      `would be used with the rights of user ${process.geteuid?.()}: run it as its owner, or look at what it names and give ` +
      `it again: gossamer resume ${shellWord(dir)} ${words.join(' ')}`,
  );
};

/** The number of the user who made the directory or its crawl.json, when that is not who runs us. */
const otherOwner = (dir: string): number | null => {
  const us = process.geteuid?.();
  if (us === undefined) return null; // a system without users that are numbers
  const owners = [dir, join(dir, FILES.identity)].map((path) => statSync(path).uid);
  return owners.find((owner) => owner !== us) ?? null;
};

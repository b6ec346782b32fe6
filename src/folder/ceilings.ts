/** What the machine allows: descriptors and disk. */

import { readFileSync, statfsSync } from 'node:fs';
import { UsageError } from '../model/read-settings.ts';
import { socketsMaxOf, type Settings } from '../model/settings.ts';

/** Files, pipes, ports and name servers beside the sockets of visits. */
const DESCRIPTORS_BESIDE = 100;

/** Node raises its soft limit to the hard one at start, so this is what can be had. Null when it is not known. */
const descriptorLimit = (): number | null => {
  try {
    const match = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return match && match[1] !== 'unlimited' ? Number(match[1]) : null;
  } catch {
    return null;
  }
};

/** The disk has less room than the crawl must leave free. */
export class DiskError extends Error {}

export const checkDescriptors = (settings: Settings): void => {
  const { fetchers, concurrency } = settings;
  const limit = descriptorLimit();
  const needed = fetchers * socketsMaxOf(settings) + DESCRIPTORS_BESIDE;
  if (limit === null || needed <= limit) return;
  throw new UsageError(
    `${fetchers * concurrency} concurrent visits need ${needed} file descriptors, but ${limit} are allowed: ` +
      `raise the limit (ulimit -n ${needed}) or lower --concurrency`,
  );
};

export const diskFreeBytes = (dir: string): number => {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
};

/** How far is the clock of a store ahead of this machine's? */

import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import { createClock } from '../../lib/clock.ts';
import type { Census } from '../../model/census.ts';

export interface Ahead {
  readonly census: Census;
  /** The least and the most that it can be, in milliseconds; both 0 where it is this machine's own clock. */
  readonly leastMs: number;
  readonly mostMs: number;
}

/** A clock that gives whole milliseconds may lag by one. */
const GRAIN_MS = 1;

export const aheadOf = async (crawl: StoredCrawl): Promise<Ahead> => {
  const clock = createClock();
  const before = clock.now();
  const census = await crawl.census();
  const after = clock.now();
  const isOurs = census.now >= before - GRAIN_MS && census.now <= after + GRAIN_MS;
  return isOurs
    ? { census, leastMs: 0, mostMs: 0 }
    : { census, leastMs: census.now - after, mostMs: census.now - before };
};

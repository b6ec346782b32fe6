/** How far is the clock of a store ahead of this machine's? */

import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import { createClock } from '../../lib/clock.ts';
import type { Census } from '../../model/census.ts';
import { isShared } from '../../store/address.ts';

export interface Ahead {
  readonly census: Census;
  /** The least and the most that it can be, in milliseconds; both 0 where it is this machine's own clock. */
  readonly leastMs: number;
  readonly mostMs: number;
}

/**
 * A store in the directory has the time of this machine, unless it recorded a moment that is still to come: what two
 * looks at one clock differ by, on a busy machine too, is no such moment.
 */
const SAME_CLOCK_MS = 1_000;

export const aheadOf = async (crawl: StoredCrawl, url: string): Promise<Ahead> => {
  const clock = createClock();
  const before = clock.now();
  const census = await crawl.census();
  const after = clock.now();
  const [leastMs, mostMs] = [census.now - after, census.now - before];
  return !isShared(url) && Math.abs(leastMs) < SAME_CLOCK_MS
    ? { census, leastMs: 0, mostMs: 0 }
    : { census, leastMs, mostMs };
};

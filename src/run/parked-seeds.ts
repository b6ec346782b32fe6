/** Seeds that a finished crawl could not reach: their origin is parked. */

import type { StoredCrawl } from '../contract/stored-crawl.ts';
import { seedLinks } from '../folder/seeds.ts';
import type { Link } from '../model/link.ts';
import { isInTrouble, type RobotsRecord } from '../model/robots.ts';

/** Seeds that are named; the others are counted. */
const NAMED_MAX = 5;
const SEEDS_AT_ONCE = 500;

export interface ParkedSeeds {
  readonly count: number;
  /** The first of them, each with the status or the failure that its origin ended with. */
  readonly named: readonly { readonly origin: string; readonly cause: string }[];
}

export const parkedSeeds = async (dir: string, crawl: StoredCrawl): Promise<ParkedSeeds> => {
  const parked = { count: 0, named: [] as { origin: string; cause: string }[] };
  let some: Link[] = [];
  const look = async (): Promise<void> => {
    const origins = [...new Set(some.flatMap(originsOf))];
    const records = origins.length === 0 ? [] : await crawl.robots(origins);
    const known = new Map(records.flatMap((record) => (record ? [[record.origin, record]] : [])));
    for (const link of some)
      note(
        parked,
        originsOf(link).flatMap((origin) => known.get(origin) ?? []),
      );
    some = [];
  };
  for await (const link of seedLinks(dir)) if (some.push(link) >= SEEDS_AT_ONCE) await look();
  await look();
  return parked;
};

/** A seed without a scheme may have been tried over http as well. */
const originsOf = ({ url, fallback }: Link): string[] => {
  const { origin } = new URL(url);
  return fallback ? [origin, origin.replace('https:', 'http:')] : [origin];
};

/** A seed that answers over http is reached, whatever became of links to its https, and the other way round. */
const note = (
  parked: { count: number; named: { origin: string; cause: string }[] },
  records: readonly RobotsRecord[],
): void => {
  const record = records.find(({ verdict }) => verdict === 'parked');
  if (!record || !records.every(isInTrouble)) return;
  parked.count++;
  if (parked.named.length < NAMED_MAX) parked.named.push({ origin: record.origin, cause: record.rules });
};

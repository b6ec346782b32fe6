/** The sites of a shard that have a budget of their own, as scripts read them: names and numbers in turn. */

import type { SitePagesMax } from '../../model/site-budget.ts';
import { shardOf } from '../../url/shard.ts';

type Budgets = NonNullable<SitePagesMax['sites']>;

/** The text for every shard. A fetch thread asks with the same rules for as long as it lives. */
const known = new WeakMap<Budgets, readonly string[]>();

export const budgetsIn = (sites: Budgets, shard: number, shards: number): string => {
  const texts = known.get(sites) ?? textsOf(sites, shards);
  known.set(sites, texts);
  return texts[shard]!;
};

const textsOf = (sites: Budgets, shards: number): string[] => {
  const words: string[][] = Array.from({ length: shards }, () => []);
  for (const [site, pagesMax] of Object.entries(sites))
    words[shardOf(site, shards)]!.push(site, String(pagesMax ?? Number.MAX_SAFE_INTEGER));
  return words.map((some) => some.join(' '));
};

/** More seeds for a crawl that runs. */

import type { Admitted, Store } from '../contract/store.ts';
import { addSeeds, homesOfLines } from '../folder/seeds.ts';
import { UsageError } from '../model/read-settings.ts';
import type { Settings } from '../model/settings.ts';
import type { HomeKeeper } from './homes.ts';

export interface MoreParts {
  readonly dir: string;
  readonly settings: Settings;
  readonly store: Pick<Store, 'admit'>;
  readonly homes: HomeKeeper | null;
  /** Tells the fetch threads of homes that were added. */
  readonly tellHomes: () => void;
}

/** Rejects with a UsageError when one is bad, and has then changed nothing. */
export const addMore = async (
  { dir, settings, store, homes, tellHomes }: MoreParts,
  seeds: readonly string[],
): Promise<Admitted> => {
  const keys = homesOfLines(seeds.join('\n'), settings);
  if (keys.length > 0 && !homes)
    throw new UsageError('a crawl that follows every link takes no seed with a scope of its own while it runs');
  const links = addSeeds(dir, seeds);
  await homes?.add(keys);
  tellHomes();
  return store.admit(links, settings.maxWaitingPerSite);
};

/** A look at the store beside the work, on a connection of its own. */

import type { StoredCrawl } from '../contract/stored-crawl.ts';
import type { Log } from '../observe/log.ts';
import { openStoredCrawl } from '../store/open.ts';
import type { StorePlace } from '../store/options.ts';

/** Null when it fails: a server that is just restarting is waited for by the store alone. */
export const lookBeside = async <T>(
  { store, log }: { readonly store: StorePlace; readonly log: Log },
  look: (crawl: StoredCrawl) => Promise<T>,
): Promise<T | null> => {
  try {
    const crawl = await openStoredCrawl({ ...store, say: (message) => log('warn', message) });
    return await look(crawl).finally(() => crawl.close());
  } catch (error) {
    log('warn', `the store could not be looked at: ${(error as Error).message}`);
    return null;
  }
};

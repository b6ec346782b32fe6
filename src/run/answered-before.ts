/** Origins that answered in earlier runs: asked when nobody answers any more, to tell their trouble from ours. */

import type { StoredCrawl } from '../contract/stored-crawl.ts';
import { ANSWERED_OUTCOMES } from '../model/outcome.ts';

/** Pages that are looked at, the last ones: enough for some dozens of sites. */
const PAGES_MAX = 1_000;

export const answeredBefore = async (crawl: StoredCrawl): Promise<string[]> => {
  const { end } = await crawl.pagesAfter(0, { limit: 1 });
  const origins = new Set<string>();
  for (let row = Math.max(0, end - PAGES_MAX); row < end; ) {
    const slice = await crawl.pagesAfter(row, {});
    for (const { url, outcome } of slice.pages) if (outcome in ANSWERED_OUTCOMES) origins.add(new URL(url).origin);
    if (slice.row <= row) break;
    row = slice.row;
  }
  return [...origins];
};

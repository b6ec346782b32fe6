/** The settled pages of a crawl from the first to the last there is now, some at a time. */

import { setImmediate } from 'node:timers/promises';
import type { PageFilter } from '../../contract/views.ts';
import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import type { PageRow } from '../../model/page.ts';

export interface Walk {
  readonly crawl: StoredCrawl;
  readonly filter: PageFilter;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ExportProgress) => void;
}

export interface ExportProgress {
  /** Rows of the store that were looked at, of how many. */
  readonly done: number;
  readonly total: number;
}

/** Each slice is one short read: a crawl that runs is not held up. The signal ends it between two of them. */
export async function* slicesOf({
  crawl,
  filter,
  signal,
  onProgress,
}: Walk): AsyncGenerator<readonly PageRow[], void, undefined> {
  const { end: total } = await crawl.pagesAfter(0, { limit: 0 });
  let left = filter.limit ?? Infinity;
  for (let row = 0; row < total && left > 0; ) {
    signal.throwIfAborted();
    const slice = await crawl.pagesAfter(row, { ...filter, limit: left });
    if (slice.row <= row) return;
    row = slice.row;
    left -= slice.pages.length;
    yield slice.pages;
    onProgress({ done: Math.min(row, total), total });
    await setImmediate(); // a signal of the system is heard only between two turns
  }
}

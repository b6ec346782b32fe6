/** The settled pages of a crawl, one after the other, as they come. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { PageFilter } from '../contract/views.ts';
import type { StoredCrawl } from '../contract/stored-crawl.ts';
import type { JsonValue } from '../model/hooks.ts';
import { isArchived, type NoPlace, type Page, type PageRow, type WarcPlace } from '../model/page.ts';
import { readFields } from '../archive/head.ts';
import { readArchived } from './archived.ts';

/** How often a running crawl is asked for new pages; what is there already is given without a wait. */
const LOOK_MS = 100;

/** A settled page, with what was archived of it. */
export type CrawledPage = Omit<Page, 'extracted'> &
  (WarcPlace | NoPlace) & {
    /** What `extract` of the hooks module returned for it; undefined when nothing. */
    readonly extracted: JsonValue | undefined;
    /** The text a crawl sees; empty when none was kept. */
    text(): Promise<string>;
    /** The body, decoded; empty when it was not kept. */
    html(): Promise<string>;
    /** The headers of the answer, names in lower case; none when they were not kept. */
    headers(): Promise<Readonly<Record<string, string>>>;
  };

export const toCrawledPage = (dir: string, page: PageRow): CrawledPage => ({
  ...page,
  extracted: readExtracted(page.extracted),
  text: async () => (isArchived(page) ? readArchived(dir, page, 'text') : ''),
  html: async () => (isArchived(page) ? readArchived(dir, page, 'html') : ''),
  headers: async () => (isArchived(page) ? readFields(readArchived(dir, page, 'answerHead')) : {}),
});

export const readExtracted = (json: string | null): JsonValue | undefined =>
  json === null ? undefined : (JSON.parse(json) as JsonValue);

export interface PagesSource {
  readonly dir: string;
  /** Resolves with the stored crawl, which is closed here; with null when there never was a store. */
  readonly open: () => Promise<StoredCrawl | null>;
  /** Only pages behind this row. */
  readonly after: () => number;
  /** Whether no more pages come. */
  readonly isOver: () => boolean;
}

/**
 * Each page once, in the order they were settled. Between two slices nothing is held but the place
 * to go on from, so a loop may take its time; breaking out of it closes it.
 */
export async function* pagesFrom(
  source: PagesSource,
  filter: PageFilter,
): AsyncGenerator<CrawledPage, void, undefined> {
  const crawl = await source.open();
  if (!crawl) return;
  try {
    let row = source.after();
    let left = filter.limit ?? Infinity;
    while (left > 0) {
      const isLast = source.isOver(); // looked at first: what is settled before the end is then seen
      const slice = await crawl.pagesAfter(row, { ...filter, limit: left });
      for (const page of slice.pages) yield toCrawledPage(source.dir, page);
      left -= slice.pages.length;
      const isStill = slice.row === row;
      row = slice.row;
      if (isStill && isLast) return;
      if (isStill) await sleep(LOOK_MS);
    }
  } finally {
    await crawl.close();
  }
}

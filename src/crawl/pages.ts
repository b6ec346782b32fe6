/** The settled pages of a crawl, one after the other, as they come. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { PageFilter, Reader } from '../frontier/store.ts';
import type { JsonValue } from '../model/hooks.ts';
import type { PlacedPage } from '../model/settlement.ts';
import { readArchived, readHead } from './archived.ts';

/** How often a running crawl is asked for new pages; what is there already is given without a wait. */
const LOOK_MS = 100;

/** A settled page, with what was archived of it. */
export interface CrawledPage extends Omit<PlacedPage, 'extracted'> {
  /** What `extract` of the hooks module returned for it; undefined when nothing. */
  readonly extracted: JsonValue | undefined;
  /** The text a reader sees; empty when none was kept. */
  text(): Promise<string>;
  /** The body, decoded; empty when it was not kept. */
  html(): Promise<string>;
  /** The headers of the answer, names in lower case; none when they were not kept. */
  headers(): Promise<Readonly<Record<string, string>>>;
}

export const toCrawledPage = (dir: string, { extracted, ...page }: PlacedPage): CrawledPage => {
  const { place } = page;
  return {
    ...page,
    extracted: readExtracted(extracted),
    text: async () => (place ? readArchived(dir, place, 'text') : ''),
    html: async () => (place ? readArchived(dir, place, 'html') : ''),
    headers: async () => (place ? readHead(readArchived(dir, place, 'answerHead')) : {}),
  };
};

export const readExtracted = (json: string): JsonValue | undefined =>
  json === '' ? undefined : (JSON.parse(json) as JsonValue);

export interface PagesSource {
  readonly dir: string;
  /** Resolves with a reader of the store, which is closed here; with null when there never was a store. */
  readonly open: () => Promise<Reader | null>;
  /** Only pages behind this row. */
  readonly after: () => number;
  /** Whether no more pages come. */
  readonly isOver: () => boolean;
}

/**
 * Each page once, in the order they were settled. Between two slices nothing is held but the place
 * to go on from, so a loop may take its time; breaking out of it closes the reader.
 */
export async function* pagesFrom(
  source: PagesSource,
  filter: PageFilter,
): AsyncGenerator<CrawledPage, void, undefined> {
  const reader = await source.open();
  if (!reader) return;
  try {
    let row = source.after();
    let left = filter.limit ?? Infinity;
    while (left > 0) {
      const isLast = source.isOver(); // looked at first: what is settled before the end is then seen
      const slice = await reader.pagesAfter(row, { ...filter, limit: left });
      for (const page of slice.pages) yield toCrawledPage(source.dir, page);
      left -= slice.pages.length;
      const isStill = slice.row === row;
      row = slice.row;
      if (isStill && isLast) return;
      if (isStill) await sleep(LOOK_MS);
    }
  } finally {
    await reader.close();
  }
}

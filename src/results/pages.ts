/** The settled pages of a crawl, one after the other, as they come. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { PageFilter } from '../contract/views.ts';
import type { StoredCrawl } from '../contract/stored-crawl.ts';
import type { JsonValue } from '../model/hooks.ts';
import { isArchived, type NoPlace, type Page, type PageRow, type WarcPlace } from '../model/page.ts';
import { readFields } from '../archive/head.ts';
import { essence } from '../parse/media-type.ts';
import { parsePage } from '../parse/page.ts';
import { openSelect, type Select, type Selected } from '../parse/select.ts';
import { linksOf } from '../url/page-links.ts';
import { readArchived, type Archived } from './archived.ts';

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
    /** Where its links lead, in canonical form, each once, as the crawl finds them; none when the body was not kept. */
    links(): Promise<readonly string[]>;
    /** Elements by a CSS selector, in the order of the page; none when the body was not kept. */
    select(css: string): Promise<readonly Selected[]>;
  };

export const toCrawledPage = (dir: string, page: PageRow): CrawledPage => {
  const archived = (part: keyof Archived): string => (isArchived(page) ? readArchived([dir], page, part) : '');
  let select: Promise<Select> | null = null; // the page is read into a tree once
  return {
    ...page,
    extracted: readExtracted(page.extracted),
    text: async () => archived('text'),
    html: async () => archived('html'),
    headers: async () => readFields(archived('answerHead')),
    links: async () => linksIn(page, archived('html'), readFields(archived('answerHead'))),
    select: async (css) => (await (select ??= openSelect(archived('html'))))(css),
  };
};

/** The links of a page from its body, which is text by now. */
const linksIn = ({ url, content_type }: Page, html: string, headers: Readonly<Record<string, string>>): string[] => {
  if (html === '') return [];
  const type = essence(content_type);
  const { findings } = parsePage({
    url,
    headers: { ...headers, 'content-encoding': '', 'content-type': type === '' ? '' : `${type}; charset=utf-8` },
    body: Buffer.from(html),
    textBytesMax: Infinity,
    productToken: '',
    text: false,
  });
  return linksOf(findings);
};

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

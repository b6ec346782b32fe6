/** The rows of settled links: what is written with a settlement, and how a row becomes a page again. */

import type { CanonicalUrl } from '../../model/link.ts';
import type { OutcomeName } from '../../model/outcome.ts';
import type { Page, Place, PlacedPage } from '../../model/settlement.ts';
import { arrayOf, textsOf, type Value } from './book.ts';

export interface PlacedRow {
  readonly page: Page;
  readonly site: bigint;
  readonly place: Place | null;
}

interface Column {
  readonly name: string;
  readonly type: 'text' | 'bigint' | 'int' | 'float8' | 'boolean';
  readonly of: (row: PlacedRow) => string | Exclude<Value, string>;
}

const column = (name: string, type: Column['type'], of: Column['of']): Column => ({ name, type, of });

/** As the table `page` has them, without those that the server fills in. */
export const PAGE_COLUMNS: readonly Column[] = [
  column('site', 'bigint', ({ site }) => site),
  column('url', 'text', ({ page }) => page.url),
  column('outcome', 'text', ({ page }) => page.outcome),
  column('status', 'int', ({ page }) => page.status),
  column('at', 'float8', ({ page }) => page.at),
  column('duration_ms', 'float8', ({ page }) => page.durationMs),
  column('content_type', 'text', ({ page }) => page.contentType),
  column('bytes', 'bigint', ({ page }) => page.bytes),
  column('title', 'text', ({ page }) => page.title),
  column('language', 'text', ({ page }) => page.language),
  column('redirect', 'text', ({ page }) => page.redirect),
  column('digest', 'text', ({ page }) => page.digest),
  column('truncated', 'text', ({ page }) => page.truncated),
  column('noindex', 'boolean', ({ page }) => page.noindex),
  column('depth', 'int', ({ page }) => page.depth),
  column('via', 'text', ({ page }) => page.via),
  column('tries', 'int', ({ page }) => page.tries),
  column('robots', 'text', ({ page }) => page.robots),
  column('detail', 'text', ({ page }) => page.detail),
  column('extracted', 'text', ({ page }) => page.extracted),
  column('file', 'text', ({ place }) => place?.file ?? null),
  column('offset', 'bigint', ({ place }) => place?.offset ?? null),
  column('length', 'bigint', ({ place }) => place?.length ?? null),
  column('group_length', 'bigint', ({ place }) => place?.groupLength ?? null),
];

/** An array per column. */
export const pageArrays = (rows: readonly PlacedRow[]): string[] =>
  PAGE_COLUMNS.map(({ type, of }) => {
    const values = rows.map(of);
    return type === 'text'
      ? textsOf(values as (string | null)[])
      : arrayOf(values as (number | bigint | boolean | null)[]);
  });

/** What `toPage` reads, of the tables page and site under these names. */
export const PAGE_SELECT = `p.id, k.name AS site, p.url, p.outcome, p.status, p.at, p.duration_ms, p.content_type, p.bytes, p.title, p.language, p.redirect, p.digest,
  p.truncated, p.noindex, p.depth, p.via, p.tries, p.robots, p.detail, p.extracted, p.file, p."offset", p.length, p.group_length`;

/** Numbers may come as text: int8 is more than a client takes for a number by itself. */
export const toPage = (row: Readonly<Record<string, unknown>>): PlacedPage => ({
  url: row.url as CanonicalUrl,
  site: row.site as string,
  outcome: row.outcome as OutcomeName,
  status: row.status as number | null,
  at: row.at as number,
  durationMs: row.duration_ms as number,
  contentType: row.content_type as string,
  bytes: Number(row.bytes),
  title: row.title as string,
  language: row.language as string,
  redirect: row.redirect as string,
  digest: row.digest as string,
  truncated: row.truncated as string,
  noindex: row.noindex as boolean,
  depth: row.depth as number,
  via: row.via as string,
  tries: row.tries as number,
  robots: row.robots as string,
  detail: row.detail as string,
  extracted: row.extracted as string,
  place:
    row.file === null
      ? null
      : {
          file: row.file as string,
          offset: Number(row.offset),
          length: Number(row.length),
          groupLength: Number(row.group_length),
        },
});

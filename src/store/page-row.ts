/**
 * The row of a settled page in a database of SQLite: the embedded store's, and the one beside the archive of a crawl in
 * Redis.
 */

import type { CanonicalUrl } from '../model/link.ts';
import type { OutcomeName } from '../model/outcome.ts';
import type { Page, Place, PlacedPage } from '../model/settlement.ts';
import { fingerprint } from '../url/fingerprint.ts';

/** 53 bits of a URL's fingerprint, which SQLite and JavaScript both hold as a plain number. */
export const urlKey = (url: string): number => Number(fingerprint(url) >> 11n);

/** All columns but the site, which one store has by number and the other by name. */
export const PAGE_COLUMNS = `url_key, url, outcome, status, at, duration_ms, content_type, bytes, title, language, redirect,
  digest, truncated, noindex, depth, via, tries, robots, detail, extracted, file, offset, length, group_length`;

/** How they are declared. */
export const PAGE_DECLARED = `url_key INTEGER NOT NULL, url TEXT NOT NULL,
    outcome TEXT NOT NULL, status INTEGER, at REAL NOT NULL, duration_ms REAL NOT NULL,
    content_type TEXT NOT NULL, bytes INTEGER NOT NULL, title TEXT NOT NULL, language TEXT NOT NULL,
    redirect TEXT NOT NULL, digest TEXT NOT NULL, truncated TEXT NOT NULL, noindex INTEGER NOT NULL,
    depth INTEGER NOT NULL, via TEXT NOT NULL, tries INTEGER NOT NULL, robots TEXT NOT NULL, detail TEXT NOT NULL, extracted TEXT NOT NULL,
    file TEXT, offset INTEGER, length INTEGER, group_length INTEGER`;

export const PAGE_MARKS = PAGE_COLUMNS.split(',')
  .map(() => '?')
  .join(', ');

/** In the order of the columns. */
export const pageValues = (page: Page, place: Place | null): (string | number | null)[] => [
  urlKey(page.url),
  page.url,
  page.outcome,
  page.status,
  page.at,
  page.durationMs,
  page.contentType,
  page.bytes,
  page.title,
  page.language,
  page.redirect,
  page.digest,
  page.truncated,
  page.noindex ? 1 : 0,
  page.depth,
  page.via,
  page.tries,
  page.robots,
  page.detail,
  page.extracted,
  place?.file ?? null,
  place?.offset ?? null,
  place?.length ?? null,
  place?.groupLength ?? null,
];

/** Back from a row that has the name of the site as `site_name`. */
export const toPage = (row: Readonly<Record<string, unknown>>): PlacedPage => ({
  url: row.url as CanonicalUrl,
  site: row.site_name as string,
  outcome: row.outcome as OutcomeName,
  status: row.status as number | null,
  at: row.at as number,
  durationMs: row.duration_ms as number,
  contentType: row.content_type as string,
  bytes: row.bytes as number,
  title: row.title as string,
  language: row.language as string,
  redirect: row.redirect as string,
  digest: row.digest as string,
  truncated: row.truncated as string,
  noindex: row.noindex === 1,
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
          offset: row.offset as number,
          length: row.length as number,
          groupLength: row.group_length as number,
        },
});

/** `gossamer pages`: one line per settled page. */

import { readExtracted } from '../../crawl/pages.ts';
import { canonicalize } from '../../url/canonical.ts';
import { siteOf } from '../../url/site.ts';
import type { PageFilter } from '../../frontier/store.ts';
import { FAILURES, type FailureCause } from '../../model/exchange.ts';
import { ANSWERED_OUTCOMES, failedName, SCOPE_REFUSALS, UNANSWERED_OUTCOMES } from '../../model/outcome.ts';
import { UsageError } from '../../model/read-settings.ts';
import type { PlacedPage } from '../../model/settlement.ts';
import type { Command } from '../command.ts';
import { nearest, type Read } from '../flags.ts';
import { cell, clean, print, readCount, readFormat, type Format } from '../listing.ts';
import { crawlDirOf, withReader } from './dir.ts';

export const pagesCommand: Command = {
  name: 'pages',
  usage: 'pages <dir> [flags]',
  says: 'List settled pages in the order they were settled: URL, outcome, status, time, type, bytes, title, redirect target, place in the WARC.',
  flags: [
    { name: 'site', value: 'SITE', says: 'only pages of this site' },
    { name: 'status', value: 'CODE', says: 'only pages with this HTTP status' },
    { name: 'outcome', value: 'NAME', says: 'only pages with this outcome (docs/reference/outcomes.md)' },
    { name: 'limit', value: 'N', says: 'at most N pages' },
    { name: 'format', value: 'table|jsonl|csv', says: 'how they are written (default table)' },
  ],
  example: 'gossamer pages ./crawl --status 404 --format csv > missing.csv',
  run: async (read) => {
    const dir = crawlDirOf(read);
    const format = readFormat(read);
    const filter = filterOf(read);
    return withReader(dir, async (reader) => {
      await print(HEADS[format]);
      for await (const page of reader.pages(filter)) await print(WRITERS[format](page));
      return 0;
    });
  },
};

const filterOf = (read: Read): PageFilter => {
  const site = read.values.get('site')?.[0];
  const status = readCount(read, 'status');
  const limit = readCount(read, 'limit');
  const outcome = read.values.get('outcome')?.[0];
  if (outcome !== undefined) checkOutcome(outcome);
  return {
    ...(site === undefined ? {} : { site: siteNamed(site) }),
    ...(status === undefined ? {} : { status }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(limit === undefined ? {} : { limit }),
  };
};

/** A name that no page can have would find nothing, which looks as if there were none. */
const checkOutcome = (name: string): void => {
  const known = [ANSWERED_OUTCOMES, UNANSWERED_OUTCOMES, SCOPE_REFUSALS].flatMap((names) => Object.keys(names)).concat((Object.keys(FAILURES) as FailureCause[]).map(failedName));
  if (known.includes(name)) return;
  const best = nearest(name, known);
  throw new UsageError(`--outcome "${name}" is not known${best === null ? '' : ` (did you mean ${best}?)`}: "gossamer status <dir>" shows which there are`);
};

/** A person may give a host or a URL of the site. */
const siteNamed = (text: string): string => {
  const address = canonicalize(text.includes('://') ? text : `http://${text}`);
  return typeof address === 'string' ? text : siteOf(address.host);
};

const TIME_CHARS = 19;

const COLUMNS: readonly [string, (page: PlacedPage) => string | number | null][] = [
  ['url', (page) => page.url],
  ['outcome', (page) => page.outcome],
  ['status', (page) => page.status],
  ['time', (page) => new Date(page.at).toISOString()],
  ['content_type', (page) => page.contentType],
  ['bytes', (page) => page.bytes],
  ['title', (page) => page.title],
  ['redirect', (page) => page.redirect],
  ['warc_file', (page) => page.place?.file ?? null],
  ['warc_offset', (page) => page.place?.offset ?? null],
  ['warc_length', (page) => page.place?.length ?? null],
];

const HEADS: Readonly<Record<Format, string>> = {
  table: 'status outcome          time                    bytes  url  (title, redirect, place)',
  csv: COLUMNS.map(([name]) => name).join(','),
  jsonl: '',
};

const WRITERS: Readonly<Record<Format, (page: PlacedPage) => string>> = {
  jsonl: (page) => JSON.stringify({ ...page, at: new Date(page.at).toISOString(), extracted: readExtracted(page.extracted) }),
  csv: (page) => COLUMNS.map(([, value]) => cell(value(page))).join(','),
  table: (page) => {
    const place = page.place ? `${page.place.file}:${page.place.offset}` : '';
    const more = [page.contentType, page.title && JSON.stringify(page.title), page.redirect && `-> ${page.redirect}`, place].filter(Boolean).join('  ');
    return `${String(page.status ?? '-').padEnd(6)} ${page.outcome.padEnd(16)} ${new Date(page.at).toISOString().slice(0, TIME_CHARS)} ${String(page.bytes).padStart(9)}  ${page.url}  ${clean(more)}`;
  },
};

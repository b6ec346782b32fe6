/** `gossamer pages`: one line per settled page. */

import { once } from 'node:events';
import { canonicalize } from '../../url/canonical.ts';
import { siteOf } from '../../url/site.ts';
import { UsageError } from '../../model/read-settings.ts';
import type { PageFilter } from '../../frontier/store.ts';
import type { PlacedPage } from '../../model/settlement.ts';
import type { Command } from '../command.ts';
import type { Read } from '../flags.ts';
import { crawlDirOf, withReader } from './dir.ts';

const FORMATS = ['table', 'jsonl', 'csv'] as const;
type Format = (typeof FORMATS)[number];

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
    const format = (read.values.get('format')?.[0] ?? 'table') as Format;
    if (!FORMATS.includes(format)) throw new UsageError(`--format "${format}" is not known: choose one of ${FORMATS.join(', ')}`);
    const filter = filterOf(read);
    return withReader(dir, async (reader) => {
      await print(HEADS[format]);
      for (const page of reader.pages(filter)) await print(WRITERS[format](page));
      return 0;
    });
  },
};

const filterOf = ({ values }: Read): PageFilter => {
  const text = (name: string): string | undefined => values.get(name)?.[0];
  const count = (name: string): number | undefined => {
    const value = text(name);
    if (value !== undefined && !/^\d+$/.test(value)) throw new UsageError(`--${name} "${value}" is not understood: write a whole number`);
    return value === undefined ? undefined : Number(value);
  };
  const site = text('site');
  const status = count('status');
  const limit = count('limit');
  const outcome = text('outcome');
  return {
    ...(site === undefined ? {} : { site: siteNamed(site) }),
    ...(status === undefined ? {} : { status }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(limit === undefined ? {} : { limit }),
  };
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

/** Quoted where it must be; a cell that a spreadsheet would run as a formula is made plain text. */
const cell = (value: string | number | null): string => {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

const HEADS: Readonly<Record<Format, string>> = {
  table: 'status outcome          time                    bytes  url  (title, redirect, place)',
  csv: COLUMNS.map(([name]) => name).join(','),
  jsonl: '',
};

const WRITERS: Readonly<Record<Format, (page: PlacedPage) => string>> = {
  jsonl: (page) => JSON.stringify({ ...page, at: new Date(page.at).toISOString() }),
  csv: (page) => COLUMNS.map(([, value]) => cell(value(page))).join(','),
  table: (page) => {
    const place = page.place ? `${page.place.file}:${page.place.offset}` : '';
    const more = [page.contentType, page.title && JSON.stringify(page.title), page.redirect && `-> ${page.redirect}`, place].filter(Boolean).join('  ');
    return `${String(page.status ?? '-').padEnd(6)} ${page.outcome.padEnd(16)} ${new Date(page.at).toISOString().slice(0, TIME_CHARS)} ${String(page.bytes).padStart(9)}  ${page.url}  ${clean(more)}`;
  },
};

/** Titles come from the web: what would move a terminal's cursor is shown, not sent. */
const clean = (text: string): string => text.replace(/[\x00-\x1f\x7f-\x9f]/g, '·');

/** A reader that stops early (`| head`) ends us quietly. */
const print = async (line: string): Promise<void> => {
  if (line !== '' && !process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
};

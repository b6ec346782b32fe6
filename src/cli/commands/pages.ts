/** `gossamer pages`: one line per settled page. */

import { readExtracted } from '../../crawl/pages.ts';
import { cell } from '../../lib/csv.ts';
import type { PlacedPage } from '../../model/settlement.ts';
import type { Command } from '../command.ts';
import { clean, print, readFormat, type Format } from '../listing.ts';
import { FILTER_FLAGS, filterOf } from '../page-filter.ts';
import { crawlDirOf, withReader } from './dir.ts';

export const pagesCommand: Command = {
  name: 'pages',
  usage: 'pages <dir> [flags]',
  says: 'List settled pages in the order they were settled: URL, outcome, status, time, type, bytes, title, redirect target, place in the WARC.',
  flags: [...FILTER_FLAGS, { name: 'format', value: 'table|jsonl|csv', says: 'how they are written (default table)' }],
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
  jsonl: (page) =>
    JSON.stringify({ ...page, at: new Date(page.at).toISOString(), extracted: readExtracted(page.extracted) }),
  csv: (page) => COLUMNS.map(([, value]) => cell(value(page))).join(','),
  table: (page) => {
    const place = page.place ? `${page.place.file}:${page.place.offset}` : '';
    const more = [
      page.contentType,
      page.title && JSON.stringify(page.title),
      page.redirect && `-> ${page.redirect}`,
      place,
    ]
      .filter(Boolean)
      .join('  ');
    return `${String(page.status ?? '-').padEnd(6)} ${page.outcome.padEnd(16)} ${new Date(page.at).toISOString().slice(0, TIME_CHARS)} ${String(page.bytes).padStart(9)}  ${page.url}  ${clean(more)}`;
  },
};

/** `gossamer pages`: one line per settled page. */

import { allPages } from '../../results/all-pages.ts';
import { PAGE_TABLE } from '../../results/export/columns.ts';
import { csv, jsonLines } from '../../results/export/text.ts';
import { cutToWidth, widthOf } from '../../lib/text-width.ts';
import { visible } from '../../lib/visible.ts';
import { isArchived, type PageRow } from '../../model/page.ts';
import type { Command } from '../command.ts';
import { JSON_LINES_FLAG, printForeign, printText, readFormat, type Format } from '../listing.ts';
import { FILTER_FLAGS, filterOf } from '../page-filter.ts';
import { fitLine, outputColumns } from '../terminal.ts';
import { crawlDirsOf, tellMissing, withGathering } from './dir.ts';

export const pagesCommand: Command = {
  name: 'pages',
  usage: 'pages <dir>... [flags]',
  says: 'List settled pages in the order they were settled: URL, outcome, status, time, type, bytes, title, redirect target, place in the WARC. Of a crawl with several members, give the directories of all: their pages come one member after the other where each keeps its own rows (Redis).',
  flags: [
    ...FILTER_FLAGS,
    { name: 'format', value: 'table|jsonl|csv', says: 'how they are written (default table)' },
    JSON_LINES_FLAG,
  ],
  example: 'gossamer pages ./crawl --status 404 --format csv > missing.csv',
  run: async (read) => {
    const dirs = crawlDirsOf(read);
    const format = readFormat(read);
    const filter = filterOf(read);
    return withGathering(dirs, async (gathering) => {
      await printText(HEADS[format]());
      for await (const page of allPages(gathering.crawl, filter)) await printForeign(WRITERS[format](page));
      await tellMissing(gathering);
      return 0;
    });
  },
};

const TIME_CHARS = 19;
const TITLES = 'status outcome          time                    bytes  url  (title, redirect, place)';

/** A URL is not cut below this, however narrow the terminal is. */
const URL_COLUMNS_LEAST = 24;
const GAP = '  ';

/** On a terminal the URL gives way first, in its middle: both its ends tell pages apart. */
const tableLine = ([first, url, more]: readonly [string, string, string]): string => {
  const others = widthOf(first) + widthOf(more) + 2 * GAP.length;
  const urlColumns = Math.max(URL_COLUMNS_LEAST, outputColumns() - others);
  return `${fitLine([first, cutToWidth(url, urlColumns, 'middle'), more].join(GAP))}\n`;
};

const HEADS: Readonly<Record<Format, () => string>> = {
  table: () => `${fitLine(TITLES)}\n`,
  csv: () => csv.head(PAGE_TABLE),
  jsonl: () => '',
};

const WRITERS: Readonly<Record<Format, (page: PageRow) => string>> = {
  jsonl: (page) => jsonLines.line(PAGE_TABLE, page),
  csv: (page) => csv.line(PAGE_TABLE, page),
  table: (page) => {
    const more = [
      page.content_type,
      page.title && JSON.stringify(page.title),
      page.redirect && `-> ${page.redirect}`,
      isArchived(page) ? `${page.warc_file}:${page.warc_offset}` : '',
    ]
      .filter(Boolean)
      .join('  ');
    const first = `${String(page.status ?? '-').padEnd(6)} ${page.outcome.padEnd(16)} ${new Date(page.time).toISOString().slice(0, TIME_CHARS)} ${String(page.bytes).padStart(9)}`;
    return tableLine([first, visible(page.url), visible(more)]);
  },
};

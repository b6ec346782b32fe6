/** Everything that is known of the pages of a crawl, or of their links, in a format that other programs read. */

import { setImmediate } from 'node:timers/promises';
import { LineSorter } from '../lib/sort-lines.ts';
import { UsageError } from '../model/read-settings.ts';
import { isArchived, type PageRow } from '../model/page.ts';
import { cdxjLine } from './export/cdxj.ts';
import { LINK_COLUMNS, PAGE_TABLE, type Column, type LinkRow } from './export/columns.ts';
import { PageRecords } from './export/links.ts';
import type { Out } from './export/out.ts';
import { openParquet } from './export/parquet.ts';
import { slicesOf, type Walk } from './export/slices.ts';
import { csv, jsonLines, type TextFormat } from './export/text.ts';
import type { Identity } from '../folder/folder.ts';

export const EXPORT_FORMATS = ['parquet', 'jsonl', 'csv', 'cdxj'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportRequest extends Walk {
  /** The directories of the crawl that are at hand. */
  readonly dirs: readonly string[];
  readonly identity: Identity;
  readonly format: ExportFormat;
  /** The links of the pages instead of the pages. */
  readonly links: boolean;
  readonly out: Out;
  /** Where more than fits into memory is sorted. */
  readonly sortDir: string;
}

export interface Exported {
  /** Pages or links that were written. */
  readonly rows: number;
  /** Pages whose records lie in the directory of a member that is not at hand. */
  readonly elsewhere: number;
  /** Links that pages had over the ceiling of what is archived. */
  readonly cut: number;
}

/** Throws a UsageError before it writes anything when there is nothing of this kind. */
export const checkExport = ({
  dirs,
  identity,
  format,
  links,
}: Pick<ExportRequest, 'dirs' | 'identity' | 'format' | 'links'>): void => {
  if (links && format === 'cdxj')
    throw new UsageError(
      '--format cdxj is an index of pages, not of links: leave --links away, or choose parquet, jsonl or csv',
    );
  if (links && !identity.linksKept)
    throw new UsageError(
      `crawl "${dirs[0]}" kept no links of its pages: they are there for pages fetched with --keep-links, also from now on by "gossamer resume ${dirs[0]} --keep-links"`,
    );
};

export const exportCrawl = (request: ExportRequest): Promise<Exported> => {
  checkExport(request);
  if (request.format === 'cdxj') return exportIndex(request);
  return request.links ? exportLinks(request, request.format) : exportPages(request, request.format);
};

type RowFormat = Exclude<ExportFormat, 'cdxj'>;

/** What takes rows, some at a time. */
interface RowWriter<Row> {
  write(rows: readonly Row[]): Promise<void>;
  finish(): Promise<void>;
}

const TEXT_FORMATS: Readonly<Record<Exclude<RowFormat, 'parquet'>, TextFormat>> = { jsonl: jsonLines, csv };

const writerOf = async <Row>(format: RowFormat, columns: readonly Column<Row>[], out: Out): Promise<RowWriter<Row>> => {
  if (format === 'parquet') {
    const parquet = await openParquet(columns, out);
    return {
      write: async (rows) => {
        for (const row of rows) {
          parquet.add(row);
          if (parquet.isFull()) await parquet.writeGroup();
        }
      },
      finish: () => parquet.finish(),
    };
  }
  const text = TEXT_FORMATS[format];
  await out.write(text.head(columns));
  return {
    write: async (rows) => {
      if (rows.length > 0) await out.write(rows.map((row) => text.line(columns, row)).join(''));
    },
    finish: async () => {},
  };
};

const exportPages = async (request: ExportRequest, format: RowFormat): Promise<Exported> => {
  const writer = await writerOf<PageRow>(format, PAGE_TABLE, request.out);
  let rows = 0;
  for await (const pages of slicesOf(request)) {
    await writer.write(pages);
    rows += pages.length;
  }
  await writer.finish();
  return { rows, elsewhere: 0, cut: 0 };
};

const exportLinks = async (request: ExportRequest, format: RowFormat): Promise<Exported> => {
  const writer = await writerOf<LinkRow>(format, LINK_COLUMNS, request.out);
  const records = new PageRecords(request.dirs);
  let [rows, elsewhere, cut] = [0, 0, 0];
  try {
    for await (const pages of slicesOf(request)) {
      for (const page of pages) {
        const links = records.linksOf(page);
        if (links === null) {
          elsewhere++;
          continue;
        }
        await writer.write(links.urls.map((to) => ({ from: page.url, to })));
        rows += links.urls.length;
        cut += links.cut;
      }
    }
  } finally {
    records.close();
  }
  await writer.finish();
  return { rows, elsewhere, cut };
};

/**
 * An index of pages only: robots.txt is in the archive for whoever checks us, and nobody replays it
 * (docs/decisions/exports.md).
 */
const exportIndex = async (request: ExportRequest): Promise<Exported> => {
  const { identity, dirs, out, signal } = request;
  const records = new PageRecords(dirs);
  // Where every page has its response first, the rows tell all, and the archive is not read.
  const isMixed = identity.textOnly || identity.settings.keep === 'text';
  const sorter = new LineSorter({ dir: request.sortDir });
  let rows = 0;
  try {
    for await (const pages of slicesOf(request)) {
      for (const page of pages) {
        if (isMixed && isArchived(page) && records.hasResponse(page) === false) continue;
        const line = cdxjLine(page);
        if (line === null) continue;
        sorter.add(line);
        rows++;
      }
    }
    for (const chunk of sorter.sorted()) {
      await out.write(chunk);
      await setImmediate(); // as between two slices
      signal.throwIfAborted();
    }
  } finally {
    sorter.close();
    records.close();
  }
  return { rows, elsewhere: 0, cut: 0 };
};

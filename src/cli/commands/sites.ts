/** `gossamer sites`: one line per site, with what waits there and when it is visited next. */

import { domainToASCII } from 'node:url';
import { SITES_SORTED_MAX, SITE_SORTS, type SiteQuery, type SiteSort } from '../../contract/views.ts';
import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import type { Column } from '../../results/export/columns.ts';
import { csv, jsonLines } from '../../results/export/text.ts';
import { cutToWidth, padToWidth, widthOf } from '../../lib/text-width.ts';
import { plural, writeCount, writeDuration } from '../../lib/units.ts';
import { visible } from '../../lib/visible.ts';
import { UsageError } from '../../model/read-settings.ts';
import { isSideQueue, isRefusedQueue, nameOfQueue, originOfQueue, siteOfQueue } from '../../url/side-queue.ts';
import type { Command } from '../command.ts';
import type { Read } from '../flags.ts';
import { JSON_LINES_FLAG, print, printForeign, printText, readCount, readFormat, type Format } from '../listing.ts';
import { siteRows, type SiteRow } from '../site-rows.ts';
import { bold, dim, fitLine, outputColumns } from '../terminal.ts';
import { crawlDirOf, withCrawl } from './dir.ts';

/** What a table, and a sorted list, shows when no --limit is given. */
const SHOWN = 50;
const SORTS = Object.keys(SITE_SORTS) as SiteSort[];

export const sitesCommand: Command = {
  name: 'sites',
  usage: 'sites <dir> [flags]',
  says: 'List sites, with what waits there and when they are visited next: state, links waiting, pages, failures in a row, delay in force, next visit, and what robots.txt says where that goes. An origin that cannot be reached has a line of its own, with the links that wait for it. Also while the crawl runs.',
  flags: [
    { name: 'search', value: 'TEXT', says: 'only sites with TEXT in their name' },
    {
      name: 'sort',
      value: SORTS.join('|'),
      says: 'what comes first (default waiting; in jsonl and csv as they were found)',
    },
    { name: 'limit', value: 'N', says: `at most N sites (default ${SHOWN}; in jsonl and csv without --sort all)` },
    { name: 'format', value: 'table|jsonl|csv', says: 'how they are written (default table)' },
    JSON_LINES_FLAG,
  ],
  example: 'gossamer sites ./crawl --sort failures --limit 20',
  run: async (read) => {
    const dir = crawlDirOf(read);
    const format = readFormat(read);
    const query = queryOf(read, format);
    return withCrawl(dir, async (crawl) => {
      const listed = format === 'table' ? await printTable(crawl, query) : await printRows(crawl, query, format);
      const isAll = query.limit === undefined || listed.sites + listed.origins < query.limit;
      const known = isAll ? listed.sites : await knownSites(crawl, query);
      if (format === 'table') await print(closing(query, listed, known));
      else if (known > listed.sites) console.error(closing(query, listed, known)); // the output is for a program
      return 0;
    });
  },
};

/** How many sites there are of those that were asked for. */
const knownSites = async (crawl: StoredCrawl, { search }: SiteQuery): Promise<number> => {
  if (search === undefined) return (await crawl.census()).sites.known;
  let known = 0;
  for await (const { site } of crawl.sites({ search })) if (!isSideQueue(site)) known++;
  return known;
};

/** How many lines there were: sites, and origins that could not be reached. */
interface Listed {
  sites: number;
  origins: number;
}

const count = (listed: Listed, { view }: SiteRow): void => {
  if (!isRefusedQueue(view.site)) listed[isSideQueue(view.site) ? 'origins' : 'sites']++;
};

const queryOf = (read: Read, format: Format): SiteQuery => {
  const given = read.values.get('sort')?.[0];
  const search = read.values.get('search')?.[0];
  const sort = given ?? (format === 'table' ? 'waiting' : undefined);
  if (sort !== undefined && !SORTS.includes(sort as SiteSort))
    throw new UsageError(`--sort "${sort}" is not known: choose one of ${SORTS.join(', ')}`);
  const limit = readCount(read, 'limit') ?? (sort === undefined ? undefined : SHOWN);
  if (sort !== undefined && limit !== undefined && limit > SITES_SORTED_MAX) {
    throw new UsageError(
      `--limit ${limit} is too much for a sorted list, the most is ${SITES_SORTED_MAX}: --format jsonl or csv without --sort lists all`,
    );
  }
  return {
    ...(search === undefined ? {} : { search: asNamed(search) }),
    ...(sort === undefined ? {} : { sort: sort as SiteSort }),
    ...(limit === undefined ? {} : { limit }),
  };
};

/** Sites are known by the name that DNS has; a person may write it as it is shown. */
const asNamed = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text) ? text.toLowerCase() : domainToASCII(text) || text;

const closing = ({ search, sort, limit }: SiteQuery, { sites: listed, origins }: Listed, known: number): string => {
  const such = search === undefined ? '' : ` with "${search}" in their name`;
  if (known === 0 && origins === 0)
    return search === undefined ? 'no site is known yet' : `no site has "${search}" in its name`;
  const order = sort === undefined ? '' : `, ${SITE_SORTS[sort]}`;
  const troubled = origins === 0 ? '' : ` and ${plural(origins, 'origin')} in trouble`;
  if (known <= listed) return dim(`${plural(listed, 'site')}${troubled}${such}${order}`);
  return dim(
    `${writeCount(listed)} of ${plural(known, 'site')}${troubled}${such}${order}; ${writeCount(known - listed)} more with a --limit above ${limit ?? 0}`,
  );
};

const nextVisit = ({ view, now }: SiteRow): string => {
  switch (view.state) {
    case 'leased':
      return 'under way';
    case 'parked':
    case 'held':
    case 'idle':
      return '-';
    case 'waiting':
      return view.dueAt > now ? `in ${writeDuration(view.dueAt - now)}` : 'due now';
    default:
      return view.state satisfies never;
  }
};

const robotsWords = ({ robots, now }: SiteRow): string => {
  if (!robots) return '-';
  const state = robots.state.replaceAll('-', ' ');
  if (robots.fetchedAt === null) return state;
  const age = writeDuration(Math.max(0, now - robots.fetchedAt));
  return robots.trouble === null
    ? `${state}, ${robots.stale ? 'stale, ' : ''}${age} old`
    : `${state} (${robots.trouble}), asked ${age} ago`;
};

const TABLE: readonly [title: string, text: (row: SiteRow) => string, side: 'left' | 'right'][] = [
  ['site', ({ view }) => nameOfQueue(view.site), 'left'],
  ['state', ({ view }) => view.state, 'left'],
  ['waiting', ({ view }) => writeCount(view.waiting), 'right'],
  ['pages', ({ view }) => writeCount(view.pages), 'right'],
  ['failures', ({ view }) => writeCount(view.failures), 'right'],
  ['delay', ({ view }) => (view.delayMs > 0 ? writeDuration(view.delayMs) : '-'), 'right'],
  ['next visit', nextVisit, 'left'],
  ['robots.txt', robotsWords, 'left'],
];
const GAP = '  ';
/** A name is not cut below this, however narrow the terminal is. */
const NAME_COLUMNS_LEAST = 16;

const printTable = async (crawl: StoredCrawl, query: SiteQuery): Promise<Listed> => {
  const rows: string[][] = [];
  const listed = { sites: 0, origins: 0 };
  for await (const row of siteRows(crawl, query)) {
    count(listed, row);
    rows.push(TABLE.map(([, text]) => visible(text(row))));
  }
  if (rows.length === 0) return listed;
  const widths = TABLE.map(([title], i) =>
    rows.reduce((width, texts) => Math.max(width, widthOf(texts[i]!)), title.length),
  );
  const others = widths.slice(1).reduce((sum, width) => sum + GAP.length + width, 0);
  widths[0] = Math.min(widths[0]!, Math.max(NAME_COLUMNS_LEAST, outputColumns() - others));
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, i) => {
        const [, , side] = TABLE[i]!;
        // The end of a name says more than its beginning.
        return side === 'left'
          ? padToWidth(cutToWidth(text, widths[i]!, 'start'), widths[i]!)
          : text.padStart(widths[i]!);
      })
      .join(GAP)
      .trimEnd();
  await print(bold(fitLine(line(TABLE.map(([title]) => title)))));
  for (const texts of rows) await print(fitLine(line(texts)));
  return listed;
};

const timeOf = (at: number | null | undefined): number | null => at ?? null;
const nextVisitTime = ({ view }: SiteRow): number | null => (view.state === 'waiting' ? view.dueAt : null);

/** The columns of a site, for programs. */
const SITE_TABLE: readonly Column<SiteRow>[] = [
  { name: 'site', kind: 'text', says: 'its name', of: ({ view }) => siteOfQueue(view.site) },
  {
    name: 'origin',
    kind: 'text',
    nullable: true,
    says: 'the origin in trouble whose links these are',
    of: ({ view }) => originOfQueue(view.site) || null,
  },
  { name: 'state', kind: 'text', says: 'what it is doing', of: ({ view }) => view.state },
  { name: 'waiting', kind: 'int64', says: 'links in its queue', of: ({ view }) => view.waiting },
  { name: 'pages', kind: 'int64', says: 'pages that a server answered', of: ({ view }) => view.pages },
  { name: 'failures', kind: 'int32', says: 'failures in a row', of: ({ view }) => view.failures },
  { name: 'delay_ms', kind: 'double', says: 'the delay in force', of: ({ view }) => view.delayMs },
  { name: 'crawl_delay_ms', kind: 'double', says: 'the longest Crawl-delay', of: ({ view }) => view.crawlDelayMs },
  { name: 'next_visit', kind: 'time', nullable: true, says: 'when it may be visited', of: nextVisitTime },
  { name: 'leased', kind: 'text', nullable: true, says: 'the URL under visit', of: ({ view }) => view.leased || null },
  {
    name: 'robots_origin',
    kind: 'text',
    nullable: true,
    says: 'visited next',
    of: ({ robots }) => robots?.origin ?? null,
  },
  {
    name: 'robots_state',
    kind: 'text',
    nullable: true,
    says: 'what it says',
    of: ({ robots }) => robots?.state ?? null,
  },
  {
    name: 'robots_stale',
    kind: 'boolean',
    nullable: true,
    says: 'read again',
    of: ({ robots }) => robots?.stale ?? null,
  },
  {
    name: 'robots_time',
    kind: 'time',
    nullable: true,
    says: 'when read',
    of: ({ robots }) => timeOf(robots?.fetchedAt),
  },
  {
    name: 'robots_trouble',
    kind: 'text',
    nullable: true,
    says: 'why not',
    of: ({ robots }) => robots?.trouble ?? null,
  },
];

const printRows = async (crawl: StoredCrawl, query: SiteQuery, format: 'jsonl' | 'csv'): Promise<Listed> => {
  const text = format === 'csv' ? csv : jsonLines;
  const listed = { sites: 0, origins: 0 };
  await printText(text.head(SITE_TABLE));
  for await (const row of siteRows(crawl, query)) {
    await printForeign(text.line(SITE_TABLE, row));
    count(listed, row);
  }
  return listed;
};

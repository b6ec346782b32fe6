/** What a check found that a repair starts from, and what both kinds of repair do with an archive. */

import { join } from 'node:path';
import { DEAD_FILE, readDead, writeDead, type DeadSpan } from '../../archive/dead-list.ts';
import { openArchive } from '../../archive/files.ts';
import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import { FILES } from '../../folder/folder.ts';
import { plural } from '../../lib/units.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import { isAfter, type ArchiveReport } from './archive.ts';
import { fillDead } from './fill.ts';
import { placedPages } from './placed.ts';
import type { RowPlan } from './rows.ts';
import type { Survey } from './survey.ts';

export interface Plan {
  readonly rows: RowPlan;
  readonly whole: Survey;
  /** What was found of each archive, in the order of the directories. */
  readonly archives: readonly PartPlan[];
}

export interface PartPlan extends ArchiveReport {
  readonly dir: string;
  readonly seedLines: number;
}

/** One kind of thing that a repair did. */
export type Told = readonly [count: number, one: string, many: string];

export const sentencesOf = (told: readonly Told[]): string[] =>
  told.filter(([count]) => count > 0).map(([count, one, many]) => plural(count, one, many));

/** The records of pages whose rows go, unless another page has the same. */
export const placesOf = async (
  crawl: StoredCrawl,
  { pagesGone, pagesBack }: Pick<RowPlan, 'pagesGone' | 'pagesBack'>,
): Promise<DeadSpan[]> => {
  if (pagesGone.size + pagesBack.size === 0) return [];
  const spans = new Map<string, DeadSpan>();
  const kept = new Set<string>();
  for await (const { row, url, file, offset, groupLength } of placedPages(crawl, true)) {
    const place = `${file} ${offset}`;
    if (!pagesGone.has(row) && !pagesBack.has(row)) kept.add(place);
    else spans.set(place, { file, offset, bytes: groupLength, why: `its page was not right: ${url}` });
  }
  return [...spans].flatMap(([place, span]) => (kept.has(place) ? [] : [span]));
};

/**
 * When the store has its new end: the list, then the bytes that are on it. Killed before, the archive has bytes without
 * a page, bytes on the list that cannot be read, or an unsettled end: the next repair lists the first and fills the
 * second, a resume cuts the third.
 */
export const mendArchive = async (
  crawl: StoredCrawl,
  { dir, end, dead: found }: { readonly dir: string; readonly end: ArchiveEnd; readonly dead: readonly DeadSpan[] },
): Promise<Told[]> => {
  const former = readDead(dir);
  const fresh = found.filter((span) => !isAfter(span, end));
  // What lies after the end is cut, and other records will lie there: it must not stay on the list.
  const dead = [...former.filter((span) => !isAfter(span, end)), ...fresh];
  if (fresh.length > 0 || dead.length < former.length) writeDead(dir, dead);
  // Opening the archive cuts it to its settled end, and closing it flushes what is left.
  openArchive({ dir: join(dir, FILES.warc), settled: end, warcinfo: unused, stamp: unused }).close();
  const filled = await fillDead(join(dir, FILES.warc), () => placedPages(crawl, true), dead);
  return [
    [
      fresh.length,
      `stretch of the archive is listed in ${DEAD_FILE}`,
      `stretches of the archive are listed in ${DEAD_FILE}`,
    ],
    [
      filled,
      'damaged stretch was filled, so that other readers pass over it',
      'damaged stretches were filled, so that other readers pass over them',
    ],
  ];
};

const unused = (): never => {
  throw new Error('a repair appends no record');
};

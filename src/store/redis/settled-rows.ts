/**
 * The rows of this member that are settled: without those of a batch that a killed process had written and Redis never
 * settled.
 */

import type { ArchiveEnd } from '../../model/census.ts';
import { ANSWERED_OUTCOMES, type OutcomeName } from '../../model/outcome.ts';
import type { PlacedPage } from '../../model/settlement.ts';
import { storeFault } from '../sqlite/fault.ts';
import type { MemberRows } from '../shared-crawl.ts';
import type { DeadRecords } from '../shared-crawl.ts';
import { pairs } from './census.ts';
import { readLastSettled, unsettledOf, type LastSettled } from './doubt.ts';
import type { Look } from './look.ts';
import { openToRead, type Sql } from './read-rows.ts';
import { toPage } from '../page-row.ts';
import { COLUMNS, readBatch } from './rows.ts';
import type { Call } from './wire.ts';

/** What a check needs of a page. */
export type BriefPage = readonly [
  id: number,
  site: string,
  urlKey: number,
  url: string,
  outcome: OutcomeName,
  file: string | null,
  offset: number,
];

export interface SettledRows {
  readonly total: number;
  /** Where the settled part of this member's archive ends. */
  readonly end: ArchiveEnd;
  /** Rows that are not settled. */
  readonly skipped: readonly number[];
  /** Records before the end that belong to none. */
  readonly dead: readonly DeadRecords[];
  /** The other members that have settled something. */
  readonly others: readonly string[];
  /** In the order they were settled, some at a time. */
  pages(atOnce: number): Iterable<PlacedPage[]>;
  brief(): Iterable<BriefPage>;
  /** Pages of a site that a server answered. */
  answered(site: string): number;
  hasGivenUp(url: string, site: string): boolean;
  close(): void;
}

/** Nobody may work on the crawl meanwhile. Changes nothing. */
export const openSettledRows = async (look: Look, { member, rowsPath }: MemberRows): Promise<SettledRows> => {
  const settled = await lastSettled(look);
  const mine = settled.map((byMember): LastSettled => byMember.get(member) ?? { number: 0, refused: new Set() });
  const others = [...new Set(settled.flatMap((byMember) => [...byMember.keys()]))]
    .filter((name) => name !== member)
    .toSorted();
  try {
    const opened = openToRead(rowsPath);
    return opened === null ? noRows(others) : rowsOf(opened, mine, others);
  } catch (error) {
    throw storeFault(error);
  }
};

/** What each shard settled last of each member. */
const lastSettled = async ({ wire, shards }: Look): Promise<ReadonlyMap<string, LastSettled>[]> => {
  const calls = Array.from({ length: await shards() }, (_, shard): Call => ({ name: 'shard', shard, args: [] }));
  const answers = (await wire.all(calls)) as [unknown, unknown, string[]][];
  return answers.map(([, , batches]) => new Map(pairs(batches).map(([name, text]) => [name, readLastSettled(text)])));
};

const noRows = (others: readonly string[]): SettledRows => ({
  total: 0,
  end: { file: '', bytes: 0 },
  skipped: [],
  dead: [],
  others,
  pages: () => [],
  brief: () => [],
  answered: () => 0,
  hasGivenUp: () => false,
  close: () => {},
});

const ANSWERED = Object.keys(ANSWERED_OUTCOMES)
  .map((name) => `'${name}'`)
  .join(', ');

const rowsOf = (
  { db, sql }: NonNullable<ReturnType<typeof openToRead>>,
  mine: readonly LastSettled[],
  others: readonly string[],
): SettledRows => {
  const last = readBatch(sql);
  const dropped = last && unsettledOf(last, mine);
  const skipped = (dropped?.parts ?? []).flatMap(({ row }) => row ?? []);
  const kept = notThese(skipped);
  return {
    total: numberOf(sql, `SELECT count(*) AS n FROM page WHERE ${kept}`),
    end: dropped && dropped.parts.length > 0 ? dropped.end : (last?.end ?? { file: '', bytes: 0 }),
    skipped,
    dead: dropped?.dead ?? [],
    others,
    pages: function* (atOnce) {
      for (let row = 0; ; ) {
        const rows = sql(`SELECT id, ${COLUMNS} FROM page WHERE id > ? AND ${kept} ORDER BY id LIMIT ?`).all(
          row,
          atOnce,
        );
        if (rows.length === 0) return;
        yield rows.map(toPage);
        row = rows.at(-1)!.id as number;
      }
    },
    brief: () => {
      const statement = sql(`SELECT id, site, url_key, url, outcome, file, offset FROM page WHERE ${kept} ORDER BY id`);
      statement.setReturnArrays(true);
      return statement.iterate() as Iterable<unknown> as Iterable<BriefPage>;
    },
    answered: (site) =>
      numberOf(
        sql,
        `SELECT count(*) AS n FROM page INDEXED BY page_of_site WHERE site = ? AND outcome IN (${ANSWERED}) AND ${kept}`,
        site,
      ),
    hasGivenUp: (url, site) =>
      numberOf(sql, "SELECT count(*) AS n FROM page WHERE site = ? AND url = ? AND outcome = 'gave-up'", site, url) > 0,
    close: () => db.close(),
  };
};

/** There are as many as a batch has settlements. */
const notThese = (rows: readonly number[]): string => `id NOT IN (${rows.join(', ')})`;

const numberOf = (sql: Sql, text: string, ...values: string[]): number => (sql(text).get(...values) as { n: number }).n;

/**
 * Pages with a place, in the order of the archive. Pages are settled in that order, so their numbers give it; where
 * they do not, SQLite sorts.
 */
export function* placedIn(
  path: string,
  { inOrder, skipped }: { readonly inOrder: boolean; readonly skipped: readonly number[] },
): Generator<PlacedPage, void, undefined> {
  const opened = openToRead(path);
  if (opened === null) return;
  try {
    const rows = opened.sql(
      `SELECT ${COLUMNS} FROM page WHERE file IS NOT NULL AND ${notThese(skipped)} ORDER BY ${inOrder ? 'id' : 'file, offset, id'}`,
    );
    for (const row of rows.iterate()) yield toPage(row);
  } finally {
    opened.db.close();
  }
}

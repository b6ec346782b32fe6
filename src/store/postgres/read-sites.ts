/** Sites for people: one by name, or many, in any order, without a long read. */

import { SITES_SORTED_MAX, type SiteQuery, type SiteSort, type SiteView } from '../../frontier/store.ts';
import { arrayOf, textOf } from './book.ts';
import type { Look } from './look.ts';
import { keyOf, SITE_HELD, SITE_LEASED, SITE_PARKED } from './schema.ts';

/**
 * Sites whose order is looked up in one go, at 8 bytes each: the order in which sites were found has no index, because
 * each claim would change it.
 */
const ORDERED_AT_ONCE = 250_000;
const ROWS_AT_ONCE = 1_000;

export type Rows = Look['rows'];

interface SiteRow {
  readonly name: string;
  readonly state: number;
  readonly waiting: number;
  readonly pages: number;
  readonly due_at: number;
  readonly delay_ms: number;
  readonly crawl_delay_ms: number;
  readonly failures: number;
  readonly leased: string;
  readonly next: string;
}

/**
 * Of rows of the table site under the name k. Any page will do, because the last one would have to be looked for among
 * all.
 */
const columns = (s: string): string => `
  k.name, k.state, k.waiting, k.pages, k.due_at, k.delay_ms, k.crawl_delay_ms, k.failures, coalesce(split_part(k.leased, ' ', 4), '') AS leased,
  coalesce(split_part(k.leased, ' ', 4),
    (SELECT split_part(b.links[k.head_at + 1], ' ', 5) FROM ${s}.block b WHERE b.site = k.id AND b.position = k.head),
    (SELECT p.url FROM ${s}.page p WHERE p.site = k.id ORDER BY hashtextextended(p.url, 0) LIMIT 1), '') AS next`;

/** Equal ones stay in the order they were found, so that two lists of a crawl at rest are alike. */
const ORDERS: Readonly<Record<SiteSort, string>> = {
  waiting: 'k.waiting DESC, k.found',
  pages: 'k.pages DESC, k.found',
  failures: 'k.failures DESC, k.found',
  next: `(k.state > ${SITE_LEASED} OR k.waiting = 0), k.due_at, k.found`, // those that no call will go to are last
  name: 'k.name COLLATE "C"',
  delay: 'k.delay_ms DESC, k.found',
};

export const siteNamed = async (rows: Rows, s: string, name: string): Promise<SiteView | null> => {
  const [row] = await rows<SiteRow>(`SELECT ${columns(s)} FROM ${s}.site k WHERE k.id = $1`, [keyOf(name)]);
  return row ? toView(row) : null;
};

/** An empty text is in every name: then the counter knows. */
export const sitesCount = async ({ rows, schema: s }: Look, search: string): Promise<number> => {
  const [row] =
    search === ''
      ? await rows<{ n: number }>(`SELECT coalesce(sum(t.n), 0)::bigint AS n FROM ${s}.tally t WHERE t.name = 'sites'`)
      : await rows<{ n: number }>(`SELECT count(*) AS n FROM ${s}.site k WHERE strpos(k.name, $1) > 0`, [
          textOf(search),
        ]);
  return row!.n;
};

export async function* sitesOf(look: Look, query: SiteQuery): AsyncGenerator<SiteView, void, undefined> {
  if (query.sort === undefined) return yield* asFound(look, query);
  const { rows, schema: s } = look;
  const order = ORDERS[query.sort];
  // One statement: the server keeps no more rows than the limit while it sorts, and all of them are from one moment.
  const sorted = `SELECT * FROM ${s}.site k WHERE strpos(k.name, $1) > 0 ORDER BY ${order} LIMIT $2`;
  const limit = Math.min(query.limit ?? SITES_SORTED_MAX, SITES_SORTED_MAX);
  for (const row of await rows<SiteRow>(`SELECT ${columns(s)} FROM (${sorted}) k ORDER BY ${order}`, [
    textOf(query.search ?? ''),
    limit,
  ]))
    yield toView(row);
}

/** First the ids in that order, then their rows, some at a time: nothing is held meanwhile. */
async function* asFound(look: Look, query: SiteQuery): AsyncGenerator<SiteView, void, undefined> {
  const { rows, schema: s } = look;
  for await (const ids of idsAsFound(look, query)) {
    const views = await rows<SiteRow>(
      `SELECT ${columns(s)} FROM unnest($1::bigint[]) WITH ORDINALITY AS u(id, nth) JOIN ${s}.site k ON k.id = u.id ORDER BY u.nth`,
      [arrayOf(ids)],
    );
    for (const row of views) yield toView(row);
  }
}

/** The ids of sites in the order they were found, ROWS_AT_ONCE at a time. */
export async function* idsAsFound(
  { rows, schema: s }: Look,
  { search = '', limit = Infinity }: SiteQuery,
): AsyncGenerator<readonly bigint[], void, undefined> {
  let left = limit;
  for (let last = 0; left > 0; ) {
    const wanted = Math.min(left, ORDERED_AT_ONCE);
    const [part] = await rows<{ ids: Buffer | null; last: number }>(
      `
      SELECT string_agg(int8send(f.id), '' ORDER BY f.found) AS ids, max(f.found) AS last
      FROM (SELECT k.id, k.found FROM ${s}.site k WHERE k.found > $1 AND strpos(k.name, $2) > 0 ORDER BY k.found LIMIT $3) f`,
      [last, textOf(search), wanted],
    );
    const ids = idsIn(part!.ids);
    for (let i = 0; i < ids.length; i += ROWS_AT_ONCE) yield [...ids.subarray(i, i + ROWS_AT_ONCE)];
    if (ids.length < wanted) return;
    left -= ids.length;
    last = part!.last;
  }
}

const idsIn = (bytes: Buffer | null): BigInt64Array =>
  BigInt64Array.from({ length: (bytes?.length ?? 0) / 8 }, (_, i) => bytes!.readBigInt64BE(8 * i));

const toView = (row: SiteRow): SiteView => ({
  site: row.name,
  state: stateOf(row),
  waiting: row.waiting,
  pages: row.pages,
  dueAt: row.due_at,
  delayMs: row.delay_ms,
  crawlDelayMs: row.crawl_delay_ms,
  failures: row.failures,
  leased: row.leased,
  next: row.next,
});

const stateOf = ({ state, waiting }: SiteRow): SiteView['state'] => {
  switch (state) {
    case SITE_LEASED:
      return 'leased';
    case SITE_PARKED:
      return 'parked';
    case SITE_HELD:
      return 'held';
    default:
      return waiting > 0 ? 'waiting' : 'idle';
  }
};

/** Sites for people: one by name, or many, in any order, without a long read. */

import { SITES_SORTED_MAX, type SiteQuery, type SiteSort, type SiteView } from '../../frontier/store.ts';
import { shardOf } from '../../url/shard.ts';
import type { Look } from './look.ts';
import type { LineReader } from './read-lines.ts';
import type { RowsReader } from './read-rows.ts';
import type { Call } from './wire.ts';

/**
 * Sites that one call looks at: about a millisecond of the server. The first rounds are small: a short list needs few.
 */
const ROUND_FIRST = 2;
const ROUND_MAX = 256;
/** Names alone are cheaper. */
const NAMES_AT_ONCE = 5_000;

/** What lies on this machine. */
export interface Nearby {
  readonly rows: RowsReader;
  readonly lines: LineReader;
}

/**
 * As the scripts write it: site, state, waiting, pages, dueAt, delay, crawl delay, failures, URL under visit, first in
 * line.
 */
export type ViewText = readonly string[];

export const siteNamed = async ({ wire, shards }: Look, nearby: Nearby, name: string): Promise<SiteView | null> => {
  const [view] = (await wire.all([{ name: 'site', shard: shardOf(name, await shards()), args: [name] }])) as [ViewText];
  return view.length === 0 ? null : toView(view, nearby);
};

export const toView = (
  [name, state, waiting, pages, dueAt, delayMs, crawlDelayMs, failures, underVisit, first]: ViewText,
  { rows, lines }: Nearby,
): SiteView => {
  const site = name!;
  const leased = lines.url(underVisit!, site);
  return {
    site,
    state: stateOf(state!, Number(waiting)),
    waiting: Number(waiting),
    pages: Number(pages),
    dueAt: Number(dueAt),
    delayMs: Number(delayMs),
    crawlDelayMs: Number(crawlDelayMs),
    failures: Number(failures),
    leased,
    next: leased || lines.url(first!, site) || rows.somePage(site),
  };
};

const stateOf = (state: string, waiting: number): SiteView['state'] => {
  switch (state) {
    case 'l':
      return 'leased';
    case 'p':
      return 'parked';
    case 'h':
      return 'held';
    default:
      return waiting > 0 ? 'waiting' : 'idle';
  }
};

/** An empty text is in every name. */
export const sitesCount = async (look: Look, search: string): Promise<number> => {
  let count = 0;
  const args = (from: number): Call['args'] => [from, NAMES_AT_ONCE, search];
  let open = allShards(await look.shards());
  for (let from = 0; open.length > 0; from += NAMES_AT_ONCE) {
    const answers = (await look.wire.all(
      open.map((shard): Call => ({ name: 'sitesNamed', shard, args: args(from) })),
    )) as [looked: number, named: number][];
    count += answers.reduce((sum, [, named]) => sum + named, 0);
    open = open.filter((_, i) => answers[i]![0] === NAMES_AT_ONCE);
  }
  return count;
};

const allShards = (shards: number): number[] => Array.from({ length: shards }, (_, shard) => shard);

export async function* sitesOf(
  look: Look,
  nearby: Nearby,
  query: SiteQuery,
): AsyncGenerator<SiteView, void, undefined> {
  const views = query.sort === undefined ? asFound(look, query.search ?? '') : await sorted(look, query, query.sort);
  let left = query.limit ?? Infinity;
  if (left <= 0) return;
  for await (const view of views) {
    yield toView(view, nearby);
    if (--left <= 0) return;
  }
}

/** Each shard knows in which order it found its sites; between shards that is known roughly: all give some in turn. */
async function* asFound({ wire, shards }: Look, search: string): AsyncGenerator<ViewText, void, undefined> {
  let open = allShards(await shards());
  let from = 0;
  for (let size = ROUND_FIRST; open.length > 0; size = Math.min(4 * size, ROUND_MAX)) {
    const answers = (await wire.all(
      open.map((shard): Call => ({ name: 'sites', shard, args: [from, size, search] })),
    )) as [looked: number, views: ViewText[]][];
    for (const [, views] of answers) yield* views;
    from += size;
    open = open.filter((_, i) => answers[i]![0] === size);
  }
}

type Key = (view: ViewText) => readonly (number | string)[];

/** Equal ones stay in the order they were found, so that two lists of a crawl at rest are alike. */
const ORDERS: Readonly<Record<SiteSort, Key>> = {
  waiting: ([, , waiting]) => [-Number(waiting)],
  pages: ([, , , pages]) => [-Number(pages)],
  failures: ([, , , , , , , failures]) => [-Number(failures)],
  // those that no call will go to are last
  next: ([, state, waiting, , dueAt]) => [state === 'p' || state === 'h' || waiting === '0' ? 1 : 0, Number(dueAt)],
  name: ([site]) => [site!],
  delay: ([, , , , , delayMs]) => [-Number(delayMs)],
};

/** Looks at all sites and keeps no more than twice as many as are wanted. */
const sorted = async (
  look: Look,
  { search = '', limit = SITES_SORTED_MAX }: SiteQuery,
  sort: SiteSort,
): Promise<ViewText[]> => {
  const keyOf = ORDERS[sort];
  const wanted = Math.min(limit, SITES_SORTED_MAX);
  let best: { readonly view: ViewText; readonly key: ReturnType<Key> }[] = [];
  const cut = (): void => void (best = best.sort((a, b) => compare(a.key, b.key)).slice(0, wanted));
  for await (const view of asFound(look, search)) {
    if (best.push({ view, key: keyOf(view) }) >= 2 * wanted) cut();
  }
  cut();
  return best.map(({ view }) => view);
};

const compare = (a: ReturnType<Key>, b: ReturnType<Key>): number => {
  for (const [i, one] of a.entries()) {
    if (one < b[i]!) return -1;
    if (one > b[i]!) return 1;
  }
  return 0;
};

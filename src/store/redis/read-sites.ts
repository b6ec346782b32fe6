/** Sites for people: one by name, or many, in any order, without a long read. */

import {
  SITES_SORTED_MAX,
  type SiteQuery,
  type SiteSort,
  type SiteState,
  type SiteView,
} from '../../contract/views.ts';
import type { Pace } from '../../model/visit.ts';
import { siteStateOf } from '../site-state.ts';
import type { Connection } from './connection.ts';
import { orNull, readLease, type Taken } from './queue.ts';
import { everyShard, reading, type Step } from './wire.ts';

/** Sites that one step looks at: about a millisecond. The first rounds are small: a short list needs few. */
const ROUND_FIRST = 2;
const ROUND_MAX = 256;

/** A site as steps give it. */
export interface SiteRow {
  readonly site: string;
  /** Null for a number that no state has. */
  readonly state: SiteState | null;
  readonly waiting: number;
  readonly pages: number;
  readonly pace: Pace;
  /** `o` of its queue. */
  readonly headAt: number;
  /** The lease of the site as it is written; empty for none. */
  readonly lease: string;
  /** First in its queue. */
  readonly first: Taken;
  /** Elements of its queue. */
  readonly elements: number;
}

/** The view of a site as steps write it, see `parts/view.lua`; empty for one that is not known. */
export type ViewText = readonly string[];

export const readView = (view: ViewText): SiteRow | null => {
  const [site, state, waiting, pages, dueAt, delayMs, crawlDelayMs, responseMs, failures, headAt] = view;
  const [lease, text, via, elements] = view.slice(10);
  if (site === undefined) return null;
  return {
    site,
    state: siteStateOf(Number(state)),
    waiting: Number(waiting),
    pages: Number(pages),
    pace: {
      dueAt: Number(dueAt),
      delayMs: Number(delayMs),
      crawlDelayMs: Number(crawlDelayMs),
      responseMs: Number(responseMs),
      failures: Number(failures),
    },
    headAt: Number(headAt),
    lease: lease!,
    first: { site, text: text!, via: via! },
    elements: Number(elements),
  };
};

export const toView = ({ queue, pages: rows }: Connection, row: SiteRow): SiteView => {
  const { site, state, waiting, pages, pace, lease, first } = row;
  const urlOf = (taken: Taken | undefined): string =>
    taken?.text ? (orNull(() => queue.link(taken))?.link.url ?? '') : '';
  const leased = urlOf(readLease(lease, site)?.taken);
  const { dueAt, delayMs, crawlDelayMs, failures } = pace;
  return {
    ...{ site, state: state ?? 'idle', waiting, pages, dueAt, delayMs, crawlDelayMs, failures },
    leased,
    next: leased || urlOf(first) || rows.somePage(site),
  };
};

/** What is known of these sites, in the order asked for; those that are not known are omitted. */
export const readSites = async (
  { wire }: Pick<Connection, 'wire'>,
  asked: readonly { readonly shard: number; readonly names: readonly string[] }[],
): Promise<SiteRow[]> => {
  const steps = asked.flatMap(({ shard, names }): Step[] =>
    names.length === 0 ? [] : [{ name: 'views', shard, args: names }],
  );
  return ((await wire.all(steps)) as ViewText[][]).flat().flatMap((view) => readView(view) ?? []);
};

/** Each shard knows in which order it found its sites; between shards that is known roughly: all give some in turn. */
async function* asFound(connection: Connection, search: string): AsyncGenerator<SiteRow, void, undefined> {
  const { wire } = connection;
  let open = everyShard(await connection.shards(), (shard) => shard);
  let from = 0;
  for (let size = ROUND_FIRST; open.length > 0; size = Math.min(4 * size, ROUND_MAX)) {
    const names = (await wire.all(
      open.map((shard) => reading(shard, [['LRANGE', 'sites', from, from + size - 1]])),
    )) as [string[]][];
    const wanted = names.map(([all], i) => ({ shard: open[i]!, names: all.filter((name) => name.includes(search)) }));
    yield* await readSites(connection, wanted);
    from += size;
    open = open.filter((_, i) => names[i]![0].length === size);
  }
}

export async function* sitesOf(connection: Connection, query: SiteQuery): AsyncGenerator<SiteView, void, undefined> {
  let left = query.limit ?? Infinity;
  if (left <= 0) return;
  const { search = '', sort } = query;
  const rows = sort === undefined ? asFound(connection, search) : await sorted(connection, query, sort);
  for await (const row of rows) {
    yield toView(connection, row);
    if (--left <= 0) return;
  }
}

/** Equal ones stay in the order they were found, so that two lists of a crawl at rest are alike. */
const ORDERS: Readonly<Record<SiteSort, (a: SiteRow, b: SiteRow) => number>> = {
  waiting: (a, b) => b.waiting - a.waiting,
  pages: (a, b) => b.pages - a.pages,
  failures: (a, b) => b.pace.failures - a.pace.failures,
  next: (a, b) => Number(isSetAside(a)) - Number(isSetAside(b)) || a.pace.dueAt - b.pace.dueAt,
  name: (a, b) => (a.site < b.site ? -1 : a.site > b.site ? 1 : 0),
  delay: (a, b) => b.pace.delayMs - a.pace.delayMs,
};

/** Sites that nobody will visit are last. */
const isSetAside = ({ state, waiting }: SiteRow): boolean => state === 'parked' || state === 'held' || waiting === 0;

/** Looks at all sites and keeps no more than twice as many as are wanted. */
const sorted = async (
  connection: Connection,
  { search = '', limit = SITES_SORTED_MAX }: SiteQuery,
  sort: SiteSort,
): Promise<SiteRow[]> => {
  const wanted = Math.min(limit, SITES_SORTED_MAX);
  let best: SiteRow[] = [];
  const cut = (): void => void (best = best.sort(ORDERS[sort]).slice(0, wanted));
  for await (const row of asFound(connection, search)) if (best.push(row) >= 2 * wanted) cut();
  cut();
  return best;
};

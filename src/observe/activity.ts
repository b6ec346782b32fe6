/** The last pages of a fetch thread, its busiest and its failing sites, and the visit it waits for the longest. */

/** Pages that are kept, the newest first. */
const LAST_MAX = 24;
/** Sites of each list. */
const SITES_MAX = 12;
/** Sites that are counted at a time in a thread; while there are so many, others go uncounted. */
const COUNTED_MAX = 5_000;
/** Sites are counted over this time at the least and twice as long at the most. */
const SPAN_MS = 30_000;

export interface SettledPage {
  readonly url: string;
  readonly outcome: string;
  readonly status: number | null;
  readonly tookMs: number;
  readonly endedAt: number;
}

/** What came of the visits to a site in the last minute or so. */
export interface SiteActivity {
  readonly site: string;
  readonly visits: number;
  readonly failures: number;
  /** The cause of the last failure, or its status; empty when there was none. */
  readonly cause: string;
}

export interface VisitUnderWay {
  readonly url: string;
  readonly forMs: number;
}

export interface Activity {
  readonly last: readonly SettledPage[];
  readonly busiest: readonly SiteActivity[];
  readonly failing: readonly SiteActivity[];
  /** The visit that has been under way the longest. */
  readonly oldest: VisitUnderWay | null;
}

/** The end of a visit: a page, or a failure after which its link waits again; neither when it says nothing. */
export interface VisitEnd {
  readonly lease: number;
  readonly site: string;
  readonly page: Omit<SettledPage, 'endedAt'> | null;
  readonly failure: string | null;
}

export interface ActivityNotes {
  begun(lease: number, url: string, at: number): void;
  ended(end: VisitEnd, at: number): void;
  now(at: number): Activity;
}

type Count = { visits: number; failures: number; cause: string };

/** Some bytes and one look into a table for each page; lists are made only when they are asked for. */
export const createActivityNotes = (): ActivityNotes => {
  const underWay = new Map<number, { url: string; since: number }>();
  const last: SettledPage[] = [];
  let [older, newer] = [new Map<string, Count>(), new Map<string, Count>()];
  let since = 0;
  const turn = (at: number): void => {
    if (at - since < SPAN_MS) return;
    older = at - since < 2 * SPAN_MS ? newer : new Map();
    newer = new Map();
    since = at;
  };
  const countOf = (site: string): Count | null => {
    let count = newer.get(site);
    if (count || newer.size >= COUNTED_MAX) return count ?? null;
    newer.set(site, (count = { visits: 0, failures: 0, cause: '' }));
    return count;
  };
  return {
    begun: (lease, url, at) => void underWay.set(lease, { url, since: at }),
    ended: ({ lease, site, page, failure }, at) => {
      underWay.delete(lease);
      turn(at);
      if (page && last.push({ ...page, endedAt: at }) > LAST_MAX) last.shift();
      const count = page || failure !== null ? countOf(site) : null;
      if (!count) return;
      count.visits++;
      if (failure === null) return;
      count.failures++;
      count.cause = failure;
    },
    now: (at) => {
      turn(at);
      const [first] = underWay.values(); // a map keeps the order of coming
      return {
        last: last.toReversed(),
        ...ranked(added(older, newer)),
        oldest: first ? { url: first.url, forMs: at - first.since } : null,
      };
    },
  };
};

const added = (older: ReadonlyMap<string, Count>, newer: ReadonlyMap<string, Count>): SiteActivity[] => {
  const sites: SiteActivity[] = [];
  for (const [site, { visits, failures, cause }] of newer) {
    const before = older.get(site);
    sites.push({
      site,
      visits: visits + (before?.visits ?? 0),
      failures: failures + (before?.failures ?? 0),
      cause: cause || (before?.cause ?? ''),
    });
  }
  for (const [site, count] of older) if (!newer.has(site)) sites.push({ site, ...count });
  return sites;
};

const ranked = (sites: readonly SiteActivity[]): Pick<Activity, 'busiest' | 'failing'> => ({
  busiest: sites.toSorted((a, b) => b.visits - a.visits).slice(0, SITES_MAX),
  failing: sites
    .filter(({ failures }) => failures > 0)
    .toSorted((a, b) => b.failures - a.failures)
    .slice(0, SITES_MAX),
});

/**
 * Joins the activities of all fetch threads: a site is visited by one thread only, so the first sites of each thread
 * have the first of all among them.
 */
export const joinActivities = (all: readonly Activity[]): Activity => ({
  last: all
    .flatMap(({ last }) => last)
    .toSorted((a, b) => b.endedAt - a.endedAt)
    .slice(0, LAST_MAX),
  busiest: ranked(all.flatMap(({ busiest }) => busiest)).busiest,
  failing: ranked(all.flatMap(({ failing }) => failing)).failing,
  oldest: all
    .flatMap(({ oldest }) => oldest ?? [])
    .reduce<VisitUnderWay | null>((first, one) => (first && first.forMs >= one.forMs ? first : one), null),
});

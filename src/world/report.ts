/** Was the crawl polite, allowed, complete and without repeats? Decided from what the world saw. */

import type { World } from './world.ts';
import type { Seen } from './seen.ts';
import { originSeen, urlOf } from './seen.ts';

export interface ReportOptions {
  /** The least time between two visits to a site. */
  readonly delayMs: number;
  /** What a site asks for beyond that; by default the Crawl-delay of its robots.txt, once it was read. */
  readonly delayOf?: (site: string) => number;
}

/** Two visits to a site that started too close to each other. */
export interface Gap {
  readonly site: string;
  readonly gapMs: number;
  readonly leastMs: number;
  readonly path: string;
  readonly before: string;
}

export interface Report {
  readonly requests: number;
  readonly sites: number;
  /** Distinct URLs that were answered whole, robots.txt not counted. */
  readonly pages: number;
  readonly tooEarly: readonly Gap[];
  /** Visits that began before the one before them had ended. */
  readonly overlaps: readonly Gap[];
  readonly forbidden: readonly Seen[];
  /** URLs that were answered whole more than once. */
  readonly twice: readonly string[];
  /** Reachable, never answered. */
  readonly missing: readonly string[];
  /** Asked for, though no right crawl finds it. */
  readonly unexpected: readonly string[];
  /** Pages asked for before the robots.txt of their origin was. */
  readonly beforeRobots: readonly Seen[];
}

/** robots.txt with its redirects and the page after it on the same origin, or a page alone. */
interface VisitSeen {
  readonly first: Seen;
  endedAt: number;
  last: Seen;
  closed: boolean;
}

export const reportOn = (world: World, requests: readonly Seen[], options: ReportOptions): Report => {
  const inOrder = requests.toSorted((a, b) => a.at - b.at);
  const bySite = Map.groupBy(
    inOrder.filter((seen) => !seen.exempt),
    (seen) => seen.site,
  );
  const pages = inOrder.filter((seen) => seen.kind === 'page');
  const { pages: wanted, forbidden, failing, tolerated } = world.reachable();

  const whole = new Map<string, number>();
  for (const seen of pages) if (seen.whole) whole.set(urlOf(seen), (whole.get(urlOf(seen)) ?? 0) + 1);
  const asked = new Set(pages.map(urlOf));
  const known = (url: string): boolean => [wanted, forbidden, failing, tolerated].some((set) => set.has(url));

  const gaps = [...bySite].map(([site, seen]) => gapsOf(world, visitsOf(world, seen), { ...options, site }));
  return {
    requests: inOrder.length,
    sites: bySite.size,
    pages: whole.size,
    tooEarly: gaps.flatMap((found) => found.tooEarly),
    overlaps: gaps.flatMap((found) => found.overlaps),
    forbidden: pages.filter((seen) => !world.allows(new URL(urlOf(seen)))),
    twice: [...whole].filter(([, count]) => count > 1).map(([url]) => url),
    missing: [...wanted].filter((url) => !whole.has(url)),
    unexpected: [...asked].filter((url) => !known(url)),
    beforeRobots: unannounced(inOrder),
  };
};

/** Puts the requests that one site saw, in order, together to visits. */
const visitsOf = (world: World, requests: readonly Seen[]): VisitSeen[] => {
  const visits: VisitSeen[] = [];
  for (const seen of requests) {
    const visit = visits.at(-1);
    if (visit && !visit.closed && continues(world, visit, seen)) {
      visit.endedAt = Math.max(visit.endedAt, seen.endedAt);
      visit.last = seen;
      visit.closed = seen.kind === 'page';
    } else {
      visits.push({ first: seen, last: seen, endedAt: seen.endedAt, closed: seen.kind === 'page' });
    }
  }
  return visits;
};

/** A robots.txt goes on where its redirect leads, or with the page it was asked for. */
const continues = (world: World, visit: VisitSeen, seen: Seen): boolean => {
  if (seen.kind === 'page') return originSeen(seen) === originSeen(visit.first);
  const { scheme, host, path } = visit.last;
  return world.look({ scheme: scheme === 'https' ? 'https' : 'http', host, path }).redirect === urlOf(seen);
};

const gapsOf = (
  world: World,
  visits: readonly VisitSeen[],
  { site, delayMs, delayOf }: ReportOptions & { readonly site: string },
): { readonly tooEarly: Gap[]; readonly overlaps: Gap[] } => {
  const tooEarly: Gap[] = [];
  const overlaps: Gap[] = [];
  let crawlDelayMs = delayOf?.(site) ?? 0;
  let endedAt = 0;
  for (const [n, visit] of visits.entries()) {
    const previous = visits[n - 1];
    if (previous) {
      // A Crawl-delay binds from the visit that read it: no one can know it before.
      if (!delayOf && previous.first.kind === 'robots') {
        crawlDelayMs = Math.max(crawlDelayMs, world.policy(previous.first.host)?.crawlDelayMs ?? 0);
      }
      const leastMs = Math.max(delayMs, crawlDelayMs);
      const gapMs = visit.first.at - previous.first.at;
      const gap: Gap = { site, gapMs, leastMs, path: urlOf(visit.first), before: urlOf(previous.last) };
      if (gapMs < leastMs) tooEarly.push(gap);
      if (visit.first.at < endedAt) overlaps.push(gap);
    }
    endedAt = Math.max(endedAt, visit.endedAt);
  }
  return { tooEarly, overlaps };
};

const unannounced = (inOrder: readonly Seen[]): Seen[] => {
  const announced = new Set<string>();
  return inOrder.filter((seen) => {
    if (seen.path === '/robots.txt') announced.add(originSeen(seen));
    return seen.kind === 'page' && !announced.has(originSeen(seen));
  });
};

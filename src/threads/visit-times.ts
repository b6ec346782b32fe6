/** How long visits and their calls take at the most, and how long they may. */

import type { Clock } from '../lib/clock.ts';
import { ROBOTS_REDIRECTS_MAX } from '../model/robots.ts';
import type { Settings } from '../model/settings.ts';

/** robots.txt, its redirects, and the page. */
const CALLS_PER_VISIT_MAX = 1 + ROBOTS_REDIRECTS_MAX + 1;

/**
 * After this time a visit sends nothing more. Every call ends within --timeout, whatever it waits for: a
 * name server, a socket, the memory of bodies, or a server. What follows is ours: the wait for a parser
 * and for the store.
 */
export const visitCallsMsMax = ({ timeoutMs }: Pick<Settings, 'timeoutMs'>): number => CALLS_PER_VISIT_MAX * timeoutMs;

/** What a visit needs after its last call: a parser, the archive, the store. A parse alone may take 20 seconds. */
const AFTER_CALLS_MS = 30_000;

/**
 * How long a lease holds where processes share a store: longer than any visit, because past it another process may call
 * the site.
 */
export const leaseMsOf = (settings: Pick<Settings, 'timeoutMs'>): number => visitCallsMsMax(settings) + AFTER_CALLS_MS;

export interface VisitTimes {
  /** Times what this does, to its end. */
  timed<T>(what: 'visit' | 'call', work: () => Promise<T>): Promise<T>;
  /** The longest so far; those still under way count with what they took until now. */
  longestVisitMs(): number;
  longestCallMs(): number;
}

export const createVisitTimes = (clock: Clock): VisitTimes => {
  const underWay = { visit: new Set<{ since: number }>(), call: new Set<{ since: number }>() };
  const longest = { visit: 0, call: 0 };
  const look = (what: 'visit' | 'call', since: number | undefined): number =>
    (longest[what] = Math.max(longest[what], since === undefined ? 0 : clock.now() - since));
  /** Sets keep the order of coming, so the first has been here the longest. */
  const soFar = (what: 'visit' | 'call'): number => Math.round(look(what, underWay[what].values().next().value?.since));
  return {
    timed: async (what, work) => {
      const mark = { since: clock.now() };
      underWay[what].add(mark);
      try {
        return await work();
      } finally {
        underWay[what].delete(mark);
        look(what, mark.since);
      }
    },
    longestVisitMs: () => soFar('visit'),
    longestCallMs: () => soFar('call'),
  };
};

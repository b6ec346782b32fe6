/** How long visits and their requests take at the most, and how long they may. */

import type { Clock } from '../lib/clock.ts';
import { ROBOTS_REDIRECTS_MAX } from '../model/robots.ts';
import type { Settings } from '../model/settings.ts';

/** robots.txt, its redirects, and the page. */
const REQUESTS_PER_VISIT_MAX = 1 + ROBOTS_REDIRECTS_MAX + 1;

/**
 * After this time a visit sends nothing more. Every request ends within --timeout, whatever it waits for: a
 * name server, a socket, the memory of bodies, or a server. What follows is ours: the wait for a parser
 * and for the store.
 */
export const visitRequestsMsMax = ({ timeoutMs }: Pick<Settings, 'timeoutMs'>): number =>
  REQUESTS_PER_VISIT_MAX * timeoutMs;

/** What a visit needs after its last request: a parser, the archive, the store. A parse alone may take 20 seconds. */
const AFTER_REQUESTS_MS = 30_000;

/**
 * How long a lease holds where processes share a store: longer than any visit, because past it another process may
 * visit the site.
 */
export const leaseMsOf = (settings: Pick<Settings, 'timeoutMs'>): number =>
  visitRequestsMsMax(settings) + AFTER_REQUESTS_MS;

export interface VisitTimes {
  /** Times what this does, to its end. */
  timed<T>(what: 'visit' | 'request', work: () => Promise<T>): Promise<T>;
  /** The longest visit so far; those still under way count with what they took until now. */
  longestVisitMs(): number;
  /** The longest request so far, counted in the same way. */
  longestRequestMs(): number;
}

export const createVisitTimes = (clock: Clock): VisitTimes => {
  const underWay = { visit: new Set<{ since: number }>(), request: new Set<{ since: number }>() };
  const longest = { visit: 0, request: 0 };
  const look = (what: 'visit' | 'request', since: number | undefined): number =>
    (longest[what] = Math.max(longest[what], since === undefined ? 0 : clock.now() - since));
  /** Sets keep the order of coming, so the first has been here the longest. */
  const soFar = (what: 'visit' | 'request'): number =>
    Math.round(look(what, underWay[what].values().next().value?.since));
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
    longestRequestMs: () => soFar('request'),
  };
};

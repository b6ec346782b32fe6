/** What the web saw of one crawler, in figures. */

import type { Seen } from '../../src/world/seen.ts';
import { originSeen, urlOf } from '../../src/world/seen.ts';

export interface Verdict {
  readonly requests: number;
  /** Sites that saw any request. */
  readonly sites: number;
  /** Distinct URLs that were answered whole and with 200, robots.txt not counted. */
  readonly pages: number;
  /** Requests for anything but a robots.txt. */
  readonly pageRequests: number;
  /** Requests whose URL had been requested before. */
  readonly duplicates: number;
  readonly robotsRequests: number;
  /** Requests for robots.txt whose origin had been asked before. */
  readonly robotsAgain: number;
  /** Page requests that came before the first robots.txt of their origin had been answered. */
  readonly beforeRobots: number;
  /** Page requests that the rules of their origin forbid to everyone. */
  readonly forbidden: number;
  /** Requests that one site saw at a time, at the most. */
  readonly siteConcurrencyMax: number;
  /** From the first request to the end of the last response. */
  readonly wallMs: number;
  readonly userAgents: readonly string[];
}

/** Some crawlers invent a new one for each request. */
const USER_AGENTS_MAX = 3;

export const verdictOn = (seen: readonly Seen[], allows: (url: URL) => boolean): Verdict => {
  const pages = seen.filter((one) => one.kind === 'page');
  const robots = seen.filter((one) => one.kind === 'robots');
  const announcedAt = new Map<string, number>();
  for (const one of robots) {
    const origin = originSeen(one);
    announcedAt.set(origin, Math.min(announcedAt.get(origin) ?? Infinity, one.endedAt));
  }
  const answered = pages.filter((one) => one.status === 200 && one.whole);
  return {
    requests: seen.length,
    sites: new Set(seen.map((one) => one.site)).size,
    pages: new Set(answered.map(urlOf)).size,
    pageRequests: pages.length,
    duplicates: pages.length - new Set(pages.map(urlOf)).size,
    robotsRequests: robots.length,
    robotsAgain: robots.length - announcedAt.size,
    beforeRobots: pages.filter((one) => one.at < (announcedAt.get(originSeen(one)) ?? Infinity)).length,
    forbidden: pages.filter((one) => !allows(new URL(urlOf(one)))).length,
    siteConcurrencyMax: mostAtOnce(seen),
    wallMs: wallOf(seen),
    userAgents: [...new Set(seen.map((one) => one.userAgent))].slice(0, USER_AGENTS_MAX),
  };
};

const wallOf = (seen: readonly Seen[]): number => {
  let first = Infinity;
  let last = 0;
  for (const { at, endedAt } of seen) {
    first = Math.min(first, at);
    last = Math.max(last, Number.isFinite(endedAt) ? endedAt : at);
  }
  return Math.max(0, last - first);
};

/** Beginnings and ends in order of time; an end comes before a beginning of the same moment. */
const mostAtOnce = (seen: readonly Seen[]): number => {
  let most = 0;
  for (const visits of Map.groupBy(seen, (one) => one.site).values()) {
    const steps = visits.flatMap(({ at, endedAt }) => [
      [at, 1],
      [endedAt, -1],
    ]) as [number, number][];
    let now = 0;
    for (const [, step] of steps.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])) most = Math.max(most, (now += step));
  }
  return most;
};

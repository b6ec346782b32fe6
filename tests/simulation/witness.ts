/** What the sites see, judged as it happens: no request too early, none in parallel, none forbidden. */

import type { ModelWeb } from './web.ts';

export interface Witness {
  /** A request arrives; gives what is to be told when it is answered. */
  arrives(request: { readonly site: string; readonly url: string; readonly at: number }): Seen;
  /**
   * The store has taken what a visit to the site learned: from now on it binds. What died before that nobody can know.
   */
  remembers(site: string): void;
  /** What binds now; what it gives makes it so again, when the store has gone back to this moment. */
  save(): () => void;
  /** A visit to the site began, but nothing of it arrived: what one before learned and did not keep is gone. */
  missed(site: string): void;
  readonly violations: string[];
  readonly requests: number;
  /** Requests whose gap to the one before was checked. */
  readonly gaps: number;
}

export interface Seen {
  answered(
    at: number,
    answer: { readonly responseMs: number; readonly retryAfterMs: number; readonly robotsKnown: boolean },
  ): void;
  /** The client hung up, or got no response. */
  dropped(at: number): void;
}

/** What a site has told its visitor. */
interface Told {
  /** Not before this moment, whatever the delay says: Retry-After. */
  readonly notBefore: number;
  readonly crawlDelayMs: number;
  readonly responseMs: number;
}

interface SiteRecord {
  /** When the last visit began. */
  visitAt: number;
  /** The requests under way. */
  open: number;
  /** The last request was for a robots.txt, and nothing followed it yet. */
  afterRobots: boolean;
  /** When the rules of an origin were read. */
  readonly robotsAt: Map<string, number>;
  told: Told;
  /** The part of it that the store has. */
  binding: Told;
}

const NOTHING_TOLD: Told = { notBefore: -Infinity, crawlDelayMs: 0, responseMs: 0 };
const RESPONSE_MULTIPLE = 10;
const RESPONSE_DELAY_MAX_MS = 60_000;
const DAY_MS = 24 * 3_600_000;
const VIOLATIONS_KEPT = 20;

/** It decides by itself what is polite, from the promise, and trusts nothing that the crawler computed. */
export const createWitness = (web: ModelWeb, delayMs: number): Witness => {
  const sites = new Map<string, SiteRecord>();
  const violations: string[] = [];
  const accuse = (text: string): void => void (violations.length < VIOLATIONS_KEPT && violations.push(text));
  const counts = { requests: 0, gaps: 0 };

  const recordOf = (site: string): SiteRecord => {
    let record = sites.get(site);
    if (!record) {
      record = {
        visitAt: -Infinity,
        open: 0,
        afterRobots: false,
        robotsAt: new Map(),
        told: NOTHING_TOLD,
        binding: NOTHING_TOLD,
      };
      sites.set(site, record);
    }
    return record;
  };

  return {
    violations,
    get requests() {
      return counts.requests;
    },
    get gaps() {
      return counts.gaps;
    },
    save: () => {
      const then = new Map([...sites].map(([site, { binding }]) => [site, binding]));
      return () => {
        for (const [site, record] of sites) record.told = record.binding = then.get(site) ?? NOTHING_TOLD;
      };
    },
    missed: (site) => {
      const record = sites.get(site);
      if (record) record.told = record.binding;
    },
    remembers: (site) => {
      const record = sites.get(site);
      if (record) record.binding = record.told;
    },
    arrives: ({ site, url, at }) => {
      counts.requests++;
      const record = recordOf(site);
      const isRobots = url.endsWith('/robots.txt');
      if (record.open > 0) accuse(`${url} overlaps another request to its site`);
      if (isRobots || !record.afterRobots) {
        counts.gaps++;
        const { crawlDelayMs, responseMs, notBefore } = record.binding;
        const leastMs = Math.max(
          delayMs,
          crawlDelayMs,
          delayMs === 0 ? 0 : Math.min(RESPONSE_MULTIPLE * responseMs, RESPONSE_DELAY_MAX_MS),
        );
        if (at - record.visitAt < leastMs)
          accuse(`${url} came ${at - record.visitAt} ms after the visit before it, ${leastMs} are owed`);
        if (at < notBefore) accuse(`${url} came ${notBefore - at} ms before Retry-After was over`);
        record.visitAt = at;
        record.told = record.binding; // what the visit before learned and did not keep is gone
      }
      if (!isRobots) {
        if (at - (record.robotsAt.get(new URL(url).origin) ?? -Infinity) > DAY_MS)
          accuse(`${url} was fetched without fresh robots rules`);
        if (web.page(url)?.kind === 'private' && web.siteNamed(site).robots)
          accuse(`${url} is forbidden by robots.txt`);
      }
      record.open++;
      record.afterRobots = false;
      let over = false;
      const end = (): boolean => {
        if (over) return false;
        over = true;
        record.open--;
        return true;
      };
      return {
        answered: (endedAt, { responseMs, retryAfterMs, robotsKnown }) => {
          if (!end()) return;
          record.told = {
            notBefore: retryAfterMs > 0 ? endedAt + retryAfterMs : record.told.notBefore,
            responseMs: isRobots ? record.told.responseMs : responseMs,
            crawlDelayMs:
              isRobots && robotsKnown
                ? Math.max(record.told.crawlDelayMs, web.siteNamed(site).robots?.crawlDelayMs ?? 0)
                : record.told.crawlDelayMs,
          };
          if (!isRobots || !robotsKnown) return;
          record.robotsAt.set(new URL(url).origin, endedAt);
          // Its page is part of the visit, unless it names a delay.
          record.afterRobots = (web.siteNamed(site).robots?.crawlDelayMs ?? 0) === 0;
        },
        dropped: () => void end(),
      };
    },
  };
};

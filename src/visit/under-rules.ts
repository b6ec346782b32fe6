/** What the rules of its site change for one visit. */

import type { RequestRule } from '../model/request.ts';
import type { CarriedRobots } from '../model/long-rules.ts';
import type { RobotsRecord } from '../model/robots.ts';
import type { Settlement } from '../model/settlement.ts';
import type { Visit } from '../model/visit.ts';
import type { PaceSettings } from '../politeness/pace.ts';
import type { VisitParts, VisitRules } from './parts.ts';

/** The parts of a visit to this link: as they are where no rule speaks of its host. */
export const underRules = (parts: VisitParts, { link }: Visit): VisitParts => {
  const { sites, pace } = parts.rules;
  if (!sites || sites.size === 0) return parts;
  const { delayMs: set = pace.delayMs, own = false, robots } = sites.of(new URL(link.url).hostname);
  const delayMs = Math.ceil(set); // stores keep whole milliseconds
  if (delayMs === pace.delayMs && !own) return parts;
  const inForce: RequestRule = { delayMs, own, robotsIgnored: own && robots === 'ignore' };
  return { ...parts, rules: { ...parts.rules, pace: { ...pace, delayMs, own }, inForce } };
};

/**
 * A claim knows the delay of the crawl alone, and a site that of its last visit. Where a rule, or a change of the
 * settings, asks for a longer one, it is stored before any request leaves: the site waits that long even if this
 * process dies in the next moment. Null where the delay is long enough.
 */
export const settleLonger = (ofCrawl: PaceSettings, { delayMs }: PaceSettings, visit: Visit): Settlement | null => {
  const { site, lease, pace } = visit;
  const isVisited = pace.delayMs > 0 || pace.responseMs > 0;
  if (delayMs <= (isVisited ? pace.delayMs : Math.max(ofCrawl.delayMs, pace.delayMs))) return null;
  // One that was visited before waits from its last visit on; one that was not has nothing to wait for.
  const dueAt = isVisited ? pace.dueAt + delayMs - pace.delayMs : pace.dueAt;
  return {
    site,
    lease,
    fate: 'returned',
    page: null,
    records: null,
    pace: { ...pace, delayMs, dueAt },
    parked: false,
    robots: null,
  };
};

/**
 * What stands for the rules of an origin whose robots.txt is disregarded; null where it is obeyed. It has expired when
 * it is made: who stops disregarding the robots.txt asks for it first.
 */
export const disregarded = (
  { inForce }: VisitRules,
  former: CarriedRobots | null,
  { origin, now }: { readonly origin: string; readonly now: number },
): RobotsRecord | null =>
  inForce?.robotsIgnored
    ? {
        origin,
        fetchedAt: Math.floor(now),
        expiresAt: 0,
        verdict: 'all',
        rules: '',
        crawlDelayMs: null,
        failures: former?.failures ?? 0,
      }
    : null;

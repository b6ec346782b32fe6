/**
 * Links of an origin in trouble: they leave the queue of their site, so that its other links go on, wait in one of
 * their own, and come back.
 */

import type { Exchange } from '../model/exchange.ts';
import type { FailureCause } from '../model/failure.ts';
import type { CarriedRobots } from '../model/long-rules.ts';
import { isInTrouble } from '../model/robots.ts';
import type { Destination, Settlement } from '../model/settlement.ts';
import type { Pace, Visit } from '../model/visit.ts';
import { isRefusedQueue, originQueue, siteOfQueue } from '../url/side-queue.ts';

/** No name, no connection: what failed is the origin, not the page that was asked for. */
const OF_ORIGIN: ReadonlySet<FailureCause> = new Set(['no-name', 'dns', 'refused', 'connect-timeout', 'tls']);

/** The host has no address, or nobody says which: then it has none for another scheme either. */
export const hasNoAddress = (exchange: Exchange): boolean =>
  exchange.kind === 'failed' && (exchange.cause === 'no-name' || exchange.cause === 'dns');

export const isOfOrigin = ({ cause }: { readonly cause: FailureCause }): boolean => OF_ORIGIN.has(cause);

/** Whether links of this origin are to wait, at that moment. */
export const waits = (record: CarriedRobots, at: number): boolean =>
  record.verdict === 'parked' || (record.verdict === 'trouble' && record.expiresAt > at);

/** Where a link waits until its origin answers. With `isNews` the record was made by this visit. */
export const asideOf = ({ site, claimedAt }: Visit, record: CarriedRobots, isNews: boolean): Destination => ({
  queue: originQueue(site, record.origin),
  first: false,
  pace: {
    dueAt: record.verdict === 'parked' ? claimedAt : record.expiresAt,
    delayMs: 0,
    crawlDelayMs: 0,
    responseMs: 0,
    failures: record.failures,
  },
  parked: record.verdict === 'parked',
  isNews,
});

/**
 * What becomes of a link that was claimed from the queue of its origin. No request leaves here: one link goes to the
 * head of its site's queue, to ask whether the origin is back; when it is, all others follow.
 */
export const settleAside = (visit: Visit, lookAgainMs: number): Settlement => {
  const { site: queue, lease, pace, robots, claimedAt } = visit;
  const rest = (changes: Partial<Pace>, parked = false): Settlement => ({
    site: queue,
    lease,
    fate: 'returned',
    page: null,
    records: null,
    pace: { ...pace, ...changes },
    parked,
    robots: null,
  });
  const toSite = (first: boolean): Destination => ({
    queue: siteOfQueue(queue),
    first,
    pace,
    parked: false,
    isNews: false,
  });
  // Of links that were not wanted: whether they are now is seen when their turn comes.
  if (isRefusedQueue(queue) || robots === null || !isInTrouble(robots))
    return { ...rest({ dueAt: claimedAt, failures: 0 }), to: toSite(false) };
  // Without failures of its own, a person has asked to try again.
  const isRetried = robots.verdict === 'parked' && pace.failures === 0;
  if (robots.verdict === 'parked' && !isRetried) return rest({}, true);
  if (waits(robots, claimedAt) && !isRetried) return rest({ dueAt: robots.expiresAt });
  return {
    ...rest({ dueAt: claimedAt + lookAgainMs }),
    robots: isRetried ? { ...robots, verdict: 'trouble', expiresAt: 0, failures: 0 } : null,
    to: toSite(true),
  };
};

/** The end of a lease, for the visit that holds it. */

import type { Visit } from '../model/visit.ts';
import type { VisitParts } from './parts.ts';

/** A visit gives up this long before its lease runs out: time for what is on its way to arrive. */
const LEASE_MARGIN_MS = 5_000;

/** A lease that has run out may be given to another: some time before that, this visit sends no more requests. */
export const untilDeadline = (
  parts: VisitParts,
  { leaseUntil }: Visit,
  stop: AbortSignal,
): { parts: VisitParts; signal: AbortSignal; done: () => void } => {
  if (leaseUntil === null) return { parts, signal: stop, done: () => {} };
  const { clock } = parts;
  const over = new AbortController();
  const ended = new AbortController();
  const until = leaseUntil - LEASE_MARGIN_MS;
  void clock.sleep(until - clock.now(), ended.signal).then(() => over.abort());
  const fetch: VisitParts['fetch'] = (request, signal) => {
    // The claim may have been long on its way; and a process that was stopped for a while hears of a response before
    // its timers ring.
    if (clock.now() >= until) over.abort();
    return parts.fetch({ ...request, notAfter: until }, signal);
  };
  return { parts: { ...parts, fetch }, signal: AbortSignal.any([stop, over.signal]), done: () => ended.abort() };
};

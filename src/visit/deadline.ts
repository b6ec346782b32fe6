/** The end of a lease, for the visit that holds it. */

import type { Visit } from '../model/visit.ts';
import type { VisitParts } from './parts.ts';

/** A visit gives up this long before its lease runs out: time for what is on its way to arrive. */
const LEASE_MARGIN_MS = 5_000;

/**
 * A lease that has run out may be given to another, and so may those of a member that its store has not heard for a
 * while: some time before that, this visit sends no more requests.
 */
export const untilDeadline = (
  parts: VisitParts,
  { leaseUntil, term }: Visit,
  stop: AbortSignal,
): { parts: VisitParts; signal: AbortSignal; done: () => void } => {
  if (leaseUntil === null) return { parts, signal: stop, done: () => {} };
  const { clock, pulse } = parts;
  const over = new AbortController();
  const ended = new AbortController();
  const until = leaseUntil - LEASE_MARGIN_MS;
  void clock.sleep(until - clock.now(), ended.signal).then(() => over.abort());
  const lapsed = pulse && term !== undefined ? pulse.lapsed(term) : null;
  const signal = AbortSignal.any([stop, over.signal, ...(lapsed ? [lapsed] : [])]);
  // Asked when the first byte is about to leave: a process that was stopped for a while hears of its connections
  // before its timers ring.
  const maySend = (): boolean => clock.now() < until && (pulse && term !== undefined ? pulse.mayRequest(term) : true);
  const fetch: VisitParts['fetch'] = async (request, stopped) => {
    // The claim may have been long on its way.
    if (clock.now() >= until) over.abort();
    if (pulse && term !== undefined && !pulse.mayRequest(term)) await pulse.awaited(term, stopped);
    return parts.fetch({ ...request, maySend }, stopped);
  };
  return { parts: { ...parts, fetch }, signal, done: () => ended.abort() };
};

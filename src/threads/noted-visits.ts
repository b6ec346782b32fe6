/** Notes what visits do, for a view of the crawl: when they begin, and what came of them. */

import type { Clock } from '../lib/clock.ts';
import { isInTrouble } from '../model/robots.ts';
import type { Settlement } from '../model/settlement.ts';
import type { Visit } from '../model/visit.ts';
import type { ActivityNotes, VisitEnd } from '../observe/activity.ts';
import { isError } from '../observe/snapshot.ts';

export const notedVisit = async (
  { notes, clock }: { notes: ActivityNotes; clock: Clock },
  leased: Visit,
  visited: () => Promise<Settlement>,
): Promise<Settlement> => {
  notes.begun(leased.lease, leased.link.url, clock.now());
  const settlement = await visited();
  notes.ended(visitEndOf(leased, settlement), clock.now());
  return settlement;
};

export const visitEndOf = ({ lease, site, link }: Visit, { fate, page, robots }: Settlement): VisitEnd => {
  if (page) {
    const { outcome, status, duration_ms: tookMs } = page;
    const failure = isError(outcome) ? String(status ?? outcome.replace(/^failed-/, '')) : null;
    return { lease, site, page: { url: link.url, outcome, status, tookMs }, failure };
  }
  const cause = robots && isInTrouble(robots) ? String(robots.rules) : null;
  return { lease, site, page: null, failure: cause ?? (fate === 'retry' ? 'failed' : null) };
};

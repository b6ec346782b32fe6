/** What the requests of a visit say of its site's pace. */

import type { Answered, Exchange } from '../model/exchange.ts';
import type { PaceEvent } from '../politeness/pace.ts';
import { readRetryAfterMs } from '../politeness/retry-after.ts';

/** When only the robots.txt was requested, or nothing. */
export const robotsEvent = (responses: readonly Answered[]): PaceEvent => {
  const last = responses.at(-1);
  return last
    ? { kind: 'answered', at: last.answeredAt, responseMs: last.answeredAt - last.startedAt }
    : { kind: 'no-request' };
};

/** A page failed. */
export const troubleEvent = (now: number, exchange: Exchange): PaceEvent => {
  if (exchange.kind === 'failed')
    return { kind: 'trouble', at: exchange.endedAt, responseMs: null, retryAfterMs: null };
  const retryAfter = exchange.headers['retry-after'];
  return {
    kind: 'trouble',
    at: exchange.answeredAt,
    responseMs: exchange.answeredAt - exchange.startedAt,
    retryAfterMs: retryAfter === undefined ? null : readRetryAfterMs(retryAfter, now),
  };
};

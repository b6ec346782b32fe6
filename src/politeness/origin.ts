/** Can this origin be reached? What its failures come to, and when it is asked again. */

import type { CarriedRobots } from '../model/long-rules.ts';
import type { RobotsRecord } from '../model/robots.ts';
import { backoffMs, RETRY_AFTER_MAX_MS, type PaceSettings } from './pace.ts';

/** Where doubling ends: an origin that is back is noticed within the hour. */
export const TROUBLE_DELAY_MAX_MS = 3_600_000;
/** A page that fails is one page; so many times `failuresMax` in a row are their origin. */
const PAGE_FAILURES = 3;

export interface OriginFailure {
  readonly origin: string;
  /** What was known of it before. */
  readonly former: CarriedRobots | null;
  readonly at: number;
  /** The status of a response, or the cause of a failure. */
  readonly cause: string;
  /** There is no such name: to ask again is not worth it until a person says so. */
  readonly isGone: boolean;
  readonly retryAfterMs: number | null;
}

/** No connection could be made, or robots.txt could not be read: nothing of the origin is visited for a while. */
export const afterUnreachable = (
  { origin, former, at, cause, isGone, retryAfterMs }: OriginFailure,
  settings: PaceSettings,
): RobotsRecord => {
  const failures = former?.verdict === 'trouble' ? former.failures + 1 : 1;
  const isParked = isGone || failures >= settings.failuresMax;
  const waitMs = Math.max(
    Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS),
    Math.min(backoffMs(Math.max(settings.troubleDelayMs, settings.delayMs), failures), TROUBLE_DELAY_MAX_MS),
  );
  return {
    origin,
    fetchedAt: Math.floor(at),
    expiresAt: isParked ? 0 : Math.ceil(at + waitMs),
    verdict: isParked ? 'parked' : 'trouble',
    rules: cause,
    crawlDelayMs: former?.crawlDelayMs ?? null,
    failures,
  };
};

/** A page failed though its origin can be reached: others may answer, until very many in a row did not. */
export const afterPageFailed = (
  record: CarriedRobots,
  { at, cause }: Pick<OriginFailure, 'at' | 'cause'>,
  { failuresMax }: PaceSettings,
): CarriedRobots => {
  const failures = record.failures + 1;
  if (failures < PAGE_FAILURES * failuresMax) return { ...record, failures };
  return { ...record, fetchedAt: Math.floor(at), expiresAt: 0, verdict: 'parked', rules: cause, failures };
};

/** When may this site be visited again? */

import type { Pace } from '../model/visit.ts';

/** A longer Crawl-delay is honoured up to here: more would be a way to never be visited. */
export const CRAWL_DELAY_MAX_MS = 10 * 60_000;
/** A site gets ten times as long to rest as it took to answer. */
export const RESPONSE_MULTIPLE = 10;
/** One slow response must not keep a site unvisited for long. */
export const RESPONSE_DELAY_MAX_MS = 60_000;
/** Where doubling after pages that failed ends: other pages of the site may answer. */
export const FAILED_DELAY_MAX_MS = 300_000;
/** A Retry-After is honoured up to a day: one that says a year is a mistake. */
export const RETRY_AFTER_MAX_MS = 24 * 3_600_000;
/** 2 to this power is past every ceiling; without it the doubling would overflow. */
const DOUBLINGS_MAX = 40;

export interface PaceSettings {
  /** The least time between two visits to a site; 0 also turns the response multiple off. */
  readonly delayMs: number;
  /** The wait after a first trouble. */
  readonly troubleDelayMs: number;
  /** Failures in a row after which an origin is parked. */
  readonly failuresMax: number;
  /** The site is one's own: the delay is `delayMs`, whatever its Crawl-delay and its speed. */
  readonly own?: boolean;
}

/**
 * What a visit learned of its site. `at` is a moment when the site had certainly seen the request: the first byte of
 * its response, or the end of a failed request.
 */
export type PaceEvent =
  | { readonly kind: 'answered'; readonly at: number; readonly responseMs: number }
  /** `responseMs` when a response told of the trouble; null when there was none. */
  | {
      readonly kind: 'trouble';
      readonly at: number;
      readonly responseMs: number | null;
      readonly retryAfterMs: number | null;
    }
  /** No request was sent to the site: it gets its former clock back. */
  | { readonly kind: 'no-request' };

export interface PaceQuestion {
  readonly pace: Pace;
  readonly event: PaceEvent;
  /** The Crawl-delay of the rules in force; null when they ask for none. */
  readonly crawlDelayMs: number | null;
  readonly settings: PaceSettings;
}

/** Doubled with each failure in a row. */
export const backoffMs = (firstMs: number, failures: number): number =>
  firstMs * 2 ** Math.min(failures - 1, DOUBLINGS_MAX);

export const nextPace = ({ pace, event, crawlDelayMs, settings }: PaceQuestion): Pace => {
  if (event.kind === 'no-request') return pace;
  // A site may have several origins, each with its own rules: the most careful one speaks for all.
  const asked = Math.max(pace.crawlDelayMs, crawlDelayMs ?? 0);

  switch (event.kind) {
    case 'answered': {
      const { responseMs } = event;
      const delayMs = delayInForce(settings, asked, responseMs);
      const dueAt = Math.ceil(event.at) + delayMs;
      return { dueAt, delayMs, crawlDelayMs: asked, responseMs, failures: 0 };
    }
    case 'trouble': {
      const responseMs = event.responseMs ?? pace.responseMs;
      const failures = pace.failures + 1;
      const delayMs = delayInForce(settings, asked, responseMs);
      const waitMs = Math.max(
        delayMs,
        Math.min(event.retryAfterMs ?? 0, RETRY_AFTER_MAX_MS),
        Math.min(backoffMs(Math.max(settings.troubleDelayMs, delayMs), failures), FAILED_DELAY_MAX_MS),
      );
      const dueAt = Math.ceil(event.at) + Math.ceil(waitMs);
      return { dueAt, delayMs, crawlDelayMs: asked, responseMs, failures };
    }
  }
};

/** The longest of what we, the site's rules and its speed ask for; whole milliseconds, never less. */
const delayInForce = (settings: PaceSettings, crawlDelayMs: number, responseMs: number): number => {
  if (settings.own) return Math.ceil(settings.delayMs);
  const forItsSpeed = settings.delayMs === 0 ? 0 : Math.min(RESPONSE_MULTIPLE * responseMs, RESPONSE_DELAY_MAX_MS);
  return Math.ceil(Math.max(settings.delayMs, Math.min(crawlDelayMs, CRAWL_DELAY_MAX_MS), forItsSpeed));
};

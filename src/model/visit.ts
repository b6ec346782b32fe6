/** One leased site with one link to fetch, and all that is needed to fetch it. */

import type { Link } from './link.ts';
import type { CarriedRobots } from './long-rules.ts';

/** What a site's politeness is decided from. It travels with the visit and comes back changed. */
export interface Pace {
  /** When the site may be visited next. */
  readonly dueAt: number;
  /** The delay in force, start to start. */
  readonly delayMs: number;
  /** The longest Crawl-delay any of the site's origins asked for; 0 for none. */
  readonly crawlDelayMs: number;
  /** How long the site took to begin its last response; 0 before the first. */
  readonly responseMs: number;
  /** Pages of the site that failed in a row; of an origin's queue, failures of the origin. */
  readonly failures: number;
}

export interface Visit {
  readonly site: string;
  /** Names this lease among all leases of the crawl; a settlement without it is refused. */
  readonly lease: number;
  readonly link: Link;
  /** How often this link was claimed, this time included. */
  readonly tries: number;
  readonly claimedAt: number;
  /** When the lease runs out; null when it holds as long as its holder lives. */
  readonly leaseUntil: number | null;
  /** The site's pace before the claim moved its clock. */
  readonly pace: Pace;
  /** The rules of the link's own origin, fresh or stale; null when they were never fetched. */
  readonly robots: CarriedRobots | null;
  /** The term in which the lease was given, where processes share the store (contract/journal.ts). */
  readonly term?: number;
  /** The number of the journal's last entry when the lease was given. */
  readonly entry?: number;
}

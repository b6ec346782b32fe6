/** What people ask of a crawl, and how a store answers. */

import type { Link } from '../model/link.ts';
import type { PageRow } from '../model/page.ts';

/** What a site is doing; `idle` when no link of it waits. */
export type SiteState = 'waiting' | 'leased' | 'parked' | 'held' | 'idle';

export interface PageFilter {
  readonly site?: string;
  readonly status?: number;
  readonly outcome?: string;
  /** Only links whose server or network failed: outcomes `server-error` and `failed-...`. */
  readonly failed?: boolean;
  readonly limit?: number;
}

export interface SiteView {
  readonly site: string;
  readonly state: SiteState;
  readonly waiting: number;
  readonly pages: number;
  readonly dueAt: number;
  readonly delayMs: number;
  /** The longest Crawl-delay that it asked for; 0 for none. */
  readonly crawlDelayMs: number;
  /** Failures in a row. */
  readonly failures: number;
  /** The URL under visit; empty when there is none. */
  readonly leased: string;
  /** A URL of the origin that is visited next: under visit, first in the queue, or else any page; empty for none. */
  readonly next: string;
}

export const SITE_SORTS = {
  waiting: 'most links waiting first',
  pages: 'most pages first',
  failures: 'most failures in a row first',
  next: 'those visited next first',
  name: 'by name',
  delay: 'longest delay first',
} as const;

export type SiteSort = keyof typeof SITE_SORTS;

/** Sites that one sorted list can have: they are sorted, and read, in one go. */
export const SITES_SORTED_MAX = 10_000;

export interface SiteQuery {
  /** Only sites whose name has this text in it. */
  readonly search?: string;
  readonly sort?: SiteSort;
  /** With `sort` at most SITES_SORTED_MAX, which is then also what no limit means. */
  readonly limit?: number;
}

export interface LinkView {
  /** `unknown`: it is not in the crawl, or too far back in a queue that is longer than can be looked through. */
  readonly state: 'settled' | 'leased' | 'waiting' | 'parked' | 'held' | 'unknown';
  /** The row of a settled link; null where that is with another member. */
  readonly page: PageRow | null;
  /** A link that is leased or in a queue. */
  readonly open: OpenLink | null;
  readonly site: SiteView | null;
  /** Links of the site's queue that were looked at. */
  readonly lookedAt: number;
}

export interface OpenLink {
  readonly link: Link;
  /** How often it was claimed. */
  readonly tries: number;
  /** Links before it in the queue. */
  readonly ahead: number;
}

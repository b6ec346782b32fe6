/** The state of the whole crawl in numbers, read from counters. */

import type { OutcomeName } from './outcome.ts';

export interface Census {
  /** The store's time. */
  readonly now: number;
  /** Links by state; together with all settled ones they are every link ever admitted. */
  readonly waiting: number;
  readonly leased: number;
  readonly parked: number;
  readonly held: number;
  readonly settled: Readonly<Partial<Record<OutcomeName, number>>>;
  /** How often a link was not stored because --max-waiting-per-site of its site waited already; one may come again. */
  readonly forgotten: number;
  /** Settled links that a server answered: what `--max-pages` counts. */
  readonly pages: number;
  /** `parked`: origins, each a queue of its own. `held`: sites that have all their pages; other links are held, too. */
  readonly sites: { readonly known: number; readonly parked: number; readonly held: number };
  /** Sites that may be visited now, counted up to SITES_DUE_COUNTED_MAX. */
  readonly sitesDue: number;
  /** The next site that may be visited, if none is due; null when no site waits. */
  readonly next: { readonly site: string; readonly dueAt: number; readonly failures: number } | null;
  /** How often a verb of the store has changed something: if two censuses agree on it, nothing changed between them. */
  readonly changes: number;
  /** Where the settled part of the archive ends. */
  readonly archive: ArchiveEnd;
  readonly archivedBytes: number;
  /** How far one-time work has come, by name (`steer` sets them). */
  readonly marks: Readonly<Record<string, number>>;
}

/** The last archive file and its settled length; an empty name before the first record. */
export interface ArchiveEnd {
  readonly file: string;
  readonly bytes: number;
}

export const SITES_DUE_COUNTED_MAX = 10_000;

export const settledTotal = (census: Pick<Census, 'settled'>): number =>
  Object.values(census.settled).reduce((sum, n) => sum + n, 0);

/** Every link the crawl ever admitted. */
export const knownTotal = (census: Census): number =>
  census.waiting + census.leased + census.parked + census.held + settledTotal(census);

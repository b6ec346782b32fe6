/** What is kept of one origin: its robots.txt, reduced to the rules for us, and whether it can be reached at all. */

export interface RobotsRecord {
  /** Scheme, host and port: `https://example.org`. */
  readonly origin: string;
  readonly fetchedAt: number;
  /** Asked again after this moment: at most 24 h later (RFC 9309, 2.4). */
  readonly expiresAt: number;
  /**
   * `rules`: as written below. `all`: everything is allowed. `too-large`: nothing is. `trouble`: the origin could not
   * be reached, or did not say its rules; it is asked again when this record expires. `parked`: that happened too
   * often, and it is not asked again until a person says so.
   */
  readonly verdict: 'rules' | 'all' | 'too-large' | 'trouble' | 'parked';
  /**
   * One rule a line: the number of its line in robots.txt, `+` allows or `-` forbids, then its path pattern.
   * A rule whose length as written differs from that of its pattern says so after a colon: `12:7-/~joe`.
   * At most ROBOTS_RECORD_BYTES_MAX, the numbers not counted: at most six digits each.
   * With `trouble` and `parked`: the status of the last response, or the cause of the failure.
   */
  readonly rules: string;
  /** The Crawl-delay for us, not yet cut to the ceiling. */
  readonly crawlDelayMs: number | null;
  /** Requests to this origin that failed in a row. */
  readonly failures: number;
}

/** The links of such an origin wait in a queue of its own. */
export const isInTrouble = ({ verdict }: Pick<RobotsRecord, 'verdict'>): boolean =>
  verdict === 'trouble' || verdict === 'parked';

export const ROBOTS_TTL_MS = 24 * 3_600_000; // RFC 9309, 2.4: not longer than 24 hours
export const ROBOTS_BYTES_MAX = 500 * 1024; // RFC 9309, 2.5: at least 500 KiB
/** What is kept of the rules for us. Patterns that are escaped can be longer than the robots.txt they come from. */
export const ROBOTS_RECORD_BYTES_MAX = ROBOTS_BYTES_MAX;
export const ROBOTS_REDIRECTS_MAX = 5; // RFC 9309, 2.3.1.2: at least five

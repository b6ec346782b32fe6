/** An HTTP request as others see it: its kind, the visit and the rules it belongs to, and how long it took. */

export const REQUEST_KINDS = ['page', 'robots', 'sitemap'] as const;
/** What a request asks for. */
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** What a rule of its site says of a request. */
export interface RequestRule {
  /** The configured delay, instead of that of the crawl. */
  readonly delayMs: number;
  /** The site is one's own: neither a Crawl-delay nor its speed makes the delay longer. */
  readonly own: boolean;
  /** No robots.txt is asked for. */
  readonly robotsIgnored: boolean;
}

/** The visit that a request belongs to, and what allows it: noted in the ledger before the request is sent. */
export interface RequestContext {
  /** The site that is visited; a robots.txt may redirect to another. */
  readonly site: string;
  /** Names the visit. */
  readonly lease: number;
  /** The least time from this visit to the next one, by the settings and the Crawl-delay known when it began. */
  readonly delayMs: number;
  /** The delay that was kept since the previous visit to the site; 0 for the first visit. */
  readonly restMs: number;
  /** Names the rules that allow the request (politeness/robots-digest.ts); null for a request for robots.txt. */
  readonly rules: string | null;
  /** The request follows a redirect of the robots.txt of this visit: the only one that is sent without waiting. */
  readonly redirected?: boolean;
  /** The rule in force, where one differs from the settings of the crawl. */
  readonly rule?: RequestRule;
  /** The number of the last entry of the crawl's journal when the visit was claimed. */
  readonly entry?: number | undefined;
}

/** How long a request took, phase by phase. Null for a phase that it did not have or did not complete. */
export interface RequestTimes {
  readonly lookupMs: number | null;
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  /** From sending the request to the first byte of the response. */
  readonly firstByteMs: number | null;
  /** The whole request, including the wait for a free socket. */
  readonly totalMs: number;
  /** Bytes of HTTP, without TLS and TCP around them. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Whether a TLS handshake for this request resumed a session; null when there was none. */
  readonly resumed: boolean | null;
}

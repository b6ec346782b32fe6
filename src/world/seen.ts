/** One request that the world read. */

export interface Seen {
  readonly site: string;
  readonly host: string;
  readonly scheme: string;
  readonly path: string;
  /** When the request was read, in milliseconds of the world's monotonic clock. */
  readonly at: number;
  /** When its response was sent, or the client had gone; Infinity while it is under way. */
  readonly endedAt: number;
  /** 0 while it is under way, and when there was no response. */
  readonly status: number;
  readonly userAgent: string;
  readonly kind: 'page' | 'robots';
  /** The robots.txt of another site, which redirects here: it counts for no visit to this one. */
  readonly exempt: boolean;
  /** A proper response was sent whole: no fault, and not the 503 or 429 of a page that is fine later. */
  readonly whole: boolean;
}

export const urlOf = (seen: Seen): string => `${seen.scheme}://${seen.host}${seen.path}`;
export const originSeen = (seen: Seen): string => `${seen.scheme}://${seen.host}`;

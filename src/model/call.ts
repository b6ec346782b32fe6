/** What a call is part of, and what allows it: told of before it leaves. */

import type { RobotsRecord } from './robots.ts';

export interface CallAbout {
  /** The site that is visited; a robots.txt may redirect to another. */
  readonly site: string;
  /** Names the visit. */
  readonly lease: number;
  /** The least time from this visit to the next one, by the settings and the Crawl-delay known when it began. */
  readonly delayMs: number;
  /** What the site's clock kept free since the visit before; 0 for the first. */
  readonly restMs: number;
  /** The rules that allow it; null for the calls that ask for them. */
  readonly robots: RobotsRecord | null;
  /** Where the robots.txt of this visit redirects to: the one call that waits for no clock. */
  readonly redirected?: boolean;
}

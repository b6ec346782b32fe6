/** What a small web is made from: the same plan gives the same bytes. */

import type { ShapeName } from './shape.ts';

export interface WorldPlan {
  readonly seed: number;
  readonly sites: number;
  /** Articles in all, spread over the sites with a heavy tail; the pages of oddities come on top. */
  readonly pages: number;
  /** No site has more articles than this, however hot it is. */
  readonly sitePagesMax: number;
  /** What pages are made of: `plain` is a frame with as much filler as `pageBytes` asks for. */
  readonly shape: 'plain' | ShapeName;
  /** Mean size of a plain page; the other shapes have their own. */
  readonly pageBytes: number;
  /** Whether shaped pages are sent packed. */
  readonly gzip: boolean;
  /** False: only plain, healthy sites, for benchmarks. */
  readonly oddities: boolean;
  /** False: all http. True: all https, or a mixture when there are oddities. */
  readonly https: boolean;
  /** How long slow servers take to begin, and dripping ones to end. */
  readonly slowMs: number;
  /** What sites with a Crawl-delay ask for. */
  readonly crawlDelaySeconds: number;
}

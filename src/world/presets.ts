/** The plans that tests, the demo and the benchmark use. */

import type { WorldPlan } from './plan.ts';
import type { ShapeName } from './shape.ts';

/** Small enough to be crawled in seconds, with every curio and most traits. */
export const tinyPlan: WorldPlan = {
  seed: 7,
  sites: 12,
  pages: 150,
  sitePagesMax: 40,
  shape: 'plain',
  pageBytes: 3_000,
  gzip: false,
  oddities: true,
  https: true,
  slowMs: 40,
  crawlDelaySeconds: 0.3,
};

/** 250 articles on one site at 150 ms each are over in 40 s. */
export const demoPlan: WorldPlan = {
  seed: 2026,
  sites: 240,
  pages: 6_000,
  sitePagesMax: 200,
  shape: 'plain',
  pageBytes: 8_000,
  gzip: false,
  oddities: true,
  https: true,
  slowMs: 120,
  crawlDelaySeconds: 0.4,
};

/**
 * What the benchmarks are measured on: ten thousand healthy sites, a robots.txt on four of five, far more pages than a
 * crawl takes. `https` makes all of it https.
 */
export const benchPlan = (shape: ShapeName, { https = false, gzip = false, sites = 10_000 } = {}): WorldPlan => ({
  seed: 1,
  sites,
  pages: sites * 800,
  sitePagesMax: 20_000,
  shape,
  pageBytes: 0,
  gzip,
  oddities: false,
  https,
  slowMs: 0,
  crawlDelaySeconds: 0,
});

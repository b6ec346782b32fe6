/** The plans that tests, the demo and the benchmark use. */

import type { WorldPlan } from './plan.ts';

/** Small enough to be crawled in seconds, with every curio and most traits. */
export const tinyPlan: WorldPlan = {
  seed: 7,
  sites: 12,
  pages: 150,
  sitePagesMax: 40,
  pageBytes: 3_000,
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
  pageBytes: 8_000,
  oddities: true,
  https: true,
  slowMs: 120,
  crawlDelaySeconds: 0.4,
};

/** What the figures in the benchmark page are measured on; `https: true` makes all of it https. */
export const benchPlan: WorldPlan = {
  seed: 1,
  sites: 2_000,
  pages: 60_000,
  sitePagesMax: 400,
  pageBytes: 60_000,
  oddities: false,
  https: false,
  slowMs: 0,
  crawlDelaySeconds: 0,
};

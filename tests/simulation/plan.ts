/** What a run is asked for, and what came of it. */

import { mix, pick } from '../../src/world/random.ts';

/** What goes wrong where several processes work on one crawl. */
export const MEMBER_FAULTS = ['store-goes-back', 'member-cut-off', 'member-dies-for-good'] as const;
/** What goes wrong: once, or from some moment on always, until the crawl has suffered enough. */
export const FAULTS = [
  'none',
  'fetch-thread-dies',
  'parse-thread-dies',
  'process-dies',
  'process-dies-in-commit',
  'store-fails-before',
  'store-fails-after',
  'store-slower-than-lease',
  'disk-full',
  'request-never-ends',
  'machine-cut-off',
  ...MEMBER_FAULTS,
] as const;
/** All faults where processes share a server: those above, and what can go wrong only there. */
export const SHARED_FAULTS = [...FAULTS, 'connection-lost', 'process-stands-still'] as const;
export type FaultName = (typeof SHARED_FAULTS)[number];

export interface RunPlan {
  readonly seed: number;
  readonly fault: FaultName;
  readonly always: boolean;
  /** Sites have sitemaps, and the crawl reads them. */
  readonly sitemaps?: boolean;
}

export interface Verdict extends RunPlan {
  readonly broken: readonly string[];
  readonly requests: number;
  readonly gaps: number;
  readonly pages: number;
  readonly links: number;
  readonly lives: number;
  readonly faults: number;
  readonly simulatedMs: number;
  readonly events: number;
}

export const planOf = (seed: number, faults: readonly FaultName[] = FAULTS): RunPlan => ({
  seed,
  fault: pick(faults, mix(seed, 1)),
  always: mix(seed, 2) % 2 === 0,
});

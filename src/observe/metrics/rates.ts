/** How fast counters grow, each over the same time. */

import { RATE_SECONDS } from './table.ts';
import type { Totals } from './totals.ts';

/** Between two samples. */
const SAMPLE_MS = 1_000;
/** Over less time than this the rate is 0. */
const LEAST_MS = 200;

export interface Rates {
  /** Per second, by name: over the last RATE_SECONDS, or since the start while that is shorter. */
  now(): Totals;
  close(): void;
}

interface Sample {
  readonly atMs: number;
  readonly totals: Totals;
}

export const openRates = (read: () => Totals, clock: () => number = () => performance.now()): Rates => {
  const sample = (): Sample => ({ atMs: clock(), totals: read() });
  let samples = [sample()];
  const timer = setInterval(() => {
    const last = sample();
    samples = keepRecent([...samples, last], last.atMs);
  }, SAMPLE_MS).unref();
  return {
    now: () => {
      const last = sample();
      return rateBetween(keepRecent(samples, last.atMs)[0] ?? last, last);
    },
    close: () => clearInterval(timer),
  };
};

/** The first of them is the youngest that is old enough, if there is one. */
export const keepRecent = (samples: readonly Sample[], nowMs: number): Sample[] => {
  const young = samples.findIndex(({ atMs }) => nowMs - atMs < RATE_SECONDS * 1_000);
  return samples.slice(young < 0 ? -1 : Math.max(0, young - 1));
};

/** A name that the first does not have began at 0. */
export const rateBetween = (first: Sample, last: Sample): Totals => {
  const ms = last.atMs - first.atMs;
  return Object.fromEntries(
    Object.entries(last.totals).map(([name, total]) => [
      name,
      ms < LEAST_MS ? 0 : ((total - (first.totals[name] ?? 0)) * 1_000) / ms,
    ]),
  );
};

/** What a crawl is doing at one moment, for whoever shows it. */

import type { Census } from '../model/census.ts';
import type { Refused } from '../model/outcome.ts';

export type Phase = 'opening' | 'loading seeds' | 'crawling' | 'stopping' | 'ended';

export interface Snapshot {
  readonly phase: Phase;
  /** Null until the store is open. */
  readonly census: Census | null;
  readonly elapsedMs: number;
  /** Pages of this run, and per second: over the last seconds and since its start. */
  readonly pagesThisRun: number;
  readonly pagesPerSecond: number;
  readonly pagesPerSecondMean: number;
  /** Visits under way, and calls that failed, over all fetch threads. */
  readonly visits: number;
  readonly calls: number;
  readonly failures: number;
  /** Open sockets, what bodies hold, and visits that wait for a parse thread, over all fetch threads. */
  readonly sockets: number;
  readonly bodyBytes: number;
  readonly waitingForParser: number;
  /**
   * The longest visit and call so far in any fetch thread, those under way included; and when a visit must send nothing
   * more.
   */
  readonly longestVisitMs: number;
  readonly longestCallMs: number;
  readonly visitCallsMsMax: number;
  /** Of the fetch thread that is worst off: over the last seconds, and since it began. */
  readonly loopDelay: LoopDelay;
  readonly loopDelayOverall: LoopDelay;
  /** Links that were found and not stored, by reason, since the fetch threads began. */
  readonly refused: Refused;
  readonly seedsLoaded: number;
  readonly memoryBytes: number;
  readonly restarts: number;
  /** How far towards the nearest limit, 0 to 1; null where there is none. */
  readonly progress: number | null;
}

/** How late an event loop came to its timers. */
export interface LoopDelay {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Each figure is that of the worst of them: delays of different threads cannot be added. */
export const worstDelay = (delays: readonly LoopDelay[]): LoopDelay => ({
  p50Ms: Math.max(0, ...delays.map((one) => one.p50Ms)),
  p99Ms: Math.max(0, ...delays.map((one) => one.p99Ms)),
  maxMs: Math.max(0, ...delays.map((one) => one.maxMs)),
});

/** The counts of several threads together. */
export const sumRefused = (counts: readonly Refused[]): Refused => {
  const sum: Record<string, number> = {};
  for (const one of counts) for (const [why, n] of Object.entries(one)) sum[why] = (sum[why] ?? 0) + n;
  return sum;
};

/** The rate "now" is over this time: shorter jumps, longer lags. */
const RATE_MS = 5_000;

export interface RateMeter {
  note(atMs: number, total: number): number;
}

/** Events per second over the last RATE_MS. */
export const createRateMeter = (): RateMeter => {
  const points: { atMs: number; total: number }[] = [];
  return {
    note: (atMs, total) => {
      points.push({ atMs, total });
      while (points.length > 2 && atMs - points[0]!.atMs > RATE_MS) points.shift();
      const first = points[0]!;
      const ms = atMs - first.atMs;
      return ms < 500 ? 0 : ((total - first.total) * 1000) / ms;
    },
  };
};

/** Settled links that no server answered, or answered with trouble. */
export const errorsOf = (census: Census): number => {
  let errors = 0;
  for (const [name, n] of Object.entries(census.settled)) {
    if (
      name.startsWith('failed-') ||
      name === 'server-error' ||
      name === 'client-error' ||
      name === 'parse-failed' ||
      name === 'gave-up'
    )
      errors += n;
  }
  return errors;
};

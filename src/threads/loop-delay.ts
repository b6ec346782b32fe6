/** How late the event loop of a thread comes to its timers: what every visit of the thread waits for. */

import { monitorEventLoopDelay, type Histogram } from 'node:perf_hooks';
import type { LoopDelay } from '../observe/readings.ts';

/** A timer of this length is timed. Shorter would itself be work, longer would miss short stalls. */
const RESOLUTION_MS = 10;
/** What is told as recent is over this time: as long as the lines of progress are apart, so that none goes untold. */
const RECENT_MS = 5_000;

export interface LoopDelays {
  /** Over the last whole RECENT_MS, or since the start while that is shorter. */
  recent(): LoopDelay;
  /** Since the thread began. */
  overall(): LoopDelay;
  close(): void;
}

export const openLoopDelays = (): LoopDelays => {
  const all = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const now = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  all.enable();
  now.enable();
  let last: LoopDelay | null = null;
  let since = performance.now();
  return {
    recent: () => {
      if (performance.now() - since >= RECENT_MS) {
        last = delayOf(now);
        now.reset();
        since = performance.now();
      }
      return last ?? delayOf(now);
    },
    overall: () => delayOf(all),
    close: () => {
      all.disable();
      now.disable();
    },
  };
};

/** The histogram holds how far apart the ticks of a timer were, in nanoseconds: punctual ones are its length apart. */
const delayOf = (histogram: Histogram): LoopDelay => {
  const late = (ns: number): number =>
    histogram.count === 0 ? 0 : Math.max(0, Math.round((ns / 1e6 - RESOLUTION_MS) * 10) / 10);
  return { p50Ms: late(histogram.percentile(50)), p99Ms: late(histogram.percentile(99)), maxMs: late(histogram.max) };
};

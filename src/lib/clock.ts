/** The one place that knows what time it is. */

import { onAbort } from './on-abort.ts';

export interface Clock {
  /** Milliseconds since the epoch; never goes back within one process. */
  now(): number;
  /** Resolves after that time, or at once when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Where a process's clock starts: a moment of the wall clock and the same moment of the monotonic one. */
export interface Anchor {
  readonly wallMs: number;
  readonly monotonicNs: bigint;
}

/** Anchored to the wall clock, but never before the last moment that a store recorded. */
export const anchorNow = (notBeforeMs: number): Anchor => ({
  wallMs: Math.max(Date.now(), notBeforeMs),
  monotonicNs: process.hrtime.bigint(),
});

/**
 * hrtime is one clock for all threads of a machine, so one anchor gives them all the same time.
 * performance.now() would be cheaper, but it starts anew in each thread: tying it to the anchor
 * takes two readings, and a thread that loses the processor between them would be late for good.
 */
export const createClock = (anchor: Anchor = anchorNow(0)): Clock => ({
  now: () => anchor.wallMs + Number(process.hrtime.bigint() - anchor.monotonicNs) / 1e6,
  sleep,
});

const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      stopListening?.();
      resolve();
    };
    const timer = setTimeout(done, Math.min(Math.max(ms, 0), 2 ** 31 - 1));
    const stopListening = signal && onAbort(signal, done);
  });

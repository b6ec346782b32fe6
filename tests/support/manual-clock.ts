/** A clock that stands still until a test moves it. */

import type { Clock } from '../../src/lib/clock.ts';

export interface ManualClock extends Clock {
  /** Let time pass; sleepers whose time has come wake in the order of their moments. */
  advance(ms: number): void;
}

interface Sleeper {
  readonly wakeAt: number;
  readonly wake: () => void;
}

const START_MS = Date.UTC(2026, 0, 1);

export const createManualClock = (startMs: number = START_MS): ManualClock => {
  let now = startMs;
  const sleepers = new Set<Sleeper>();
  return {
    now: () => now,
    advance: (ms) => {
      if (!(ms >= 0)) throw new RangeError(`time cannot go back (${ms} ms)`);
      now += ms;
      const woken = [...sleepers].filter((sleeper) => sleeper.wakeAt <= now).sort((a, b) => a.wakeAt - b.wakeAt);
      for (const sleeper of woken) sleeper.wake();
    },
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (ms <= 0 || signal?.aborted) return resolve();
        const wake = (): void => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        const sleeper: Sleeper = { wakeAt: now + ms, wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', wake, { once: true });
      }),
  };
};

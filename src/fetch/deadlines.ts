/** Ends what takes too long: one coarse timer for all calls and idle connections of a thread. */

import type { Clock } from '../lib/clock.ts';

export interface Timed {
  /** Changed freely while it is watched. */
  deadlineAt: number;
  expired(): void;
}

export interface Deadlines {
  /** Calls under way keep the thread alive, idle connections do not. */
  readonly calls: Set<Timed>;
  readonly idle: Set<Timed>;
  /** To be told after something was added. */
  watch(): void;
  close(): void;
}

/** How late a deadline may be noticed. A look at 1,000 calls takes about 10 microseconds. */
const LOOK_EVERY_MS = 100;

export const createDeadlines = (clock: Clock): Deadlines => {
  const calls = new Set<Timed>();
  const idle = new Set<Timed>();
  let timer: NodeJS.Timeout | null = null;

  const look = (): void => {
    timer = null;
    const now = clock.now();
    for (const timed of calls) if (timed.deadlineAt <= now) timed.expired();
    for (const timed of idle) if (timed.deadlineAt <= now) timed.expired();
    watch();
  };
  const watch = (): void => {
    if (calls.size + idle.size === 0) return;
    timer ??= setTimeout(look, LOOK_EVERY_MS);
    if (calls.size === 0) timer.unref();
    else timer.ref();
  };
  return {
    calls,
    idle,
    watch,
    close() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
};

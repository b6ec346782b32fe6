/** Ends what takes too long: one coarse timer for all requests and idle connections of a thread. */

import type { Clock } from '../lib/clock.ts';

export interface Timed {
  /** Changed freely while it is watched. */
  deadlineAt: number;
  expired(): void;
}

export interface Deadlines {
  /** Requests under way keep the thread alive, idle connections do not. */
  readonly requests: Set<Timed>;
  readonly idle: Set<Timed>;
  /** To be called after something was added. */
  watch(): void;
  close(): void;
}

/** How late a deadline may be noticed. A look at 1,000 requests takes about 10 microseconds. */
const LOOK_EVERY_MS = 100;

export const createDeadlines = (clock: Clock): Deadlines => {
  const requests = new Set<Timed>();
  const idle = new Set<Timed>();
  let timer: NodeJS.Timeout | null = null;

  const look = (): void => {
    timer = null;
    const now = clock.now();
    for (const timed of requests) if (timed.deadlineAt <= now) timed.expired();
    for (const timed of idle) if (timed.deadlineAt <= now) timed.expired();
    watch();
  };
  const watch = (): void => {
    if (requests.size + idle.size === 0) return;
    timer ??= setTimeout(look, LOOK_EVERY_MS);
    if (requests.size === 0) timer.unref();
    else timer.ref();
  };
  return {
    requests,
    idle,
    watch,
    close() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
};

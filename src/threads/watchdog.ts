/** Ends threads that do not answer any more: a page that hangs its parser, an event loop that stands still. */

import type { Role, Thread } from './thread.ts';

/** A parse that takes longer is ended with its thread; a page of the largest size takes a second. */
const PARSE_DEADLINE_MS = 20_000;
/** A fetch thread whose event loop stands still for this long is ended. */
const FETCH_DEADLINE_MS = 60_000;
const WATCH_MS = 1_000;

const DEADLINES_MS: Readonly<Record<Role, number>> = {
  parse: PARSE_DEADLINE_MS,
  fetch: FETCH_DEADLINE_MS,
  store: Infinity,
};

/** Gives what stops the watch. `onHung` is told before the thread is ended. */
export const watchThreads = (
  threads: () => Iterable<Thread>,
  onHung: (thread: Thread, deadlineMs: number) => void,
): (() => void) => {
  let watchedAt = performance.now();
  const timer = setInterval(() => {
    const isLate = performance.now() - watchedAt > 3 * WATCH_MS;
    watchedAt = performance.now();
    if (isLate) return; // the whole process stood still (SIGSTOP, a sleeping machine): no thread is to blame
    for (const thread of threads()) {
      const deadlineMs = DEADLINES_MS[thread.role];
      if (thread.heart.busyMs() <= deadlineMs) continue;
      onHung(thread, deadlineMs);
      void thread.worker.terminate();
    }
  }, WATCH_MS);
  return () => clearInterval(timer);
};

/** How busy the threads of a crawl are, as their event loops say: nothing is measured or sent for it in a thread. */

import type { EventLoopUtilization } from 'node:perf_hooks';
import type { Worker } from 'node:worker_threads';
import type { Busy } from '../observe/load.ts';
import type { Role, Thread } from './thread.ts';

/** The busiest thread of each role since the last call; a thread is new on its first. */
export const createBusyMeter = (): ((threads: Iterable<Pick<Thread, 'role' | 'worker'>>) => Busy) => {
  const before = new WeakMap<Worker, EventLoopUtilization>();
  const shareOf = (worker: Worker): number => {
    const now = worker.performance.eventLoopUtilization();
    const last = before.get(worker);
    before.set(worker, now);
    return last ? worker.performance.eventLoopUtilization(now, last).utilization : 0;
  };
  return (threads) => {
    const busy: Record<Role, number> = { store: 0, fetch: 0, parse: 0 };
    for (const { role, worker } of threads) busy[role] = Math.max(busy[role], shareOf(worker));
    return { store: busy.store, fetch: busy.fetch };
  };
};

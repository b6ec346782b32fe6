/** A store thread with a planted fault, told in the same moment as it ends: when it opens, or when it is closed. */

import { parentPort, workerData } from 'node:worker_threads';
import type { FromStoreThread, ThreadStart, ToStoreThread } from '../../src/threads/messages.ts';

const start = workerData as ThreadStart | null;

/** The time-out of a request says which, because a thread is told nothing else by its test. */
export const FAULT_WHEN_OPENED = 1_001;
export const FAULT_WHEN_CLOSED = 1_002;

const tellFault = (message: string): void => {
  parentPort!.postMessage({
    kind: 'fault',
    fault: { message, advice: 'a planted advice', stack: '', diskFull: false },
  } satisfies FromStoreThread);
};

// and ends, because nothing is left to do
if (start?.settings.timeoutMs === FAULT_WHEN_OPENED) tellFault('planted: it does not open');
if (start?.settings.timeoutMs === FAULT_WHEN_CLOSED) {
  // Heard before the listener of the store thread itself.
  parentPort!.on('message', ({ kind }: ToStoreThread) => {
    if (kind !== 'close') return;
    tellFault('planted: it does not close');
    process.exit(0);
  });
  await import('../../src/threads/store-thread.ts');
}

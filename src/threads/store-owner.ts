/** The main thread's end of the store thread: opens the store there, gives out ports to it, and closes it. */

import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Store } from '../contract/store.ts';
import type { Anchor } from '../lib/clock.ts';
import type { Log } from '../observe/log.ts';
import type { Board } from '../observe/metrics/board.ts';
import { ThreadFault, type Fault } from './fault.ts';
import type { FromStoreThread, ToStoreThread } from './messages.ts';
import { createStoreClient } from './store-client.ts';
import type { Role, Thread } from './thread.ts';

export interface StoreOwner {
  readonly store: Store;
  readonly anchor: Anchor;
  /** Links on pages settled since that moment may be missing in the store; null when none are. */
  readonly forgotSince: number | null;
  /** The pages settled since `forgotSince` were read again. */
  rereadDone(): void;
  /** A port to the store for the thread of this name. */
  portFor(name: string, role: Role | 'main'): MessagePort;
  /** Closes the store and waits for the end of its thread; with `free`, all leases are freed first. */
  close(free: boolean): Promise<void>;
  /** What the store thread said before it ended; null when nothing. */
  fault(): Fault | null;
}

/** Rejects with a ThreadFault when the store does not open. */
export const ownStore = async (
  thread: Thread,
  board: Board,
  { log, onFault }: { readonly log: Log; readonly onFault: (fault: Fault) => void },
): Promise<StoreOwner> => {
  // What it says is heard in the same moment as its end: whoever learns of the end looks here.
  let fault: Fault | null = null;
  thread.worker.on('message', (message: FromStoreThread) => {
    if (message.kind === 'fault') {
      fault = message.fault;
      onFault(fault);
    }
    if (message.kind === 'log') log(message.level, message.message, { thread: thread.name, ...message.fields });
  });
  const { anchor, forgotSince } = await opened(thread);
  const portFor = (name: string, role: Role | 'main'): MessagePort => {
    const { port1, port2 } = new MessageChannel();
    const cells = board.cellsOf(name, role);
    thread.worker.postMessage({ kind: 'client', port: port1, name, cells } satisfies ToStoreThread, [port1]);
    return port2;
  };
  const store = createStoreClient(portFor('main', 'main'));
  return {
    store,
    anchor,
    forgotSince,
    rereadDone: () => {
      if (!thread.ended) thread.worker.postMessage({ kind: 'reread-done' } satisfies ToStoreThread);
    },
    portFor,
    fault: () => fault,
    close: async (free) => {
      if (!thread.ended) thread.worker.postMessage({ kind: 'close', free } satisfies ToStoreThread);
      await thread.exited;
      await store.close();
      if (fault) throw new ThreadFault(fault);
    },
  };
};

/** Resolves with the crawl's clock when the store is open. */
const opened = (thread: Thread): Promise<FromStoreThread & { kind: 'opened' }> =>
  new Promise((resolve, reject) => {
    thread.worker.on('message', (message: FromStoreThread) => {
      if (message.kind === 'opened') resolve(message);
      else if (message.kind === 'fault') reject(new ThreadFault(message.fault));
    });
    thread.exited.then(
      () =>
        reject(
          new ThreadFault({
            message: 'the store thread ended at its start',
            advice: 'look at the log',
            stack: '',
            diskFull: false,
          }),
        ),
      reject,
    );
  });

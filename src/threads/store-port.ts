/** The store on both ends of a message port: a client with the store's verbs, and the server in the store thread. */

import type { MessagePort } from 'node:worker_threads';
import type { Store } from '../frontier/store.ts';
import { storeOver, type SqliteStore, type StoreCall } from '../store/sqlite/store.ts';
import { ThreadFault, toFault, type Fault } from './fault.ts';

interface Request {
  readonly id: number;
  readonly call: StoreCall;
}

type Reply = { readonly id: number; readonly result: unknown } | { readonly id: number; readonly fault: Fault };

/** Every verb is one message and one reply. `close` ends the port, not the store. */
export const createStoreClient = (port: MessagePort): Store => {
  const pending = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let last = 0;
  let gone: Fault | null = null;
  port.on('message', (reply: Reply) => {
    const waiter = pending.get(reply.id)!;
    pending.delete(reply.id);
    if ('fault' in reply) waiter.reject(new ThreadFault(reply.fault));
    else waiter.resolve(reply.result);
  });
  port.on('close', () => {
    gone = { message: 'the store thread has ended', advice: 'resume the crawl', stack: '', diskFull: false };
    for (const waiter of pending.values()) waiter.reject(new ThreadFault(gone));
    pending.clear();
  });
  const send = <T>(call: StoreCall): Promise<T> =>
    new Promise((resolve, reject) => {
      if (gone) return reject(new ThreadFault(gone));
      const id = ++last;
      pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
      port.postMessage({ id, call } satisfies Request, recordsOf(call));
    });
  return storeOver(send, async () => port.close());
};

/** Records are handed over, not copied. */
const recordsOf = (call: StoreCall): ArrayBuffer[] =>
  call.verb === 'settle' ? call.settlements.flatMap((one) => (one.records ? [one.records.bytes.buffer] : [])) : [];

export interface StoreServer {
  /** Answers the calls of this client from now on. */
  serve(port: MessagePort): void;
  /** Resolves when all calls that have come are answered. */
  drained(): Promise<void>;
}

/**
 * Calls that come within this time share one transaction. A commit costs as much as the work of some pages,
 * and a visit holds its slot no longer than it waits for the web anyway.
 */
const GATHER_MS = 5;

export const createStoreServer = (store: SqliteStore): StoreServer => {
  let queue: { port: MessagePort; request: Request }[] = [];
  let whenDrained: Promise<void> | null = null;

  const drain = (): void => {
    const batch = queue;
    queue = [];
    whenDrained = null;
    try {
      const results = store.run(batch.map(({ request }) => request.call));
      batch.forEach(({ port, request }, i) => port.postMessage({ id: request.id, result: results[i] } satisfies Reply));
    } catch (error) {
      const fault = toFault(error);
      for (const { port, request } of batch) port.postMessage({ id: request.id, fault } satisfies Reply);
    }
  };

  return {
    serve: (port) => {
      port.on('message', (request: Request) => {
        queue.push({ port, request });
        whenDrained ??= new Promise((resolve) => setTimeout(() => {
          drain();
          resolve();
        }, GATHER_MS));
      });
    },
    drained: async () => {
      while (whenDrained) await whenDrained;
    },
  };
};

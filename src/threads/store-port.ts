/** The store on both ends of a message port: a client with the store's verbs, and the server in the store thread. */

import type { MessagePort } from 'node:worker_threads';
import type { Store } from '../frontier/store.ts';
import type { SharedStore } from '../store/shared.ts';
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
const GATHER_MS = 15;

/** Told of calls that took long, in milliseconds. */
export type OnSlow = (verbs: string, tookMs: number) => void;

/** A call that takes longer is worth a line in the log. */
const SLOW_MS = 1_000;

export const createStoreServer = (store: SqliteStore, onSlow: OnSlow): StoreServer => {
  let queue: { port: MessagePort; request: Request }[] = [];
  let whenDrained: Promise<void> | null = null;

  const drain = (): void => {
    const batch = queue;
    queue = [];
    whenDrained = null;
    const begun = performance.now();
    try {
      const results = store.run(batch.map(({ request }) => request.call));
      batch.forEach(({ port, request }, i) => port.postMessage({ id: request.id, result: results[i] } satisfies Reply));
    } catch (error) {
      const fault = toFault(error);
      for (const { port, request } of batch) port.postMessage({ id: request.id, fault } satisfies Reply);
    }
    const tookMs = performance.now() - begun;
    if (tookMs > SLOW_MS) onSlow([...new Set(batch.map(({ request }) => request.call.verb))].join(', '), tookMs);
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

/** A shared store takes calls as they come, and puts those that come together on the wire together. */
export const createSharedServer = (store: SharedStore, onSlow: OnSlow): StoreServer => {
  const underWay = new Set<Promise<void>>();
  const answer = async (port: MessagePort, { id, call }: Request): Promise<void> => {
    const begun = performance.now();
    try {
      port.postMessage({ id, result: await perform(store, call) } satisfies Reply);
    } catch (error) {
      port.postMessage({ id, fault: toFault(error) } satisfies Reply);
    }
    const tookMs = performance.now() - begun;
    if (tookMs > SLOW_MS) onSlow(call.verb, tookMs);
  };
  return {
    serve: (port) => {
      port.on('message', (request: Request) => {
        const answered = answer(port, request);
        underWay.add(answered);
        void answered.finally(() => underWay.delete(answered));
      });
    },
    drained: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
};

const perform = (store: SharedStore, call: StoreCall): Promise<unknown> => {
  switch (call.verb) {
    case 'admit': return store.admit(call.links, call.siteWaitingMax);
    case 'claim': return store.claim(call.ask);
    case 'settle': return store.settle(call.settlements);
    case 'steer': return store.steer(call.orders);
    case 'census': return store.census();
    default: return call satisfies never;
  }
};

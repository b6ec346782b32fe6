/** The store as other threads see it: each use of a verb is a message to the store thread. */

import type { MessagePort } from 'node:worker_threads';
import type { Store } from '../contract/store.ts';
import { storeOver, type StoreCall } from '../store/call.ts';
import { ThreadFault, type Fault } from './fault.ts';

export interface StoreMessage {
  readonly id: number;
  readonly call: StoreCall;
}

export type StoreReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly fault: Fault };

/** Every verb is one message and one reply. `close` ends the port, not the store. */
export const createStoreClient = (port: MessagePort): Store => {
  const pending = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let last = 0;
  let gone: Fault | null = null;
  port.on('message', (reply: StoreReply) => {
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
      port.postMessage({ id, call } satisfies StoreMessage, recordsOf(call));
    });
  return storeOver(send, async () => port.close());
};

/** Records are handed over, not copied. */
const recordsOf = (call: StoreCall): ArrayBuffer[] =>
  call.verb === 'settle' ? call.settlements.flatMap((one) => (one.records ? [one.records.bytes.buffer] : [])) : [];

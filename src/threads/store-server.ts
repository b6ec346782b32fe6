/** The store's end of its message ports: answers the calls of all clients, in the store thread. */

import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import type { Census } from '../model/census.ts';
import { performOn, rowsOf, type StoreCall } from '../store/call.ts';
import type { SharedStore } from '../store/shared.ts';
import type { SqliteStore } from '../store/sqlite/store.ts';
import { toFault } from './fault.ts';
import type { Reply, Request } from './store-client.ts';
import { freedHolder, givenUpIn, mayGiveUp, type ClientMeter, type StoreTimes } from './store-meter.ts';

export interface StoreServer {
  /** Answers the calls of this client from now on, and counts them for it. */
  serve(port: MessagePort, name: string, meter: ClientMeter): void;
  /** Resolves when all calls that have come are answered. */
  drained(): Promise<void>;
}

/**
 * Calls that come within this time share one transaction. A commit costs as much as the work of some pages,
 * and a visit holds its slot no longer than it waits for the web anyway.
 */
const GATHER_MS = 15;
/**
 * And a transaction takes on no further call once it has this many rows to write, so that a claim that comes meanwhile
 * is not long behind it.
 */
const ROWS_MAX = 300;

/** Told of calls that took long, in milliseconds. */
export type OnSlow = (verbs: string, tookMs: number) => void;

/** A call that takes longer is worth a line in the log. */
const SLOW_MS = 1_000;

export interface Watching {
  readonly onSlow: OnSlow;
  readonly onTime: StoreTimes;
}

interface Client {
  readonly port: MessagePort;
  readonly meter: ClientMeter;
}

interface Queued {
  readonly client: Client;
  readonly request: Request;
}

const isClaim = ({ request }: Queued): boolean => request.call.verb === 'claim';

export const createStoreServer = (store: SqliteStore, { onSlow, onTime }: Watching): StoreServer => {
  const meters = new Map<string, ClientMeter>();
  let queue: Queued[] = [];
  let whenDrained: Promise<void> | null = null;

  const drain = (): void => {
    const batch = nextBatch();
    const begun = performance.now();
    const freeing = batch.find(({ request }) => mayGiveUp(request.call))?.request.call;
    const givenUp = (): number => givenUpIn(store.run([{ verb: 'census' }])[0] as Census);
    try {
      const givenUpBefore = freeing ? givenUp() : 0;
      const results = store.run(
        batch.map(({ request }) => request.call),
        onTime,
      );
      // Counted before it is told: who hears of it finds it in the numbers.
      batch.forEach(({ client, request }, i) => client.meter.note(request.call, results[i]));
      if (freeing) meters.get(freedHolder(freeing) ?? '')?.gaveUp(givenUp() - givenUpBefore);
      batch.forEach(({ client, request }, i) =>
        client.port.postMessage({ id: request.id, result: results[i] } satisfies Reply),
      );
    } catch (error) {
      const fault = toFault(error);
      for (const { client, request } of batch) client.port.postMessage({ id: request.id, fault } satisfies Reply);
    }
    const tookMs = performance.now() - begun;
    if (tookMs > SLOW_MS) onSlow([...new Set(batch.map(({ request }) => request.call.verb))].join(', '), tookMs);
  };

  /**
   * Claims first, since slots stand empty until they are answered; but an order to free leases keeps its place among
   * the claims.
   */
  const nextBatch = (): Queued[] => {
    const inOrder = queue.some(({ request }) => request.call.verb === 'steer');
    const line = inOrder ? queue : [...queue.filter(isClaim), ...queue.filter((one) => !isClaim(one))];
    let [calls, rows] = [0, 0];
    while (calls < line.length && rows < ROWS_MAX) rows += rowsOf(line[calls++]!.request.call);
    queue = line.slice(calls);
    return line.slice(0, calls);
  };

  /**
   * What came during a long transaction has gathered already. Between two the loop turns, so that a claim that has come
   * is seen.
   */
  const work = async (): Promise<void> => {
    for (let pauseMs = GATHER_MS; ; ) {
      await (pauseMs === 0 ? turn() : sleep(pauseMs));
      if (queue.length === 0) break;
      const begun = performance.now();
      drain();
      pauseMs = queue.length > 0 || performance.now() - begun >= GATHER_MS ? 0 : GATHER_MS;
    }
    whenDrained = null;
  };

  return {
    serve: (port, name, meter) => {
      meters.set(name, meter);
      const client = { port, meter };
      port.on('message', (request: Request) => {
        queue.push({ client, request });
        whenDrained ??= work();
      });
    },
    drained: async () => {
      while (whenDrained) await whenDrained;
    },
  };
};

/** A shared store takes calls as they come, and puts those that come together on the wire together. */
export const createSharedServer = (store: SharedStore, { onSlow, onTime }: Watching): StoreServer => {
  const meters = new Map<string, ClientMeter>();
  const underWay = new Set<Promise<void>>();
  /** Those that others give up in the same moment are counted too; they are few, and the moment is short. */
  const steered = async (call: StoreCall): Promise<unknown> => {
    const before = givenUpIn(await store.census());
    const result = await performOn(store, call);
    meters.get(freedHolder(call) ?? '')?.gaveUp(givenUpIn(await store.census()) - before);
    return result;
  };
  const answer = async ({ port, meter }: Client, { id, call }: Request): Promise<void> => {
    const begun = performance.now();
    try {
      const result = await (mayGiveUp(call) ? steered(call) : performOn(store, call));
      meter.note(call, result);
      port.postMessage({ id, result } satisfies Reply);
    } catch (error) {
      port.postMessage({ id, fault: toFault(error) } satisfies Reply);
    }
    const tookMs = performance.now() - begun;
    onTime(call.verb, tookMs);
    if (tookMs > SLOW_MS) onSlow(call.verb, tookMs);
  };
  return {
    serve: (port, name, meter) => {
      meters.set(name, meter);
      const client = { port, meter };
      port.on('message', (request: Request) => {
        const answered = answer(client, request);
        underWay.add(answered);
        void answered.finally(() => underWay.delete(answered));
      });
    },
    drained: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
};

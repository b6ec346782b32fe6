/** The store's end of its message ports: answers the messages of all clients, in the store thread. */

import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import type { Census } from '../model/census.ts';
import { performOn, rowsOf, type StoreCall } from '../store/call.ts';
import type { OpenedStore } from '../store/options.ts';
import { toFault } from './fault.ts';
import type { StoreReply, StoreMessage } from './store-client.ts';
import { freedHolder, givenUpIn, mayGiveUp, type ClientMeter, type StoreTimes } from './store-meter.ts';

export interface StoreServer {
  /** Answers the messages of this client from now on, and counts for it what was done. */
  serve(port: MessagePort, name: string, meter: ClientMeter): void;
  /** Resolves when all messages that have come are answered. */
  drained(): Promise<void>;
}

/**
 * Messages that come within this time share one transaction. A commit costs as much as the work of some pages,
 * and a visit holds its slot no longer than it waits for the web anyway.
 */
const GATHER_MS = 15;
/**
 * After so many messages in a row that came alone there is nothing to wait for: one site of one's own, visited without
 * a delay, would wait for this at every step.
 */
const ALONE_MIN = 8;
/**
 * A transaction takes on no further message once it has this many rows to write, so that a claim that comes meanwhile
 * does not wait long for it.
 */
const ROWS_MAX = 300;

/** Told of verbs that took long, in milliseconds. */
export type OnSlow = (verbs: string, tookMs: number) => void;

/** A verb that takes longer is worth a line in the log. */
const SLOW_MS = 1_000;

export interface Watching {
  readonly onSlow: OnSlow;
  readonly onTime: StoreTimes;
  /** How the server waits. */
  readonly pause?: (ms: number) => Promise<unknown>;
}

interface Client {
  readonly port: MessagePort;
  readonly meter: ClientMeter;
}

interface Queued {
  readonly client: Client;
  readonly message: StoreMessage;
}

const isClaim = ({ message }: Queued): boolean => message.call.verb === 'claim';

/** As suits the store: many messages in one transaction, or each as it comes. */
export const createStoreServer = (store: OpenedStore, watching: Watching): StoreServer =>
  store.together ? createGatheringServer(store.together, watching) : createPassingServer(store, watching);

type Together = NonNullable<OpenedStore['together']>;

const createGatheringServer = (together: Together, { onSlow, onTime, pause = sleep }: Watching): StoreServer => {
  const meters = new Map<string, ClientMeter>();
  let queue: Queued[] = [];
  /** Transactions in a row with a single message. */
  let alone = 0;
  let whenDrained: Promise<void> | null = null;

  const drain = (): void => {
    const batch = nextBatch();
    alone = batch.length === 1 && queue.length === 0 ? alone + 1 : 0;
    const begun = performance.now();
    const freeing = batch.find(({ message }) => mayGiveUp(message.call))?.message.call;
    const givenUp = (): number => givenUpIn(together([{ verb: 'census' }])[0] as Census);
    try {
      const givenUpBefore = freeing ? givenUp() : 0;
      const results = together(
        batch.map(({ message }) => message.call),
        onTime,
      );
      // Counted before it is told: who hears of it finds it in the numbers.
      batch.forEach(({ client, message }, i) => client.meter.note(message.call, results[i]));
      if (freeing) meters.get(freedHolder(freeing) ?? '')?.gaveUp(givenUp() - givenUpBefore);
      batch.forEach(({ client, message }, i) =>
        client.port.postMessage({ id: message.id, result: results[i] } satisfies StoreReply),
      );
    } catch (error) {
      const fault = toFault(error);
      for (const { client, message } of batch) client.port.postMessage({ id: message.id, fault } satisfies StoreReply);
    }
    const tookMs = performance.now() - begun;
    if (tookMs > SLOW_MS) onSlow([...new Set(batch.map(({ message }) => message.call.verb))].join(', '), tookMs);
  };

  /**
   * Claims first, since slots stand empty until they are answered; but an order to free leases keeps its place among
   * the claims.
   */
  const nextBatch = (): Queued[] => {
    const inOrder = queue.some(({ message }) => message.call.verb === 'steer');
    const ordered = inOrder ? queue : [...queue.filter(isClaim), ...queue.filter((one) => !isClaim(one))];
    let [taken, rows] = [0, 0];
    while (taken < ordered.length && rows < ROWS_MAX) rows += rowsOf(ordered[taken++]!.message.call);
    queue = ordered.slice(taken);
    return ordered.slice(0, taken);
  };

  /**
   * What came during a long transaction has gathered already. Between two the loop turns, so that a claim that has come
   * is seen.
   */
  const work = async (): Promise<void> => {
    for (let pauseMs = alone < ALONE_MIN ? GATHER_MS : 0; ; ) {
      await (pauseMs === 0 ? turn() : pause(pauseMs));
      if (queue.length === 0) break;
      const begun = performance.now();
      drain();
      const isDone = queue.length > 0 || performance.now() - begun >= GATHER_MS || alone >= ALONE_MIN;
      pauseMs = isDone ? 0 : GATHER_MS;
    }
    whenDrained = null;
  };

  return {
    serve: (port, name, meter) => {
      meters.set(name, meter);
      const client = { port, meter };
      port.on('message', (message: StoreMessage) => {
        queue.push({ client, message });
        whenDrained ??= work();
      });
    },
    drained: async () => {
      while (whenDrained) await whenDrained;
    },
  };
};

/** For a database server: messages go to it as they come, and its client sends those that come together as one. */
const createPassingServer = (store: OpenedStore, { onSlow, onTime }: Watching): StoreServer => {
  const meters = new Map<string, ClientMeter>();
  const underWay = new Set<Promise<void>>();
  /** Links that others give up in the same moment are counted too; they are few, and the moment is short. */
  const steered = async (call: StoreCall): Promise<unknown> => {
    const before = givenUpIn(await store.census());
    const result = await performOn(store, call);
    meters.get(freedHolder(call) ?? '')?.gaveUp(givenUpIn(await store.census()) - before);
    return result;
  };
  const answer = async ({ port, meter }: Client, { id, call }: StoreMessage): Promise<void> => {
    const begun = performance.now();
    try {
      const result = await (mayGiveUp(call) ? steered(call) : performOn(store, call));
      meter.note(call, result);
      port.postMessage({ id, result } satisfies StoreReply);
    } catch (error) {
      port.postMessage({ id, fault: toFault(error) } satisfies StoreReply);
    }
    const tookMs = performance.now() - begun;
    onTime(call.verb, tookMs);
    if (tookMs > SLOW_MS) onSlow(call.verb, tookMs);
  };
  return {
    serve: (port, name, meter) => {
      meters.set(name, meter);
      const client = { port, meter };
      port.on('message', (message: StoreMessage) => {
        const answered = answer(client, message);
        underWay.add(answered);
        void answered.finally(() => underWay.delete(answered));
      });
    },
    drained: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
};

/** The connections of one process to the server: few, shared, and made anew when the server was gone. */

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { StoreFault } from '../../contract/fault.ts';
import { isStarting, reasonOf, storeFault, troubleOf } from './faults.ts';
import { openHosts } from './hosts.ts';
import type { Value } from './values.ts';

/** Connections of a process, however many visits it has: transactions are short, and the server has few cores. */
const POOL_MAX = 4;
/** Far longer than any call; then the server is taken for gone, also if the network swallowed it without a word. */
const CALL_MS_MAX = 120_000;
/** Calls that take longer are told of. */
const SLOW_MS = 2_000;
/** How often a call that stood in another's way is tried again. */
const AGAIN_MAX = 20;
const PAUSE_MS_FIRST = 100;
const PAUSE_MS_MAX = 2_000;
/** A server that is starting is waited for, also when the store is opened. */
const STARTING_MS_MAX = 60_000;
/** One that takes no writes, or no more connections, may be amid a failover; or it was not meant. */
const NOT_NOW_MS_MAX = 5_000;
/** A close waits so long for calls under way. */
const CLOSE_MS_MAX = 5_000;

export interface Server {
  /** Host and port, for sentences. */
  readonly where: string;
  /**
   * Calls a function of the crawl, in a transaction of its own. Waits while the server is gone, if it was there once.
   * `onLost` when it is not known whether the call happened, before it is made again.
   */
  call<Row>(name: string, values: readonly Value[], onLost?: () => void): Promise<Row[]>;
  /** Work on one connection, tried once: for opening, and for looking at a crawl. */
  once<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly url: string;
  readonly schema: string;
  readonly say: (message: string) => void;
}

const INT8 = 20;

/** int8 as a number: counters, leases and bytes stay far below 2^53. */
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

/** All of the work in one transaction, or none of it. */
export const inTransaction = async <T>(client: pg.ClientBase, work: () => Promise<T>, begin = 'BEGIN'): Promise<T> => {
  await client.query(begin);
  try {
    const result = await work();
    await client.query('COMMIT');
    return result;
  } catch (error) {
    if (!['gone', 'not-now'].includes(troubleOf(error))) await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
};

export const connectTo = ({ url, schema, say }: ServerOptions): Server => {
  const hosts = openHosts({
    url,
    options: {
      max: POOL_MAX,
      query_timeout: CALL_MS_MAX,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      application_name: schema,
      types,
    },
  });
  const { where, onClient } = hosts;
  const places = createPlaces(POOL_MAX);
  const ending = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  let gone = false;
  /** A call was answered: the address is that of a server that took writes. */
  let wasRight = false;

  const make = async <Row>(client: pg.PoolClient, name: string, values: readonly Value[]): Promise<Row[]> => {
    const text = `SELECT * FROM ${schema}.${name}(${values.map((_, i) => `$${i + 1}`).join(', ')})`;
    return (await client.query<Row & pg.QueryResultRow>({ name, text, values: [...values] })).rows;
  };

  const isAnswering = (answers: boolean, why: unknown = null): void => {
    if (answers && gone) say(`PostgreSQL at ${where} answers again`);
    if (!answers && !gone)
      say(
        troubleOf(why) === 'not-now'
          ? `PostgreSQL at ${where} ${reasonOf(why)}; waiting`
          : `PostgreSQL at ${where} does not answer (${reasonOf(why)}); waiting`,
      );
    gone = !answers;
  };

  /** A call that surely did not happen, and one that may be made twice, is made again. */
  const persist = async <Row>(name: string, values: readonly Value[], onLost?: () => void): Promise<Row[]> => {
    const since = performance.now();
    for (let again = 0, pauseMs = PAUSE_MS_FIRST; ; ) {
      if (ending.signal.aborted) throw closedFault();
      const startedAt = performance.now();
      try {
        const rows = await onClient((client) => make<Row>(client, name, values));
        isAnswering(true);
        wasRight = true;
        const tookMs = performance.now() - startedAt;
        if (tookMs > SLOW_MS) say(`PostgreSQL at ${where} took ${(tookMs / 1_000).toFixed(1)} s for ${name}`);
        return rows;
      } catch (error) {
        const trouble = troubleOf(error);
        if (trouble === 'fault' || (trouble === 'again' && ++again > AGAIN_MAX)) throw storeFault(error, where);
        if (trouble === 'again') continue;
        const isLate = performance.now() - since > NOT_NOW_MS_MAX;
        if (trouble === 'not-now' && !wasRight && isLate) throw storeFault(error, where);
        if (trouble === 'gone') onLost?.();
        isAnswering(false, error);
        await sleep(pauseMs, null, { signal: ending.signal }).catch(() => {});
        pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
      }
    }
  };

  const tracked = <T>(work: () => Promise<T>): Promise<T> => {
    const done = places.inOne(work);
    underWay.add(done);
    const forget = (): void => void underWay.delete(done);
    done.then(forget, forget);
    return done;
  };

  return {
    where,
    call: (...call) => tracked(() => persist(...call)),
    once: async (work) => {
      const since = performance.now();
      for (;;) {
        try {
          return await tracked(() => onClient(work));
        } catch (error) {
          const patienceMs = isStarting(error) ? STARTING_MS_MAX : troubleOf(error) === 'not-now' ? NOT_NOW_MS_MAX : 0;
          if (performance.now() - since < patienceMs) await sleep(PAUSE_MS_FIRST);
          else if (troubleOf(error) !== 'gone') throw storeFault(error, where);
          else
            throw new StoreFault(
              `PostgreSQL at ${where} does not answer (${reasonOf(error)})`,
              'start it, or look at the address of the store',
              error,
            );
        }
      }
    },
    close: async () => {
      if (ending.signal.aborted) return;
      ending.abort();
      const patience = new AbortController();
      await Promise.race([
        Promise.allSettled(underWay),
        sleep(CLOSE_MS_MAX, null, { signal: patience.signal }).catch(() => {}),
      ]);
      patience.abort();
      await hosts.end();
    },
  };
};

export const closedFault = (): StoreFault => new StoreFault('the store is closed', 'open the crawl again');

/** Calls wait here for a connection, as long as it takes: the pool's own queue has a time-out. */
const createPlaces = (free: number): { inOne<T>(work: () => Promise<T>): Promise<T> } => {
  const queue: (() => void)[] = [];
  return {
    inOne: async (work) => {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => queue.push(resolve));
      try {
        return await work();
      } finally {
        const next = queue.shift();
        if (next) next();
        else free++;
      }
    },
  };
};

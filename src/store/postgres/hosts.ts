/**
 * Connections to whichever host of the address takes writes. A server that became a standby, or no longer answers, is
 * left for another one.
 */

import pg from 'pg';
import { StoreFault } from '../../contract/fault.ts';
import { hostsText, hostUrls, readAddress } from '../address.ts';
import { READ_ONLY, troubleOf } from './faults.ts';

export interface Hosts {
  /** `host:port`, of each host, for sentences. */
  readonly where: string;
  /** Work on one connection, which is given back, or ended when what went wrong may have to do with it. */
  onClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  end(): Promise<void>;
}

export interface HostsOptions {
  readonly url: string;
  readonly options: pg.PoolConfig;
  /** Tests need not wait as long. */
  readonly silentMs?: number;
}

const CONNECT_MS_MAX = 10_000;
/** Where there are others to try. */
const CONNECT_MS_MAX_OF_SEVERAL = 3_000;
/** A call may take long; after so long the host is asked whether it still takes connections. */
const SILENT_MS = 10_000;

const addressFault = (): StoreFault =>
  new StoreFault(
    'the address of the store cannot be read',
    'write it as postgres://user:password@host:port/database, or with several hosts, host:port,host:port; ' +
      'in the password, write %40 for @, %2F for /, %3F for ? and %23 for #',
  );

/** What of the hosts is wanted, in PostgreSQL's own words; null for whichever answers. */
const isWritingWanted = (wanted: string | null, hosts: number): boolean => {
  if (wanted === null) return hosts > 1;
  if (wanted === 'any') return false;
  if (wanted === 'read-write' || wanted === 'primary') return true;
  throw new StoreFault(
    `a crawl cannot be in a server that target_session_attrs=${wanted} chooses: it must take writes`,
    'write target_session_attrs=read-write in the address of the store, or omit it',
  );
};

export const openHosts = ({ url, options, silentMs = SILENT_MS }: HostsOptions): Hosts => {
  const address = readAddress(url);
  if (address?.kind !== 'postgres') throw addressFault();
  const urls = address.hosts.length > 1 ? hostUrls(url) : [url];
  const mustWrite = isWritingWanted(address.parameters.get('target_session_attrs'), urls.length);
  const connectMs = urls.length > 1 ? CONNECT_MS_MAX_OF_SEVERAL : CONNECT_MS_MAX;
  const configOf = (connectionString: string): pg.PoolConfig => ({
    ...options,
    connectionString,
    connectionTimeoutMillis: connectMs,
    ...(mustWrite ? { onConnect: refuseStandby } : {}),
  });
  const poolTo = (one: string): pg.Pool => {
    const pool = new pg.Pool(configOf(one));
    // A connection that ends by itself, idle or between two queries: the next call finds out.
    pool.on('error', () => {});
    pool.on('connect', (client) => void client.on('error', () => {}));
    return pool;
  };
  const pools = urls.map(poolTo);
  const ending = new Set<Promise<void>>();
  /** The host that took the last connection: it is tried first. */
  let last = 0;

  const connect = async (): Promise<{ client: pg.PoolClient; pool: pg.Pool; at: number }> => {
    let why: unknown;
    for (let i = 0, first = last; i < pools.length; i++) {
      const at = (first + i) % pools.length;
      const pool = pools[at]!;
      try {
        const client = await pool.connect();
        last = at;
        return { client, pool, at };
      } catch (error) {
        if (troubleOf(error) === 'fault') throw error;
        why = nearer(why, error);
      }
    }
    throw why;
  };

  /** Idle connections to a server that takes no writes are of no use either. */
  const leave = (pool: pg.Pool, at: number): void => {
    if (pools[at] !== pool) return; // another call was quicker
    pools[at] = poolTo(urls[at]!);
    const ended = pool.end().finally(() => ending.delete(ended));
    ending.add(ended);
  };

  /** Ends a connection whose server has gone without a word: no new one could be made either. */
  const watch = (client: pg.PoolClient, at: number): (() => void) => {
    let isOver = false;
    const timer = setInterval(async () => {
      if (!(await answers(configOf(urls[at]!))) && !isOver) streamOf(client).destroy();
    }, silentMs);
    timer.unref();
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  };

  return {
    where: hostsText(address),
    onClient: async (work) => {
      const { client, pool, at } = await connect();
      const unwatch = watch(client, at);
      try {
        const result = await work(client);
        unwatch();
        client.release();
        return result;
      } catch (error) {
        unwatch();
        const trouble = troubleOf(error);
        client.release(trouble === 'gone' || trouble === 'not-now');
        if (trouble === 'not-now') leave(pool, at);
        throw error;
      }
    },
    end: async () => void (await Promise.all([...pools.map((pool) => pool.end()), ...ending])),
  };
};

/** The more telling of two reasons: a standby says that the address is right, and a failover under way. */
const nearer = (former: unknown, error: unknown): unknown =>
  former !== undefined && troubleOf(former) === 'not-now' ? former : error;

const refuseStandby = async (client: pg.ClientBase): Promise<void> => {
  const { rows } = await client.query<{ closed: boolean }>(
    "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS closed",
  );
  if (rows[0]!.closed) throw Object.assign(new Error('it is a standby, or read-only'), { code: READ_ONLY });
};

/** The pool itself has no other way to end a connection at once. */
const streamOf = (client: pg.PoolClient): { destroy(): void } =>
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream;

/** Whether it takes a connection: a server that does not is gone, or busy with something that ends connections. */
const answers = async (config: pg.PoolConfig): Promise<boolean> => {
  const { onConnect: _, ...plain } = config;
  const client = new pg.Client(plain);
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch (error) {
    return troubleOf(error) !== 'gone';
  } finally {
    client.end().catch(() => {});
  }
};

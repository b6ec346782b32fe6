/**
 * From the URL of a store to a client that is connected: one connection to a Redis, or one to each node of a cluster.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, Redis } from 'ioredis';
import { StoreFault } from '../../contract/fault.ts';
import { isGone, lastWords, redisFault, unanswered } from './faults.ts';

export type Client = Redis | Cluster;

interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly db: number;
  readonly isSecure: boolean;
  readonly username: string;
  readonly password: string;
}

export interface Connected {
  readonly client: Client;
  /** `host:port`, for people. */
  readonly where: string;
  /** What a person should know about this server, a sentence each. */
  readonly warnings: readonly string[];
}

const VERSION_LEAST = 7;
/** A server that is just being started is up by then; one that was mistyped is known soon. */
const OPEN_MS_MAX = 5_000;
/** Steps take milliseconds: a server silent for so long is gone, even if no one has said so. */
const SILENCE_MS_MAX = 30_000;
const RECONNECT_MS_MAX = 1_000;
/** By so much the clocks of a cluster's nodes may differ before it is said. */
const CLOCKS_APART_MS_MAX = 1_000;

const readRedisUrl = (text: string): RedisAddress => {
  const advice = 'write redis://user:password@host:port/database, or rediss:// for TLS';
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new StoreFault('the URL of the store cannot be read', advice);
  }
  const db = url.pathname.replace(/^\//, '');
  if (!/^rediss?:$/.test(url.protocol) || url.hostname === '' || !/^\d*$/.test(db))
    throw new StoreFault('the URL of the store is not one of a Redis', advice);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 6379),
    db: Number(db || 0),
    isSecure: url.protocol === 'rediss:',
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
  };
};

/**
 * Nothing is queued and nothing is sent again by the client: what cannot be sent fails at once, and the wire decides.
 * So there is no queue that grows while the server is gone.
 */
const nodeOptions = ({ isSecure, username, password }: RedisAddress) => ({
  ...(username ? { username } : {}),
  ...(password ? { password } : {}),
  ...(isSecure ? { tls: {} } : {}),
  protocol: 2 as const,
  lazyConnect: true,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  connectTimeout: OPEN_MS_MAX,
  socketTimeout: SILENCE_MS_MAX,
  connectionName: 'gossamer',
});

const reconnectMs = (times: number): number => Math.min(25 * 2 ** times, RECONNECT_MS_MAX);

export const connectRedis = async (url: string): Promise<Connected> => {
  const address = readRedisUrl(url);
  const { host, port, db } = address;
  const where = `${host}:${port}`;
  const single = new Redis({
    ...nodeOptions(address),
    host,
    port,
    db,
    enableOfflineQueue: false,
    retryStrategy: reconnectMs,
  });
  try {
    await untilReady(single, address, where);
    const info = await infoOf(single);
    refuseUnfit(info, where);
    const warnings = (await isPersistent(single, info))
      ? []
      : [`Redis at ${where} keeps nothing on disk (save "" and appendonly no): if it ends, the crawl is lost`];
    if (info.get('cluster_enabled') !== '1') return { client: single, where, warnings };
    if (db !== 0) throw new Error('SELECT is not allowed in cluster mode');
    single.disconnect();
    const { cluster, apart } = await connectCluster(address, where);
    return {
      client: cluster,
      where,
      warnings: apart
        ? [
            ...warnings,
            `the clocks of the nodes of Redis at ${where} are more than ${CLOCKS_APART_MS_MAX} ms apart: set them, a site is visited by its node's`,
          ]
        : warnings,
    };
  } catch (error) {
    single.disconnect();
    throw redisFault(error, where);
  }
};

/** Resolves when commands can be sent; throws what a person must fix, and what is still so after a while. */
const untilReady = async (client: Client, { isSecure }: RedisAddress, where: string): Promise<void> => {
  const { hear, words } = lastWords();
  client.on('error', hear);
  client.on('node error', hear);
  try {
    const until = performance.now() + OPEN_MS_MAX;
    client.connect().catch(() => {}); // the event says more
    for (;;) {
      const last = words() ?? new Error('no answer');
      if (!isGone(last)) throw last;
      if (client.status === 'ready') return;
      if (performance.now() > until) throw unanswered(last, isSecure, where);
      await sleep(10);
    }
  } finally {
    client.off('error', hear);
    client.off('node error', hear);
  }
};

type Info = ReadonlyMap<string, string>;

const infoOf = async (client: Redis): Promise<Info> =>
  new Map(
    (await client.info())
      .split('\r\n')
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );

const refuseUnfit = (info: Info, where: string): void => {
  const version = info.get('redis_version') ?? '0';
  if (Number.parseInt(version, 10) < VERSION_LEAST)
    throw new StoreFault(`Redis at ${where} is version ${version}`, `use ${VERSION_LEAST}.0 or newer, or Valkey`);
  if (info.get('role') === 'slave') throw new Error('READONLY');
};

const isPersistent = async (client: Redis, info: Info): Promise<boolean> => {
  if (info.get('aof_enabled') === '1') return true;
  try {
    const [, save] = (await client.config('GET', 'save')) as string[];
    return save !== '';
  } catch {
    return true; // a hosted server keeps its settings to itself
  }
};

const connectCluster = async (address: RedisAddress, where: string): Promise<{ cluster: Cluster; apart: boolean }> => {
  const cluster = new Cluster([{ host: address.host, port: address.port }], {
    lazyConnect: true,
    enableOfflineQueue: false,
    // Names stay names: a certificate is for a name.
    dnsLookup: (name, found) => found(null, name),
    clusterRetryStrategy: reconnectMs,
    // Redirections are followed; what is lost comes back at once, and the wire decides.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    redisOptions: nodeOptions(address),
  });
  try {
    await untilReady(cluster, address, where);
    const times = await Promise.all(
      cluster.nodes('master').map(async (node) => {
        const [seconds, micros] = await node.time();
        return Number(seconds) * 1_000 + Number(micros) / 1_000;
      }),
    );
    return { cluster, apart: Math.max(...times) - Math.min(...times) > CLOCKS_APART_MS_MAX };
  } catch (error) {
    cluster.disconnect();
    throw error;
  }
};

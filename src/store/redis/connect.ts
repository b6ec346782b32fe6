/**
 * From the URL of a store to a client that is connected: one connection to a Redis, wherever its Sentinels say that it
 * is, or one to each node of a cluster.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions } from 'node:tls';
import { Cluster, Redis } from 'ioredis';
import { StoreFault } from '../../contract/fault.ts';
import { caOf, hostsText, readAddress, type HostAndPort, type StoreAddress } from '../address.ts';
import { isDemoted, isGone, lastWords, redisFault, replicaFault, unanswered } from './faults.ts';
import { followSentinels, sentinelOptions } from './sentinel.ts';

export type Client = Redis | Cluster;

interface RedisAddress extends StoreAddress {
  readonly db: number;
  /** For people: `host:port`, of each host, or the name that Sentinels know the master by. */
  readonly where: string;
  /** Null for one without TLS. */
  readonly tls: ConnectionOptions | null;
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
const LOOK_AGAIN_MS = 100;
/** Steps take milliseconds: a server silent for so long is gone, even if no one has said so. */
const SILENCE_MS_MAX = 30_000;
const RECONNECT_MS_MAX = 1_000;
/** By so much the clocks of a cluster's nodes may differ before it is said. */
const CLOCKS_APART_MS_MAX = 1_000;

const readRedisUrl = (text: string): RedisAddress => {
  const address = readAddress(text);
  if (address?.kind !== 'redis' || !/^\d*$/.test(address.database))
    throw new StoreFault(
      /^rediss?(\+sentinel)?:/.test(text)
        ? 'the URL of the store cannot be read'
        : 'the URL of the store is not one of a Redis',
      'write redis://user:password@host:port/database, or rediss:// for TLS; with Sentinel redis+sentinel://user:password@host:port,host:port/master; ' +
        'in the password, write %40 for @, %2F for /, %3F for ? and %23 for #',
    );
  const hosts = hostsText(address);
  return {
    ...address,
    db: Number(address.database || 0),
    where: address.master === null ? hosts : `${address.master} (Sentinel at ${hosts})`,
    tls: address.isSecure ? { ...caOf(address) } : null,
  };
};

/**
 * Nothing is queued and nothing is sent again by the client: what cannot be sent fails at once, and the wire decides.
 * So there is no queue that grows while the server is gone.
 */
const nodeOptions = ({ tls, user, password }: RedisAddress) => ({
  ...(user ? { username: user } : {}),
  ...(password ? { password } : {}),
  ...(tls ? { tls } : {}),
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
  const { where } = address;
  let single: Redis | null = null;
  try {
    single = await anyOf(address);
    const info = await untilMaster(single, where);
    refuseUnfit(info, where);
    const warnings = (await isPersistent(single, info))
      ? []
      : [`Redis at ${where} keeps nothing on disk (save "" and appendonly no): if it ends, the crawl is lost`];
    if (info.get('cluster_enabled') !== '1') {
      if (address.master === null && address.hosts.length > 1) throw severalFault(where);
      return { client: single, where, warnings };
    }
    if (address.db !== 0) throw new Error('SELECT is not allowed in cluster mode');
    single.disconnect();
    const { cluster, apart } = await connectCluster(address);
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
    single?.disconnect();
    throw redisFault(error, where);
  }
};

const severalFault = (where: string): StoreFault =>
  new StoreFault(
    `Redis at ${where} is no cluster, and several hosts are given`,
    'give the address of its master alone; or, where Sentinels watch over it, theirs: redis+sentinel://host:port,host:port/master',
  );

/** The master that Sentinels name; else whichever of the hosts is the first to answer. */
const anyOf = async (address: RedisAddress): Promise<Redis> => {
  const tried = address.master === null ? address.hosts.map((host) => singleTo(address, host)) : [mastersOf(address)];
  try {
    return await Promise.any(
      tried.map(async (client) => {
        await untilReady(client, address);
        return client;
      }),
    ).then((first) => {
      for (const other of tried) if (other !== first) other.disconnect();
      return first;
    });
  } catch (error) {
    for (const client of tried) client.disconnect();
    throw (error as AggregateError).errors[0];
  }
};

const onOneServer = (address: RedisAddress) => ({
  ...nodeOptions(address),
  db: address.db,
  enableOfflineQueue: false,
  retryStrategy: reconnectMs,
  // It was demoted: the address, or its Sentinels, may lead to another one now.
  reconnectOnError: isDemoted,
});

const singleTo = (address: RedisAddress, { host, port }: HostAndPort): Redis =>
  new Redis({ ...onOneServer(address), host, port });

const mastersOf = (address: RedisAddress): Redis => {
  const client = new Redis({ ...onOneServer(address), ...sentinelOptions(address, reconnectMs) });
  followSentinels(client, address, reconnectMs);
  return client;
};

/** Resolves when commands can be sent; throws what a person must fix, and what is still so after a while. */
const untilReady = async (client: Client, { isSecure, where }: RedisAddress): Promise<void> => {
  const { hear, words } = lastWords();
  const events = ['error', 'node error', 'sentinelError'] as const;
  for (const event of events) client.on(event, hear);
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
    for (const event of events) client.off(event, hear);
  }
};

/** During a failover a replica is a master soon; one that stays a replica was not meant. */
const untilMaster = async (client: Redis, where: string): Promise<Info> => {
  for (const until = performance.now() + OPEN_MS_MAX; ; ) {
    const info = await infoOf(client);
    // Any node of a cluster knows where the masters are.
    if (info.get('role') !== 'slave' || info.get('cluster_enabled') === '1') return info;
    if (performance.now() > until) throw replicaFault(where);
    await sleep(LOOK_AGAIN_MS);
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

const connectCluster = async (address: RedisAddress): Promise<{ cluster: Cluster; apart: boolean }> => {
  const cluster = new Cluster([...address.hosts], {
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
    await untilReady(cluster, address);
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

/** Sentinels know which Redis is the master, and say when it is another one. */

import type { ConnectionOptions } from 'node:tls';
import { Redis } from 'ioredis';
import type { StoreAddress } from '../address.ts';

export interface Watched extends StoreAddress {
  readonly tls: ConnectionOptions | null;
}

type Retry = (times: number) => number;

/** A Sentinel that says nothing for so long is passed over. */
const ANSWER_MS_MAX = 2_000;

/** They have a user and a password of their own, if any. */
const secretsOf = ({ parameters }: Watched): { username?: string; password?: string } => {
  const [username, password] = [parameters.get('sentinel_user'), parameters.get('sentinel_password')];
  return { ...(username ? { username } : {}), ...(password ? { password } : {}) };
};

/** For a client that asks the Sentinels for the master whenever it connects, one after the other. */
export const sentinelOptions = (watched: Watched, retry: Retry) => {
  const { username, password } = secretsOf(watched);
  return {
    sentinels: [...watched.hosts],
    name: watched.master!,
    ...(username ? { sentinelUsername: username } : {}),
    ...(password ? { sentinelPassword: password } : {}),
    ...(watched.tls ? { sentinelTLS: watched.tls, enableTLSForSentinelMode: true } : {}),
    sentinelCommandTimeout: ANSWER_MS_MAX,
    sentinelRetryStrategy: retry,
  };
};

/**
 * Makes the client connect anew as soon as a Sentinel names another master. The old one may still answer for a while,
 * to those who cannot see that it was replaced, and what it takes then is lost.
 */
export const followSentinels = (client: Redis, watched: Watched, retry: Retry): void => {
  const watchers = watched.hosts.map(({ host, port }) => {
    const watcher = new Redis({
      host,
      port,
      ...secretsOf(watched),
      ...(watched.tls ? { tls: watched.tls } : {}),
      protocol: 2,
      enableReadyCheck: false, // a Sentinel has no data to load
      lazyConnect: true,
      retryStrategy: retry,
      connectionName: 'gossamer',
    });
    watcher.on('error', () => {}); // one that is gone is said by the client, when none is left
    watcher.on('message', (_, said: string) => {
      if (said.startsWith(`${watched.master} `)) client.disconnect(true);
    });
    watcher.subscribe('+switch-master').catch(() => {});
    return watcher;
  });
  // It has no event for its end that comes in every state.
  const disconnect = client.disconnect.bind(client);
  client.disconnect = (reconnect = false) => {
    if (!reconnect) for (const watcher of watchers) watcher.disconnect();
    disconnect(reconnect);
  };
};

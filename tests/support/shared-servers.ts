/** A server for each shared store, for tests of the binary that run on all of them. */

import { startPostgres } from './postgres-server.ts';
import { startRedis } from './redis-server.ts';

export interface SharedServer {
  /** The address of an empty store. */
  place(): Promise<string>;
  kill(): Promise<void>;
  restart(): Promise<void>;
  remove(): Promise<void>;
}

/** Everything that Redis acknowledged is on disk: it may be killed. */
const DURABLE = { appendonly: 'yes', appendfsync: 'always' };

export const SHARED_STORES: Readonly<Record<'redis' | 'postgres', () => Promise<SharedServer>>> = {
  redis: async () => {
    const server = await startRedis(DURABLE);
    let database = 0;
    return { ...server, place: async () => `${server.url}/${database++}` };
  },
  postgres: async () => {
    const server = await startPostgres();
    return { ...server, place: server.database };
  },
};

export type SharedStoreName = keyof typeof SHARED_STORES;

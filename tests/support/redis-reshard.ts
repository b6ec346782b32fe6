/** Moves slots of a Redis Cluster from one node to another, as `redis-cli --cluster reshard` does. */

import { Redis } from 'ioredis';
import type { RedisCluster } from './redis-server.ts';

/** Keys that one command moves: as few as redis-cli takes. */
const KEYS_AT_ONCE = 10;

interface Node {
  readonly client: Redis;
  readonly id: string;
  readonly port: number;
}

export interface Reshard {
  slotOf(key: string): Promise<number>;
  /** Moves a slot to another node; `onHalfMoved` is awaited when some of its keys have moved, if it has as many. */
  move(slot: number, onHalfMoved?: () => Promise<void>): Promise<{ readonly keys: number }>;
  close(): void;
}

export const openReshard = async ({ nodes }: RedisCluster): Promise<Reshard> => {
  const all: Node[] = await Promise.all(
    nodes.map(async ({ port }) => {
      const client = new Redis({ port, host: '127.0.0.1' });
      return { client, port, id: String(await client.call('CLUSTER', 'MYID')) };
    }),
  );
  const ownerOf = async (slot: number): Promise<Node> => {
    const text = String(await all[0]!.client.call('CLUSTER', 'NODES'));
    for (const line of text.trim().split('\n')) {
      const [id, , , , , , , , ...ranges] = line.split(' ');
      const has = ranges.some((range) => {
        const [from, to = from] = range.split('-').map(Number);
        return slot >= from! && slot <= to!;
      });
      if (has) return all.find((node) => node.id === id)!;
    }
    throw new Error(`no node has the slot ${slot}`);
  };
  return {
    slotOf: async (key) => Number(await all[0]!.client.call('CLUSTER', 'KEYSLOT', key)),
    move: async (slot, onHalfMoved = async () => {}) => {
      const from = await ownerOf(slot);
      const to = all[(all.indexOf(from) + 1) % all.length]!;
      await to.client.call('CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', from.id);
      await from.client.call('CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', to.id);
      let moved = 0;
      for (;;) {
        const count = String(KEYS_AT_ONCE);
        const keys = (await from.client.call('CLUSTER', 'GETKEYSINSLOT', String(slot), count)) as string[];
        if (keys.length === 0) break;
        await from.client.call('MIGRATE', '127.0.0.1', String(to.port), '', '0', '5000', 'REPLACE', 'KEYS', ...keys);
        if (moved === 0) await onHalfMoved();
        moved += keys.length;
      }
      for (const { client } of [to, from, ...all]) await client.call('CLUSTER', 'SETSLOT', String(slot), 'NODE', to.id);
      return { keys: moved };
    },
    close: () => all.forEach(({ client }) => client.disconnect()),
  };
};

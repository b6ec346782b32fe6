/**
 * Tells a slot that was moved from one node of a cluster to another from one whose node was replaced.
 *
 * Both are another server to the shard. But after a move the former server lives, as a master in the same life, and
 * says itself that it does not have the slot any more; after a failover it is gone, is a replica, or is cut off and
 * still takes the slot for its own.
 */

import type { Redis } from 'ioredis';
import type { Session } from './session.ts';

interface Master {
  /** The replication id of this node. */
  readonly server: string;
  has(slot: number): boolean;
}

/** Opens the shards that have only moved. */
export const openMoved = async (session: Session): Promise<void> => {
  const { wire, hints, mending } = session;
  const shut = [...hints.shut];
  const nodes = wire.masters();
  if (shut.length === 0 || nodes.length === 0) return;
  const masters = (await Promise.all(nodes.map(masterOf))).flatMap((one) => one ?? []);
  const slots = await Promise.all(shut.map((shard) => wire.slotOf(shard)));
  const states = await wire.all(
    shut.map((shard, i) => {
      const others = masters.filter(({ has }) => slots[i] !== null && !has(slots[i]!)).map(({ server }) => server);
      return { name: 'moved' as const, shard, args: [hints.stamp(shard), others.join(' ')] };
    }),
  );
  for (const [i, shard] of shut.entries()) {
    if (states[i] !== 1) continue;
    hints.open(shard);
    mending.delete(shard);
    session.opened.add(shard);
  }
};

/** Null for a node that does not answer, or is no master. */
const masterOf = async (node: Redis): Promise<Master | null> => {
  try {
    const [info, known] = (await Promise.all([node.info('replication'), node.call('CLUSTER', 'NODES')])) as [
      string,
      string,
    ];
    const server = /^master_replid:(\w+)/m.exec(info)?.[1];
    const [, , flags = '', , , , , , ...slots] = /^.*\bmyself\b.*$/m.exec(known)?.[0].split(' ') ?? [];
    if (!server || !/^role:master/m.test(info) || !flags.includes('master')) return null;
    // `0-5460 7000`; what stands in brackets is on its way
    const ranges = slots.filter((text) => !text.startsWith('[')).map((text) => text.split('-').map(Number));
    return { server, has: (slot) => ranges.some(([from, to = from]) => from! <= slot && slot <= to!) };
  } catch {
    return null;
  }
};

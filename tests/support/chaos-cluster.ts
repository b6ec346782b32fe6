/** A Redis Cluster of three masters, each with a replica. */

import type { Redis } from 'ioredis';
import { freePort } from './free-port.ts';
import { follows, forgetParting, makeNode, partReplica, type Node } from './chaos-redis-node.ts';
import { pause, type ChaosStore, type StorePlace } from './chaos-store.ts';
import { until } from './until.ts';

const MASTERS = 3;
const SLOTS = 16_384;
/** Keys that one MIGRATE takes along, as `redis-cli --cluster reshard` does it. */
const KEYS_PER_MOVE = 10;
/** What a step takes where the nodes are apart: scripts meet slots that are half moved. */
const STEP_MS = 150;
const MOVE_MS_MAX = 5_000;

interface Member {
  readonly node: Node;
  readonly busPort: number;
}

interface Pair {
  master: Member;
  replica: Member;
}

const makeMember = async (place: StorePlace): Promise<Member> => {
  const busPort = await freePort();
  const node = await makeNode(place, {
    'cluster-enabled': 'yes',
    'cluster-port': String(busPort),
    'cluster-announce-ip': place.host,
    'cluster-node-timeout': '15000', // a busy machine must not make a node look dead
    'cluster-replica-validity-factor': '0',
  });
  await node.start();
  return { node, busPort };
};

const firstSlot = (n: number): number => Math.ceil((n * SLOTS) / MASTERS);

const idOf = async ({ node }: Member): Promise<string> => String(await node.ask('CLUSTER', 'MYID'));

const infoOf = async ({ node }: Member): Promise<string> => String(await node.ask('CLUSTER', 'INFO').catch(() => ''));

const isWhole = async (member: Member): Promise<boolean> => {
  const info = await infoOf(member);
  return (
    info.includes('cluster_state:ok') &&
    info.includes(`cluster_known_nodes:${2 * MASTERS}`) &&
    info.includes(`cluster_slots_ok:${SLOTS}`)
  );
};

const build = async (place: StorePlace): Promise<Pair[]> => {
  const pairs: Pair[] = [];
  for (let n = 0; n < MASTERS; n++) pairs.push({ master: await makeMember(place), replica: await makeMember(place) });
  const all = pairs.flatMap(({ master, replica }) => [master, replica]);
  const first = pairs[0]!.master;
  for (const [n, { master }] of pairs.entries())
    await master.node.talk(async (client) => {
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(n + 1)); // or they would have to agree on who is newer
      await client.call('CLUSTER', 'ADDSLOTSRANGE', String(firstSlot(n)), String(firstSlot(n + 1) - 1));
    });
  for (const member of all.slice(1))
    await member.node.ask('CLUSTER', 'MEET', place.host, first.node.port, first.busPort);
  for (const member of all) await until('the cluster is whole', () => isWhole(member));
  for (const { master, replica } of pairs) {
    const id = await idOf(master);
    await until('a replica has its master', () =>
      replica.node.ask('CLUSTER', 'REPLICATE', id).then(
        () => true,
        () => false,
      ),
    );
  }
  for (const { replica } of pairs) await until('the replicas follow', () => follows(replica.node));
  return pairs;
};

/** One slot with its keys, which are moved some at a time. */
const moveSlot = async (
  slot: number,
  to: { readonly host: string; readonly port: number; readonly id: string },
  clients: {
    readonly source: Redis;
    readonly target: Redis;
    readonly others: readonly Redis[];
    readonly sourceId: string;
  },
): Promise<number> => {
  const { source, target, others, sourceId } = clients;
  await target.call('CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', sourceId);
  await source.call('CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', to.id);
  let moved = 0;
  for (;;) {
    const keys = (await source.call('CLUSTER', 'GETKEYSINSLOT', String(slot), String(KEYS_PER_MOVE))) as string[];
    if (keys.length === 0) break;
    await source.call('MIGRATE', to.host, String(to.port), '', '0', String(MOVE_MS_MAX), 'REPLACE', 'KEYS', ...keys);
    moved += keys.length;
    await pause(STEP_MS);
  }
  for (const client of [target, source, ...others])
    await client.call('CLUSTER', 'SETSLOT', String(slot), 'NODE', to.id);
  return moved;
};

/** Slots of this master: those with keys first, then empty ones. */
const slotsOf = async (client: Redis, id: string, count: number): Promise<number[]> => {
  const line = String(await client.call('CLUSTER', 'NODES'))
    .split('\n')
    .find((one) => one.startsWith(id))!;
  const own = line
    .split(' ')
    .slice(8)
    .filter((range) => /^\d/.test(range))
    .flatMap((range) => {
      const [from, to = from] = range.split('-').map(Number) as [number, number?];
      return Array.from({ length: to - from + 1 }, (_, n) => from + n);
    });
  const filled: number[] = [];
  for (const slot of own)
    if (Number(await client.call('CLUSTER', 'COUNTKEYSINSLOT', String(slot))) > 0) filled.push(slot);
  const isFilled = new Set(filled);
  // Half of what has keys stays, so that both masters have work.
  const chosen = filled.slice(0, Math.ceil(filled.length / 2));
  return [...chosen, ...own.filter((slot) => !isFilled.has(slot))].slice(0, count).toSorted((a, b) => a - b);
};

export const startCluster = async (place: StorePlace): Promise<ChaosStore> => {
  const pairs = await build(place);
  const url = `redis://${place.host}:${pairs.at(-1)!.master.node.port}`; // the last one to be hit
  let turn = 0;
  const next = (): Pair => pairs[turn++ % MASTERS]!;

  const failOver = async (lagMs: number): Promise<void> => {
    const pair = next();
    const { master, replica } = pair;
    await partReplica(master.node, replica.node);
    await pause(lagMs);
    await master.node.kill();
    await replica.node.ask('CLUSTER', 'FAILOVER', 'TAKEOVER');
    [pair.master, pair.replica] = [replica, master];
    await until('the cluster is whole again', () => isWhole(pair.master));
    await forgetParting(pair.master.node);
    await pair.replica.node.start(); // it becomes a replica by itself
    await until('the old master follows', () => follows(pair.replica.node));
  };

  const reshard = async (slots: number): Promise<number> => {
    const [from, target, ...others] = pairs.map(({ master }) => master) as [Member, Member, ...Member[]];
    const to = { host: place.host, port: target.node.port, id: await idOf(target) };
    const sourceId = await idOf(from);
    return from.node.talk((source) =>
      target.node.talk((targetClient) =>
        others[0]!.node.talk(async (other) => {
          const clients = { source, target: targetClient, others: [other], sourceId };
          let keys = 0;
          for (const slot of await slotsOf(source, sourceId, slots)) keys += await moveSlot(slot, to, clients);
          return keys;
        }),
      ),
    );
  };

  return {
    url,
    crash: async (awayMs) => {
      const { master } = next();
      await master.node.kill();
      await pause(awayMs);
      await master.node.start();
    },
    failOver,
    refuseWrites: async (ms) => {
      const ask = (replicas: number): Promise<unknown> =>
        Promise.all(pairs.map(({ master }) => master.node.ask('CONFIG', 'SET', 'min-replicas-to-write', replicas)));
      await ask(9); // NOREPLICAS: a cluster knows no READONLY
      await pause(ms);
      await ask(0);
    },
    reshard,
    remove: async () => {
      for (const { master, replica } of pairs) for (const { node } of [master, replica]) await node.kill();
    },
  };
};

/** One Redis with a replica behind a door, and one under three Sentinels. */

import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openDoor } from './chaos-door.ts';
import { follows, forgetParting, makeNode, partReplica, startSentinel, type Node } from './chaos-redis-node.ts';
import { pause, type ChaosStore, type StorePlace } from './chaos-store.ts';
import { until } from './until.ts';

const startPair = async (place: StorePlace): Promise<{ master: Node; replica: Node }> => {
  const announced = { 'replica-announce-ip': place.host };
  const master = await makeNode(place, announced);
  const replica = await makeNode(place, announced);
  await master.start();
  await replica.start({ replicaof: `${place.host} ${master.port}` });
  await until('the replica follows', () => follows(replica));
  return { master, replica };
};

export const startSingleRedis = async (place: StorePlace): Promise<ChaosStore> => {
  let { master, replica } = await startPair(place);
  const door = await openDoor(place.host, master.port);
  return {
    url: `redis://${place.host}:${door.port}`,
    crash: async (awayMs) => {
      await master.kill();
      await pause(awayMs);
      await master.start();
    },
    failOver: async (lagMs) => {
      await partReplica(master, replica);
      await pause(lagMs);
      await master.kill();
      await replica.ask('REPLICAOF', 'NO', 'ONE');
      door.leadTo(replica.port);
      [master, replica] = [replica, master];
      await forgetParting(master);
      await replica.start({ replicaof: `${place.host} ${master.port}` }); // for the next time
    },
    goBack: async (byMs) => {
      const kept = join(place.dir, 'kept');
      rmSync(kept, { recursive: true, force: true });
      const files = join(master.dir, 'appendonlydir');
      if (!existsSync(files)) throw new Error(`there is no ${files}`);
      cpSync(files, kept, { recursive: true });
      await pause(byMs);
      await master.kill();
      rmSync(files, { recursive: true });
      cpSync(kept, files, { recursive: true });
      await master.start({ 'aof-load-truncated': 'yes' });
    },
    refuseWrites: async (ms) => {
      await master.ask('REPLICAOF', '127.0.0.1', 1); // READONLY: a replica of nobody
      await pause(ms);
      await master.ask('REPLICAOF', 'NO', 'ONE');
    },
    shut: door.shut,
    open: door.open,
    remove: async () => {
      await door.close();
      for (const node of [master, replica]) await node.kill();
    },
  };
};

const SENTINELS = 3;
const QUORUM = 2;

export const startSentinels = async (place: StorePlace): Promise<ChaosStore> => {
  let { master, replica } = await startPair(place);
  const sentinels: Node[] = [];
  for (let n = 0; n < SENTINELS; n++) sentinels.push(await startSentinel(place, master, QUORUM));
  for (const sentinel of sentinels) {
    await until('the Sentinels know each other and the replica', async () => {
      const known = (await sentinel.ask('SENTINEL', 'MASTER', 'chaos')) as string[];
      const numberAt = (name: string): number => Number(known[known.indexOf(name) + 1]);
      return numberAt('num-other-sentinels') === SENTINELS - 1 && numberAt('num-slaves') === 1;
    });
  }
  const masterPort = async (): Promise<number> =>
    Number(((await sentinels[0]!.ask('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'chaos')) as string[])[1]);
  return {
    url: `redis+sentinel://${sentinels.map(({ port }) => `${place.host}:${port}`).join(',')}/chaos`,
    crash: async () => {
      await master.kill();
      await master.start(); // before it is thought to be down
    },
    failOver: async (lagMs) => {
      await partReplica(master, replica);
      await pause(lagMs);
      await master.kill();
      await until('the Sentinels have promoted the replica', async () => (await masterPort()) === replica.port);
      await until('it is the master', async () => /role:master/.test(String(await replica.ask('INFO', 'replication'))));
      [master, replica] = [replica, master];
      await forgetParting(master);
      await replica.start({ replicaof: `${place.host} ${master.port}` });
    },
    remove: async () => {
      for (const node of [...sentinels, master, replica]) await node.kill();
    },
  };
};

/** The Redis store keeps the contract of a store on a cluster of three nodes. */

import { after, before } from 'node:test';
import { startRedisCluster, type RedisCluster } from './support/redis-server.ts';
import { redisContract } from './support/redis-scene.ts';

let cluster: RedisCluster;
before(async () => void (cluster = await startRedisCluster()));
after(() => cluster.remove());

redisContract('redis-cluster', () => cluster.url);

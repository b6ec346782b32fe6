/** The Redis store keeps both contracts on a cluster of three nodes. */

import { after, before } from 'node:test';
import { storedCrawlContract } from './contract/stored-crawl.ts';
import { redisContract, redisPlaces } from './support/redis-scene.ts';
import { startRedisCluster, type RedisCluster } from './support/redis-server.ts';

let cluster: RedisCluster;
before(async () => void (cluster = await startRedisCluster()));
after(() => cluster.remove());

redisContract('redis-cluster', () => cluster.url);
storedCrawlContract(
  'redis-cluster',
  redisPlaces(() => cluster.url),
);

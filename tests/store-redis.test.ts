/** The Redis store keeps both contracts, on one server. */

import { after, before } from 'node:test';
import { Redis } from 'ioredis';
import { storedCrawlContract } from './contract/stored-crawl.ts';
import { redisContract, redisPlaces } from './support/redis-scene.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';
import { redisTamper } from './support/redis-tamper.ts';

let server: RedisServer;
let redis: Redis;
before(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
after(async () => {
  redis.disconnect();
  await server.remove();
});

redisContract('redis', () => server.url);
storedCrawlContract(
  'redis',
  redisPlaces(() => server.url),
  redisTamper(() => redis),
);

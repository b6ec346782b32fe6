/** The Redis store keeps the contract of a store, on one server. */

import { after, before } from 'node:test';
import { startRedis, type RedisServer } from './support/redis-server.ts';
import { redisContract } from './support/redis-scene.ts';

let server: RedisServer;
before(async () => void (server = await startRedis()));
after(() => server.remove());

redisContract('redis', () => server.url);

/** The Redis store keeps both contracts with the waiting links in files. */

import { after, before } from 'node:test';
import { storedCrawlContract } from './contract/stored-crawl.ts';
import { redisContract, redisPlaces } from './support/redis-scene.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';

let server: RedisServer;
before(async () => void (server = await startRedis()));
after(() => server.remove());

/**
 * Hardly two references may lie in a queue, a file is full after some links, and what is left in one is looked at all
 * the time.
 */
const SMALL = {
  frontier: 'files',
  limits: { referencesMax: 2, blockLinksMax: 5, blockCharsMax: 300, fileBytesMax: 2_000, lookMs: 20, graceMs: 0 },
} as const;

redisContract('redis-files', () => server.url, SMALL);
storedCrawlContract(
  'redis-files',
  redisPlaces(() => server.url, SMALL),
);

/** The Redis store keeps the contract of a store with the lines of waiting links in files. */

import { after, before } from 'node:test';
import { startRedis, type RedisServer } from './support/redis-server.ts';
import { redisContract } from './support/redis-scene.ts';

let server: RedisServer;
before(async () => void (server = await startRedis()));
after(() => server.remove());

/**
 * Hardly two references may lie in a line, a file is full after some links, and what is left in one is looked at all
 * the time.
 */
redisContract('redis-files', () => server.url, {
  frontier: 'files',
  frontierLimits: {
    referencesMax: 2,
    blockLinesMax: 5,
    blockCharsMax: 300,
    fileBytesMax: 2_000,
    lookMs: 20,
    graceMs: 0,
  },
});

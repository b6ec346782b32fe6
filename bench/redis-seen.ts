/**
 * What a known URL costs in Redis: admits millions through the real step, and reads how much memory the server has
 * more.
 */

import { Redis } from 'ioredis';
import { link } from '../tests/contract/store-scene.ts';
import { createMember, openMember, removeMember } from '../tests/support/redis-scene.ts';
import { startRedis } from '../tests/support/redis-server.ts';
import { openMemoryArchive } from '../tests/support/memory-archive.ts';
import type { Link } from '../src/model/link.ts';
import { SHARDS, shardOf } from '../src/url/shard.ts';

/** URLs at which memory is read; arguments name others. */
const STEPS = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1_000_000, 10_000_000];
const BATCH = 20_000;

/** One site in each shard, so that sites cost nothing to speak of. */
const sites = Array.from({ length: SHARDS }, (_, shard) => {
  for (let i = 0; ; i++) if (shardOf(`s${i}.example`) === shard) return `s${i}.example`;
});

const linksFrom = (from: number, count: number): Link[] =>
  Array.from({ length: count }, (_, i) => link(`${sites[(from + i) % SHARDS]}/page/${from + i}.html`));

const server = await startRedis();
const redis = new Redis(server.url);
const folder = createMember('seen');
const store = await openMember(folder, { url: server.url, archive: openMemoryArchive() });
try {
  const queues = sites.map((site, shard) => `{seen:${shard}}:queue:${site}`);
  const usedBytes = async (): Promise<number> => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))![1]);
  const emptyBytes = await usedBytes();
  let known = 0;
  let wrong = 0;
  for (const target of STEPS) {
    const began = performance.now();
    const before = known;
    while (known < target) {
      const { admitted } = await store.admit(linksFrom(known, BATCH));
      wrong += BATCH - admitted; // all are new: any other was taken for one that is known
      known += BATCH;
      await Promise.all(queues.map((key) => redis.del(key))); // the queues are not what is measured
    }
    const seconds = (performance.now() - began) / 1_000;
    const bytes = (await usedBytes()) - emptyBytes;
    const again = await store.admit(linksFrom(0, BATCH));
    console.log(
      `${known} URLs: ${(bytes / known).toFixed(2)} bytes per URL (${(bytes / 1024 ** 2).toFixed(1)} MiB), ${Math.round((known - before) / seconds)} admitted/s, ` +
        `${wrong} new ones taken as seen, ${BATCH - again.seen} known ones taken as new`,
    );
  }
} finally {
  await store.close();
  redis.disconnect();
  await server.remove();
  removeMember(folder);
}

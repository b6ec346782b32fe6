/** A crawl in Redis, opened to look at it: its notes, and what people read of it. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { StoreFault } from '../src/frontier/store.ts';
import { openRedisCrawl } from '../src/store/redis/crawl.ts';
import type { SharedCrawl } from '../src/store/shared-crawl.ts';
import { SHARDS } from '../src/url/shard.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { createMember, openMember, removeMember } from './support/redis-scene.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';

let server: RedisServer;
before(async () => void (server = await startRedis()));
after(() => server.remove());

let crawls = 0;
const freshName = (): string => `look-${process.pid}-${++crawls}`;

const withCrawl = async (crawl: string, work: (crawl: SharedCrawl) => Promise<void>, shards = SHARDS): Promise<void> => {
  const opened = await openRedisCrawl({ url: server.url, crawl, shards, say: () => {} });
  try {
    await work(opened);
  } finally {
    await opened.close();
  }
};

const isFault = (words: RegExp) => (error: unknown): boolean => error instanceof StoreFault && words.test(error.message);

test('redis: a crawl that is not there has no note, and looking for one makes nothing', async () => {
  const name = freshName();
  await withCrawl(name, async (crawl) => assert.equal(await crawl.note('identity'), null));
  const redis = new Redis(server.url);
  assert.deepEqual(await redis.keys(`{${name}*`), []);
  redis.disconnect();
});

test('redis: of processes that write a note at once the first wins, and all are told what it wrote', async () => {
  const name = freshName();
  const crawls = await Promise.all(Array.from({ length: 4 }, () => openRedisCrawl({ url: server.url, crawl: name, shards: SHARDS, say: () => {} })));
  const told = await Promise.all(crawls.map((crawl, i) => crawl.keepNote('identity', `by ${i}`)));
  assert.equal(new Set(told).size, 1);
  assert.match(told[0]!, /^by [0-3]$/);
  assert.equal(await crawls[3]!.note('identity'), told[0]);
  assert.equal(await crawls[0]!.note('seeds.txt'), null);
  for (const crawl of crawls) await crawl.close();
  const folder = createMember(name);
  const store = await openMember(folder, { url: server.url, archive: openMemoryArchive() }); // the crawl was made with the shards of the place
  await store.close();
  removeMember(folder);
  await withCrawl(name, async (crawl) => {
    assert.equal(await crawl.keepNote('seeds.txt', 'ü\n'), 'ü\n', 'another number of shards is no error');
    assert.equal(await crawl.note('identity'), told[0]);
  }, 7);
});

test('redis: a crawl that a newer program made is refused, and changed by nobody', async () => {
  const name = freshName();
  await withCrawl(name, async (crawl) => void (await crawl.keepNote('identity', '1')));
  await withCrawl(name, async (crawl) => {
    const redis = new Redis(server.url);
    await redis.hset(`{${name}}:meta`, 'layout', '99');
    await assert.rejects(crawl.keepNote('other', '2'), isFault(/layout 99/));
    assert.equal(await crawl.note('other'), null);
    await assert.rejects(openRedisCrawl({ url: server.url, crawl: name, shards: SHARDS, say: () => {} }), isFault(/layout 99/));
    redis.disconnect();
  });
});

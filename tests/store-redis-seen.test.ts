/** The set of known URLs in Redis: exact, in many small arrays. And the queues of waiting links: in blocks. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import type { OpenedStore } from '../src/store/options.ts';
import { fingerprint } from '../src/url/fingerprint.ts';
import { ask, link, settlementOf } from './contract/store-scene.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { createMember, keyOf as keyIn, openMember, removeMember, type MemberFolder } from './support/redis-scene.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';

const URLS = 100_000;
const SITE = 'a.example';
/** As in `parts/know.lua` and `parts/queue-store.lua`. */
const PRINTS_PER_BUCKET = 180;
const BLOCK_CHARS_MAX = 2_000;

let server: RedisServer;
let redis: Redis;
let folder: MemberFolder;
let store: OpenedStore;
before(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
  folder = createMember();
  store = await openMember(folder, { url: server.url, archive: openMemoryArchive() });
});
after(async () => {
  await store.close();
  redis.disconnect();
  removeMember(folder);
  await server.remove();
});

const linkTo = (n: number) =>
  link(`${SITE}/a/page/${n}.html`, { via: `https://${SITE}/list/${Math.floor(n / 10_000)}` });
const keyOf = (name: string): string => keyIn(folder, SITE, name);

test('redis: known URLs lie in sets that are split as they grow, each fingerprint in the set that is its own', async () => {
  for (let from = 0; from < URLS; from += 5_000) {
    const { admitted } = await store.admit(Array.from({ length: 5_000 }, (_, i) => linkTo(from + i)));
    assert.equal(admitted, 5_000);
  }
  const buckets = Number(await redis.hget(keyOf('count'), 'buckets'));
  assert.equal(buckets, Math.ceil(URLS / PRINTS_PER_BUCKET));
  const level = 2 ** Math.floor(Math.log2(buckets));
  const prints = new Set(Array.from({ length: URLS }, (_, n) => String(BigInt.asIntN(64, fingerprint(linkTo(n).url)))));
  const sizes: number[] = [];
  for (let bucket = 0; bucket < buckets; bucket++) {
    assert.equal(await redis.object('ENCODING', keyOf(`seen:${bucket}`)), 'intset');
    const members = await redis.smembers(keyOf(`seen:${bucket}`));
    sizes.push(members.length);
    for (const print of members) {
      const part = Number(print.slice(-9));
      assert.equal(part % (2 * level) < buckets ? part % (2 * level) : part % level, bucket, print);
      assert.ok(prints.delete(print), `${print} was never admitted, or is in two sets`);
    }
  }
  assert.equal(prints.size, 0, 'all are there');
  assert.ok(Math.max(...sizes) < 512, `${Math.max(...sizes)} in one`);
  assert.equal(await redis.exists(keyOf(`seen:${buckets}`)), 0);
});

test('redis: each of them is known, and its neighbours are not', async () => {
  for (let from = 0; from < URLS; from += 10_000) {
    assert.equal(
      (
        await store.admit(
          Array.from({ length: 10_000 }, (_, i) => linkTo(from + i)),
          1,
        )
      ).seen,
      10_000,
    );
  }
  assert.equal((await store.admit([linkTo(URLS), linkTo(URLS + 1)])).admitted, 2);
});

test('redis: a queue lies in blocks of bounded length, of one page each, and is read from its head', async () => {
  const blocks = await redis.lrange(keyOf(`queue:${SITE}`), 0, -1);
  assert.ok(blocks.every((block) => block.length - block.indexOf('\n') - 1 <= BLOCK_CHARS_MAX));
  assert.ok(blocks.length < URLS / 25, `${blocks.length} blocks`);
  const length = blocks.length;
  for (let n = 0; n < 200; n++) {
    const { visits } = await store.claim(ask({ delayMs: 0 }));
    assert.deepEqual(
      visits.map((visit) => [visit.link.url, visit.link.via]),
      [[linkTo(n).url, linkTo(n).via]],
    );
    await store.settle(visits.map((visit) => settlementOf(visit, { pace: { ...visit.pace, dueAt: visit.claimedAt } })));
  }
  assert.ok((await redis.llen(keyOf(`queue:${SITE}`))) < length, 'what is read goes');
});

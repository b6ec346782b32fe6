/** A crawl in Redis whose waiting links lie in files, looked at: from its own directory, and from elsewhere. */

import assert from 'node:assert/strict';
import { renameSync, rmSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import type { StoredCrawl } from '../src/contract/stored-crawl.ts';
import { shardOf } from '../src/url/shard.ts';
import { ask, claimOne, link, linksOf, settlementOf } from './contract/store-scene.ts';
import { foundIn, soundSurveyOf } from './contract/stored-scene.ts';
import { createManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import {
  createMember,
  filesFolderOf,
  keyOf,
  openLook,
  openMember,
  removeMember,
  type MemberFolder,
} from './support/redis-scene.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';

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

/** a.example has links 3 to 30 waiting in some references, 1 settled, 2 leased; g.example has one that was given up. */
const withFiles = async (story: (crawl: StoredCrawl, folder: MemberFolder) => Promise<void>): Promise<void> => {
  const folder = createMember();
  const clock = createManualClock();
  const options = { url: server.url, frontier: 'files' } as const;
  const store = await openMember(folder, { ...options, archive: openMemoryArchive(), clock });
  await store.admit([link('g.example/1')]);
  for (let claims = 1; claims <= 8; claims++) {
    await store.claim(ask());
    await store.steer([{ kind: 'free', holder: null, counted: true }]);
    clock.advance(60_000);
  }
  for (const one of linksOf('a.example', 30)) await store.admit([one]);
  await store.settle([settlementOf(await claimOne(store))]);
  clock.advance(60_000);
  await claimOne(store);
  await store.close();
  const crawl = await openLook(folder, options);
  try {
    await story(crawl, folder);
  } finally {
    await crawl.close();
    removeMember(folder);
  }
};

const wrongIn = async (crawl: StoredCrawl): Promise<string[]> =>
  (await foundIn(crawl, ['self', 'sites'])).flatMap((one) =>
    one.kind === 'wrong' || one.kind === 'broken' ? [one.says] : [],
  );

test('redis-files: what is referred to must be what is counted', () =>
  withFiles(async (crawl, folder) => {
    assert.equal((await soundSurveyOf(crawl)).links, 31);
    await redis.hincrby(keyOf(folder, 'a.example', 'files'), '1', 1);
    assert.deepEqual(await wrongIn(crawl), [
      `shard ${shardOf('a.example')} counts 30 links of file 1, but refers to 29`,
    ]);
  }));

test('redis-files: a link that was given up keeps its file until its row is written', () =>
  withFiles(async (crawl, folder) => {
    const [reference] = await redis.lrange(keyOf(folder, 'a.example', 'queue:a.example'), 0, -1);
    const [file, offset, number] = reference!.split(' ');
    const gone = keyOf(folder, 'a.example', `gone:${folder.member}`);
    await redis.rpush(gone, `a.example\n5 1\n\n${file} ${offset} ${number} 8`);
    await redis.hset(keyOf(folder, 'a.example', 'batch'), folder.member, '1 1 1 ');
    assert.match((await wrongIn(crawl)).join(), /counts 29 links of file 1, but refers to 30/);
    const given = (await foundIn(crawl, ['pages'])).flatMap((one) => (one.kind === 'pages' ? one.pages : [])).at(-1);
    assert.deepEqual([given?.outcome, given?.tries, given?.site], ['gave-up', 8, 'a.example']);
  }));

test('redis-files: without its files no link can be read, and nothing is thrown', () =>
  withFiles(async (crawl, folder) => {
    const files = filesFolderOf(folder);
    renameSync(files, `${files}-away`);
    assert.deepEqual(await wrongIn(crawl), ['block 1 cannot be read']);
    rmSync(`${files}-away`, { recursive: true });
  }));

test('redis-files: from another directory sites can be read, but no waiting link', () =>
  withFiles(async (_, { crawl: name }) => {
    const elsewhere = createMember(name, 'm2');
    const crawl = await openLook(elsewhere, { url: server.url, frontier: 'files' });
    const view = await crawl.link('https://a.example/20', 'a.example');
    assert.deepEqual([view.state, view.lookedAt, view.site?.waiting, view.site?.next], ['unknown', 0, 28, '']);
    await crawl.close();
    removeMember(elsewhere);
  }));

/** What members ask a Redis for, by its own count: pages share steps, and who has nothing to do asks nearly nothing. */

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Redis } from 'ioredis';
import { BEAT_MS } from '../src/model/pulse.ts';
import type { OpenedStore } from '../src/store/options.ts';
import { SHARDS } from '../src/url/shard.ts';
import { ask, link, linksOf } from './contract/store-scene.ts';
import { createManualClock, type ManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { createMember, openMember, removeMember, type MemberFolder } from './support/redis-scene.ts';
import { scriptsRun } from './support/redis-scripts.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';

let server: RedisServer;
let redis: Redis;
let clock: ManualClock;
let folders: MemberFolder[];
let stores: OpenedStore[];
before(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
after(async () => {
  redis.disconnect();
  await server.remove();
});
beforeEach(async () => {
  clock = createManualClock();
  const { crawl } = createMember();
  folders = ['m1', 'm2'].map((member) => createMember(crawl, member));
  stores = [];
  for (const folder of folders)
    stores.push(await openMember(folder, { url: server.url, archive: openMemoryArchive(), clock }));
});
afterEach(async () => {
  for (const store of stores) await store.close();
  folders.forEach(removeMember);
});

/** A beat, and some shards that are touched with it. */
const SCRIPTS_PER_BEAT = 4;

test('redis: while nothing is due and nobody changes anything, a member asks for nothing but its beats', async () => {
  const [one] = stores;
  await one!.claim(ask());
  await one!.beat();
  const before = await scriptsRun(redis);
  for (let beats = 0; beats < 5; beats++) {
    for (let claims = 0; claims < 4; claims++) {
      clock.advance(BEAT_MS / 4);
      assert.deepEqual((await one!.claim(ask())).visits, []);
    }
    await one!.beat();
  }
  assert.equal((await scriptsRun(redis)) - before, 5 * SCRIPTS_PER_BEAT);
});

test('redis: a member learns by its beat which shards others changed, and looks at those', async () => {
  const [one, two] = stores;
  for (const store of stores) {
    await store.claim(ask());
    await store.beat();
  }
  clock.advance(BEAT_MS);
  await one!.admit(linksOf('a.example', 2));
  for (const store of stores) await store.beat();
  const before = await scriptsRun(redis);
  assert.equal((await two!.claim(ask())).visits.length, 1);
  assert.ok((await scriptsRun(redis)) - before <= 3, 'that shard, and the number of the last entry');
});

test('redis: links of pages that come together are admitted in one step per shard, each page with its own answer', async () => {
  const pages = Array.from({ length: 50 }, (_, page) => [
    ...Array.from({ length: 20 }, (__, i) => link(`s${(7 * page + i) % 90}.example/${page}-${i}`)),
    link('common.example/'),
  ]);
  const before = await scriptsRun(redis);
  const answers = await Promise.all(pages.map((links) => stores[0]!.admit(links)));
  assert.ok((await scriptsRun(redis)) - before <= 2 * SHARDS);
  assert.deepEqual(
    answers.map(({ admitted, seen }) => [admitted, seen]),
    [[21, 0], ...Array.from({ length: 49 }, () => [20, 1])],
  );
  const { admitted, full } = await stores[0]!.admit(
    [link('s1.example/x'), link('s1.example/y')],
    (await stores[0]!.census()).waiting,
  );
  assert.deepEqual([admitted, full], [2, []]);
});

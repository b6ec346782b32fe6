/** A crawl in Redis, looked at: what other members settled, what is under way, queues that take several steps. */

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Redis } from 'ioredis';
import { StoreFault } from '../src/contract/fault.ts';
import type { StoredCrawl } from '../src/contract/stored-crawl.ts';
import type { OpenedStore } from '../src/store/options.ts';
import { openRows } from '../src/store/redis/rows.ts';
import { writeWaiting } from '../src/store/waiting-text.ts';
import { ask, claimOne, link, linksOf, settlementOf } from './contract/store-scene.ts';
import { sitesIn } from './contract/stored-scene.ts';
import { createManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import {
  createMember,
  keyOf,
  openLook,
  openMember,
  removeMember,
  rowsPathOf,
  withLook,
  type MemberFolder,
} from './support/redis-scene.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';

let server: RedisServer;
let redis: Redis;
let folder: MemberFolder;
let store: OpenedStore;
let crawl: StoredCrawl;
before(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
after(async () => {
  redis.disconnect();
  await server.remove();
});
beforeEach(async () => {
  folder = createMember();
  store = await open(folder);
  crawl = await openLook(folder, { url: server.url });
});
afterEach(async () => {
  await store.close();
  await crawl.close();
  removeMember(folder);
});

const clock = createManualClock();
const open = (of: MemberFolder): Promise<OpenedStore> =>
  openMember(of, { url: server.url, archive: openMemoryArchive(), clock });

const isFault =
  (words: RegExp) =>
  (error: unknown): boolean =>
    error instanceof StoreFault && words.test(error.message);

test('redis: looking at a crawl that is not there makes nothing, and says so', async () => {
  const nowhere = createMember();
  await withLook(nowhere, { url: server.url }, async (none) => {
    assert.equal(await none.note('identity'), null);
    await assert.rejects(none.census(), isFault(/has no crawl/));
    await assert.rejects(none.link('https://x.example/', 'x.example'), isFault(/has no crawl/));
  });
  assert.deepEqual(await redis.keys(`{${nowhere.crawl}*`), []);
  removeMember(nowhere);
});

test('redis: a note can be kept by who does not know the number of shards; a crawl of another layout is left alone', async () => {
  await withLook(folder, { url: server.url, shards: 7 }, async (other) => {
    assert.equal(await other.keepNote('seeds.txt', 'ü\n'), 'ü\n');
    assert.equal((await other.census()).waiting, 0);
    await redis.hset(`{${folder.crawl}}:meta`, 'layout', '99');
    await assert.rejects(other.keepNote('other', '2'), isFault(/layout 99/));
    assert.equal(await other.note('other'), null);
  });
});

test('redis: a link that another member settled is settled, though its page is not at hand', async () => {
  const other = createMember(folder.crawl, 'm2');
  const theirs = await open(other);
  await theirs.admit(linksOf('x.example', 2));
  const visit = await claimOne(theirs);
  const page = await withLook(other, { url: server.url }, async (look) => {
    await theirs.settle([settlementOf(visit)]);
    return (await look.link(visit.link.url, 'x.example')).page;
  });
  assert.equal(page?.url, visit.link.url);
  const view = await crawl.link(visit.link.url, 'x.example');
  assert.deepEqual([view.state, view.page, view.open, view.site?.pages], ['settled', null, null, 1]);
  assert.deepEqual(await crawl.pagesAfter(0, {}), { pages: [], row: 0, end: 0 });
  await theirs.close();
  removeMember(other);
});

test('redis: a page whose row is written, but that is not settled yet, is leased', async () => {
  await store.admit(linksOf('x.example', 2));
  const visit = await claimOne(store);
  await store.settle([settlementOf(visit)]);
  const text = writeWaiting({ link: visit.link, tries: 1 });
  await redis.hset(keyOf(folder, 'x.example', 'leased'), 'x.example', `run.77 -\nm1/fetch-1\n\n${text}`);
  const view = await crawl.link(visit.link.url, 'x.example');
  assert.deepEqual([view.state, view.page, view.site?.leased], ['leased', null, visit.link.url]);
});

test('redis: a queue that is longer than one step can look at is looked at to its end', async () => {
  // A page of its own for each makes a block of each.
  const links = Array.from({ length: 10_100 }, (_, i) => link(`x.example/${i}`, { via: `https://v.example/${i}` }));
  await store.admit(links);
  for (const i of [0, 4_999, 5_000, 10_099]) {
    const view = await crawl.link(links[i]!.url, 'x.example');
    assert.deepEqual([view.state, view.open?.link, view.open?.ahead, view.lookedAt], ['waiting', links[i], i, i + 1]);
  }
  const none = await crawl.link('https://x.example/none', 'x.example');
  assert.deepEqual([none.state, none.lookedAt], ['unknown', 10_100]);
});

test('redis: sites come about as they were found, from all shards in turn', async () => {
  const names = Array.from({ length: 3_000 }, (_, i) => `s${(i * 7) % 3_000}.example`);
  for (const half of [names.slice(0, 1_500), names.slice(1_500)])
    await store.admit(half.map((name) => link(`${name}/`)));
  const seen = (await sitesIn(crawl)).map(({ site }) => site);
  assert.deepEqual([seen.length, new Set(seen)], [3_000, new Set(names)]);
  const early = new Set(names.slice(0, 1_500));
  assert.ok(
    seen.slice(0, 600).every((name) => early.has(name)),
    'those of the first batch come before those of the second',
  );
});

test('redis: numbers of rows that were taken back are not given again, so that who follows misses no page', async () => {
  await store.admit([link('x.example/'), link('y.example/')]);
  const [x, y] = (await store.claim(ask())).visits;
  await store.settle([settlementOf(x!)]);
  const { row } = await crawl.pagesAfter(0, {});
  const rows = openRows(rowsPathOf(folder));
  const batch = rows.last()!;
  rows.reduce({ ...batch, parts: [] }, batch.parts); // as when its lease had run out
  rows.close();
  await store.settle([settlementOf(y!)]);
  assert.deepEqual(
    (await crawl.pagesAfter(row, {})).pages.map(({ url }) => url),
    [y!.link.url],
  );
});

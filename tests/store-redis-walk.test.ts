/** What only Redis itself can see to be wrong is told, and what a killed process left is not taken for damage. */

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import type { StoredCrawl } from '../src/contract/stored-crawl.ts';
import type { FoundTally, StoredPage } from '../src/contract/walk.ts';
import type { OpenedStore } from '../src/store/options.ts';
import { writeWaiting } from '../src/store/waiting-text.ts';
import { SHARDS, shardOf } from '../src/url/shard.ts';
import { ask, claimOne, link, linksOf, pageOf, recordsOf, settlementOf, type Scene } from './contract/store-scene.ts';
import { makeGround } from './contract/stored-damages.ts';
import { foundIn, soundSurveyOf, surveyOf } from './contract/stored-scene.ts';
import { createManualClock } from './support/manual-clock.ts';
import { openMemoryArchive, type MemoryArchive } from './support/memory-archive.ts';
import { openGate } from './support/redis-gate.ts';
import {
  createMember,
  keyOf,
  openLook,
  openMember,
  pagesOf,
  removeMember,
  rowsPathOf,
  type MemberFolder,
} from './support/redis-scene.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';
import { blockOf } from './support/redis-tamper.ts';
import { until } from './support/until.ts';

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

interface Stage {
  readonly folder: MemberFolder;
  readonly archive: MemoryArchive;
  readonly crawl: StoredCrawl;
  store: OpenedStore;
  /** The name of a key in the shard of a site. */
  key(site: string, name: string): string;
  /** Opens the store again, through that address. */
  reopen(url?: string): Promise<void>;
}

const clock = createManualClock();

const onStage = async (story: (stage: Stage) => Promise<void>): Promise<void> => {
  const folder = createMember();
  const archive = openMemoryArchive();
  const open = (url: string): Promise<OpenedStore> => openMember(folder, { url, archive, clock });
  const store = await open(server.url);
  const stage: Stage = {
    folder,
    archive,
    store,
    crawl: await openLook(folder, { url: server.url }),
    key: (site, name) => keyOf(folder, site, name),
    reopen: async (url = server.url) => {
      await stage.store.close();
      stage.store = await open(url);
    },
  };
  try {
    await story(stage);
  } finally {
    await stage.store.close();
    await stage.crawl.close();
    removeMember(folder);
  }
};

const wrongIn = async (crawl: StoredCrawl): Promise<string[]> =>
  (await foundIn(crawl, ['self'])).flatMap((one) => (one.kind === 'wrong' ? [one.says] : []));

/** What makes a crawl; nothing of it crashes. */
const sceneOf = (store: OpenedStore, archive: MemoryArchive): Scene => ({
  store,
  clock,
  archive,
  pages: () => assert.fail(),
  crash: () => assert.fail(),
});

/** Each wrongness, and what is said of it; more may be said. */
const PLANTS: readonly (readonly [what: string, plant: (stage: Stage) => unknown, says: RegExp])[] = [
  [
    'a queue without its site',
    ({ key }) => redis.rpush(key('z.example', 'queue:z.example'), blockOf('https://z.example/1')),
    /^links of the site z\.example wait, but no site has them$/,
  ],
  [
    'known URLs are not counted',
    ({ key }) => redis.hincrby(key('a.example', 'count'), 'seen', 1),
    /^shard \d+ counts \d+ known URLs, but has \d+$/,
  ],
  [
    'a known URL lies in a set where nobody looks',
    async ({ key }) => {
      await redis.hset(key('a.example', 'count'), 'buckets', 2);
      await redis.sunionstore(key('a.example', 'seen:1'), key('a.example', 'seen:0'));
      await redis.del(key('a.example', 'seen:0'));
    },
    /^shard \d+ has \d+ known URLs? in the wrong set, where nobody looks$/,
  ],
  [
    'a known URL is none',
    ({ key }) => redis.sadd(key('a.example', 'seen:0'), 'nonsense'),
    /^shard \d+ has 1 known URL in the wrong set/,
  ],
  [
    'a site is lost',
    ({ key }) => redis.del(key('i.example', 'site:i.example')),
    /^the site i\.example is on the list of sites, but nothing is known of it$/,
  ],
  [
    'a site is not on the list',
    ({ key }) => redis.lrem(key('a.example', 'sites'), 0, 'a.example'),
    /^the site a\.example is not on the list of sites$/,
  ],
  [
    'a site is on the list twice',
    ({ key }) => redis.rpush(key('a.example', 'sites'), 'a.example'),
    /^the site a\.example is on the list of sites twice$/,
  ],
  [
    'a site that waits is not due',
    ({ key }) => redis.zrem(key('a.example', 'due'), 'a.example'),
    /^the site a\.example waits, but is not among those that are visited$/,
  ],
  [
    'a site is due too early',
    ({ key }) => redis.zadd(key('a.example', 'due'), 1, 'a.example'),
    /^the site a\.example is visited at another moment than it says$/,
  ],
  [
    'an idle site is due',
    ({ key }) => redis.zadd(key('i.example', 'due'), 1, 'i.example'),
    /^the site i\.example is among those that are visited, but does not wait$/,
  ],
  [
    'a site is due that is not there',
    ({ key }) => redis.zadd(key('a.example', 'due'), 1, 'nowhere.example'),
    /^shard \d+ has 2 sites in "due", but 1 belong there$/,
  ],
  [
    'a parked site is not among the parked ones',
    ({ key }) => redis.srem(key('p.example', 'parked'), 'p.example'),
    /^the site p\.example is parked, but not among the parked ones$/,
  ],
  [
    'a site among the parked ones is not parked',
    ({ key }) => redis.sadd(key('a.example', 'parked'), 'a.example'),
    /^the site a\.example is among the parked ones, but is not parked$/,
  ],
  [
    'a held site is not among the held ones',
    ({ key }) => redis.srem(key('h.example', 'held'), 'h.example'),
    /^the site h\.example is held, but not among the held ones$/,
  ],
  [
    'a lease never ends',
    ({ key }) => redis.zrem(key('b.example', 'lease'), 'b.example'),
    /^the lease of the site b\.example never ends/,
  ],
  [
    'a lease has an end, but no link',
    ({ key }) => redis.hdel(key('b.example', 'leased'), 'b.example'),
    /^the lease of the site b\.example has an end, but no link$/,
  ],
  [
    'a lease ends at another moment',
    ({ key }) => redis.zadd(key('b.example', 'lease'), 5, 'b.example'),
    /^the lease of the site b\.example ends at another moment than it says$/,
  ],
  [
    'a site has a lease that is not there',
    ({ key }) => redis.hset(key('b.example', 'leased'), 'nowhere.example', 'x'),
    /^shard \d+ has 2 sites in "leased", but 1 belong there$/,
  ],
  [
    'rules lie where nobody looks',
    async ({ folder, key }) => {
      const text = (await redis.hget(key('a.example', 'robots'), 'https://a.example'))!;
      await redis.hset(`{${folder.crawl}:${(shardOf('a.example') + 1) % SHARDS}}:robots`, 'https://a.example', text);
    },
    /^the robots rules of https:\/\/a\.example are in shard \d+, where nobody looks$/,
  ],
  [
    'a key that nobody knows',
    ({ key }) => redis.set(key('a.example', 'other'), '1'),
    /^nothing accounts for the key \{.*\}:other$/,
  ],
  [
    'a key of a shard that is not there',
    ({ folder }) => redis.set(`{${folder.crawl}:${SHARDS}}:count`, '1'),
    /^nothing accounts for the key \{.*\}:count$/,
  ],
  [
    'a set of known URLs too many',
    ({ key }) => redis.sadd(key('a.example', 'seen:7'), '1'),
    /^nothing accounts for the key \{.*\}:seen:7$/,
  ],
];

test('redis: each thing that only Redis can see to be wrong is told', async (t) => {
  for (const [what, plant, says] of PLANTS) {
    await t.test(what, () =>
      onStage(async (stage) => {
        await makeGround(sceneOf(stage.store, stage.archive));
        assert.deepEqual(await wrongIn(stage.crawl), [], 'sound before');
        await plant(stage);
        const wrong = await wrongIn(stage.crawl);
        assert.ok(
          wrong.some((one) => says.test(one)),
          JSON.stringify(wrong),
        );
        assert.ok((await surveyOf(stage.crawl)).faults.length > 0, 'and nothing is thrown');
      }),
    );
  }
});

const partsOf = async (crawl: StoredCrawl): Promise<{ pages: StoredPage[]; tally: FoundTally }> => {
  const found = await foundIn(crawl, ['pages', 'tally']);
  const tally = found.at(-1);
  assert.ok(tally?.kind === 'tally');
  return { pages: found.flatMap((one) => (one.kind === 'pages' ? one.pages : [])), tally };
};

test('redis: a batch that was written here, but never settled, is no fault, and its records lie after the end', () =>
  onStage(async (stage) => {
    const { crawl, folder, archive } = stage;
    const gate = await openGate(server.port);
    await stage.reopen(gate.url);
    const { store } = stage;
    await store.admit([link('a.example/1'), link('b.example/1')]);
    const { visits } = await store.claim(ask());
    await store.settle([settlementOf(visits[0]!, { records: recordsOf('one') })]);
    const settledEnd = archive.end();
    gate.commands = 0; // killed between the row and its settlement
    const lost = store.settle([settlementOf(visits[1]!, { records: recordsOf('two') })]).catch(() => {});
    await until('it was swallowed', () => gate.swallowed > 0);
    await gate.close();
    await store.close();
    await lost;
    assert.equal(pagesOf(folder).length, 2);
    assert.equal((await soundSurveyOf(crawl)).links, 2);
    const { pages, tally } = await partsOf(crawl);
    assert.deepEqual([pages.map(({ url }) => url), tally.archive], [[visits[0]!.link.url], settledEnd]);
  }));

test('redis: records of a batch of which only a later part was settled are dead, as the next start will say', () =>
  onStage(async (stage) => {
    const { crawl, folder, archive, key, store } = stage;
    await store.admit([link('a.example/1'), link('b.example/1')]);
    const { visits } = await store.claim(ask());
    await store.settle(visits.map((visit) => settlementOf(visit, { records: recordsOf(visit.link.url) })));
    assert.deepEqual((await partsOf(crawl)).tally.dead, []);
    await redis.hdel(key(visits[0]!.site, 'batch'), 'm1');
    const { pages, tally } = await partsOf(crawl);
    assert.deepEqual(
      pages.map(({ url }) => url),
      [visits[1]!.link.url],
    );
    assert.deepEqual(tally.archive, archive.end());
    await stage.reopen();
    assert.deepEqual(folder.dead, tally.dead);
    assert.equal(folder.dead.length, 1);
  }));

test('redis: a link that was given up, and whose row is not written yet, is settled; one that cannot be read is told', () =>
  onStage(async ({ crawl, folder, store, key }) => {
    await store.admit(linksOf('a.example', 2));
    const visit = await claimOne(store);
    await store.settle([settlementOf(visit, { page: pageOf(visit, { outcome: 'gave-up' }) })]);
    const rows = new DatabaseSync(rowsPathOf(folder));
    rows.exec('DELETE FROM page; DELETE FROM batch');
    rows.close();
    assert.notDeepEqual((await surveyOf(crawl)).faults, []);
    const gone = key('a.example', 'gone:m1');
    const text = writeWaiting({ link: visit.link, tries: 8 });
    await redis.rpush(gone, `a.example\n5\nhttps://v.example/\n${text}`);
    assert.equal((await soundSurveyOf(crawl)).links, 2);
    const [page] = (await partsOf(crawl)).pages;
    assert.deepEqual(
      [page?.url, page?.outcome, page?.tries, page?.time, page?.via, page?.warc_file],
      [visit.link.url, 'gave-up', 8, 5, 'https://v.example/', null],
    );
    await redis.rpush(gone, 'a.example\n5\n\nnonsense');
    assert.deepEqual(
      (await surveyOf(crawl)).faults.map((fault) => ('says' in fault ? fault.says : fault.kind)),
      ['a link of the site a.example that was given up cannot be read'],
    );
  }));

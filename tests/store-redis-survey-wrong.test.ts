/** The check of a whole crawl in Redis: each thing that is wrong is told. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import type { SharedSurvey } from '../src/store/shared-crawl.ts';
import { fingerprint } from '../src/url/fingerprint.ts';
import { SHARDS, shardOf } from '../src/url/shard.ts';
import { ask, linksOf, recordsOf, settlementOf } from './contract/store-scene.ts';
import { rowsPathOf } from './support/redis-scene.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';
import { rowsOf, withCrawl, withWalk, type Walk, type WalkMember } from './support/redis-walk.ts';

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

const surveyOf = (walk: Pick<Walk, 'url' | 'name'>, member: WalkMember): Promise<SharedSurvey> =>
  withCrawl(walk, (crawl) => crawl.survey(rowsOf(member), () => {}));

/** What a plant has at hand: one member with a link in every state. */
interface Ground {
  readonly walk: Walk;
  key(site: string, what: string): string;
  readonly rows: DatabaseSync;
}

/**
 * a.example has 3 links waiting, one settled, and rules; b.example is leased with 1 waiting, p.example parked with 2,
 * h.example held with 1, i.example is idle.
 */
const prepare = async (walk: Walk): Promise<void> => {
  const { store, archive } = walk.members[0]!;
  await store.admit([
    ...linksOf('a.example', 4),
    ...linksOf('b.example', 2),
    ...linksOf('p.example', 3),
    ...linksOf('h.example', 2),
    ...linksOf('i.example', 1),
  ]);
  const { visits } = await store.claim(ask({ delayMs: 100 }));
  await store.settle(
    visits
      .filter(({ site }) => site !== 'b.example')
      .map((visit) =>
        settlementOf(visit, {
          parked: visit.site === 'p.example',
          records: recordsOf(visit.link.url),
          pace: {
            ...visit.pace,
            dueAt: visit.claimedAt + (visit.site === 'h.example' ? 0 : 9_000),
            delayMs: 500,
            failures: 1,
          },
          robots:
            visit.site === 'a.example'
              ? {
                  origin: 'https://a.example',
                  fetchedAt: 1,
                  expiresAt: 2,
                  verdict: 'all',
                  rules: '',
                  crawlDelayMs: null,
                }
              : null,
        }),
      ),
  );
  assert.deepEqual((await store.claim(ask({ sitePagesMax: 1 }))).visits, []);
  const census = await store.census();
  assert.deepEqual(
    [census.waiting, census.leased, census.parked, census.held, census.pages, archive.end().file !== ''],
    [4, 1, 2, 1, 4, true],
  );
};

const print = (url: string): string => String(BigInt.asIntN(64, fingerprint(url)));

/** Each wrongness, and what is said of it. */
const PLANTS: readonly (readonly [what: string, plant: (ground: Ground) => unknown, says: RegExp])[] = [
  [
    'a block is lost',
    ({ key }) => redis.lpop(key('a.example', 'line:a.example')),
    /the site a\.example counts 3 waiting, but has 0/,
  ],
  [
    'a line cannot be read',
    ({ key }) => redis.lset(key('a.example', 'line:a.example'), 0, 'nonsense'),
    /the line of the site a\.example is broken: block 1 cannot be read/,
  ],
  [
    'a line begins elsewhere',
    ({ key }) => redis.hincrby(key('a.example', 'site:a.example'), 'o', 1),
    /the line of the site a\.example is broken/,
  ],
  [
    'a link is in line twice',
    ({ key }) => redis.rpush(key('a.example', 'line:a.example'), '\n0 0 0 0 https://a.example/2\n'),
    /https:\/\/a\.example\/2 is there twice/,
  ],
  [
    'a link waits that nobody knows',
    ({ key }) => redis.rpush(key('a.example', 'line:a.example'), '\n0 0 0 0 https://a.example/new\n'),
    /https:\/\/a\.example\/new is not in the set of known URLs/,
  ],
  [
    'a settled link waits too',
    ({ key }) => redis.rpush(key('a.example', 'line:a.example'), '\n0 0 0 0 https://a.example/1\n'),
    /https:\/\/a\.example\/1 is there twice/,
  ],
  [
    'a line without its site',
    ({ key }) => redis.rpush(key('z.example', 'line:z.example'), '\n0 0 0 0 https://z.example/1\n'),
    /links of the site z\.example wait, but no site has them/,
  ],
  [
    'a known URL is forgotten',
    ({ key }) => redis.srem(key('a.example', 'seen:0'), print('https://a.example/3')),
    /https:\/\/a\.example\/3 is not in the set of known URLs/,
  ],
  [
    'a known URL is nowhere',
    ({ key }) => redis.sadd(key('a.example', 'seen:0'), '12345'),
    /1 known URL is neither waiting nor leased, parked, held or settled/,
  ],
  [
    'known URLs are not counted',
    ({ key }) => redis.hincrby(key('a.example', 'count'), 'seen', 1),
    /shard \d+ counts \d+ known URLs, but has/,
  ],
  [
    'a known URL lies in a set where nobody looks',
    async ({ key }) => {
      await redis.hset(key('a.example', 'count'), 'buckets', 2);
      await redis.smove(key('a.example', 'seen:0'), key('a.example', 'seen:1'), print('https://a.example/3'));
    },
    /in the wrong set, where nobody looks/,
  ],
  [
    'a site is lost',
    ({ key }) => redis.del(key('i.example', 'site:i.example')),
    /the site i\.example is on the list of sites, but nothing is known of it/,
  ],
  [
    'a site is not on the list',
    ({ key }) => redis.lrem(key('a.example', 'sites'), 0, 'a.example'),
    /the site a\.example is not on the list of sites/,
  ],
  [
    'a site is on the list twice',
    ({ key }) => redis.rpush(key('a.example', 'sites'), 'a.example'),
    /the site a\.example is on the list of sites twice/,
  ],
  [
    'a site is in the shard of another',
    async ({ walk }) => {
      const shard = (shardOf('z.example') + 1) % SHARDS;
      const tag = `{${walk.name}:${shard}}:`;
      await redis.hset(`${tag}site:z.example`, 's', '', 'w', 0, 'p', 0, 'd', 0, 'e', 0, 'c', 0, 'r', 0, 'f', 0, 'o', 0);
      await redis.rpush(`${tag}sites`, 'z.example');
    },
    /the site z\.example is in shard \d+, but belongs to/,
  ],
  [
    'a site has a state that nobody knows',
    ({ key }) => redis.hset(key('i.example', 'site:i.example'), 's', 'x'),
    /the site i\.example has the unknown state x/,
  ],
  [
    'a site counts other pages',
    ({ key }) => redis.hincrby(key('a.example', 'site:a.example'), 'p', 1),
    /the site a\.example counts 2 pages, but has 1/,
  ],
  [
    'a site that waits is not due',
    ({ key }) => redis.zrem(key('a.example', 'due'), 'a.example'),
    /links of the site a\.example wait, but it is not among those that are called/,
  ],
  [
    'a site is due too early',
    ({ key }) => redis.zadd(key('a.example', 'due'), 1, 'a.example'),
    /the site a\.example is called at another moment than it says/,
  ],
  [
    'an idle site is due',
    ({ key }) => redis.zadd(key('i.example', 'due'), 1, 'i.example'),
    /the site i\.example is among those that are called, but no link of it waits/,
  ],
  [
    'a parked site is due',
    ({ key }) => redis.zadd(key('p.example', 'due'), 1, 'p.example'),
    /the site p\.example is among those that are called, but is not at rest/,
  ],
  [
    'a site is due that is not there',
    ({ key }) => redis.zadd(key('a.example', 'due'), 1, 'nowhere.example'),
    /sites that are due, but/,
  ],
  [
    'a parked site is not among the parked ones',
    ({ key }) => redis.srem(key('p.example', 'parked'), 'p.example'),
    /the site p\.example is parked, but not among the parked ones/,
  ],
  [
    'a site among the parked ones is not parked',
    ({ key }) => redis.sadd(key('a.example', 'parked'), 'a.example'),
    /the site a\.example is among the parked ones, but is not parked/,
  ],
  [
    'a held site is not among the held ones',
    ({ key }) => redis.srem(key('h.example', 'held'), 'h.example'),
    /the site h\.example is held, but not among the held ones/,
  ],
  [
    'a lease is lost',
    ({ key }) => redis.hdel(key('b.example', 'leased'), 'b.example'),
    /the site b\.example is leased without a link/,
  ],
  [
    'a lease cannot be read',
    ({ key }) => redis.hset(key('b.example', 'leased'), 'b.example', 'nonsense'),
    /the leased link of the site b\.example cannot be read/,
  ],
  [
    'a lease never ends',
    ({ key }) => redis.zrem(key('b.example', 'lease'), 'b.example'),
    /the lease of the site b\.example never ends/,
  ],
  [
    'a lease ends at another moment',
    ({ key }) => redis.zadd(key('b.example', 'lease'), 5, 'b.example'),
    /the lease of the site b\.example ends at another moment/,
  ],
  [
    'a site at rest has a lease',
    ({ key }) => redis.hset(key('a.example', 'leased'), 'a.example', '9 - 0 0 0 1 https://a.example/2\n\na/x'),
    /the site a\.example is not leased, but has a leased link/,
  ],
  [
    "a leased site is not its member's",
    ({ key }) => redis.srem(key('b.example', 'mine:a'), 'b.example'),
    /the site b\.example is not among those of the member that leases it/,
  ],
  [
    'a member has a site that is not leased',
    ({ key }) => redis.sadd(key('a.example', 'mine:a'), 'a.example'),
    /the members have 2 leased sites, but 1 link is leased/,
  ],
  [
    'a counter is wrong',
    ({ key }) => redis.hincrby(key('a.example', 'count'), 'waiting', 1),
    /the counter "waiting" says 5, but there are 4/,
  ],
  [
    'a counter of outcomes is wrong',
    ({ key }) => redis.hincrby(key('a.example', 'count'), 'settled:fetched', 1),
    /the counter "settled fetched" says 5, but there are 4/,
  ],
  [
    'a counter of sites is wrong',
    ({ key }) => redis.hincrby(key('a.example', 'count'), 'sitesHeld', 1),
    /the counter "sites held" says 2, but there are 1/,
  ],
  [
    'rules cannot be read',
    ({ key }) => redis.hset(key('a.example', 'robots'), 'https://a.example', '{'),
    /the robots rules of https:\/\/a\.example cannot be read/,
  ],
  [
    'rules lie where nobody looks',
    async ({ walk, key }) => {
      const text = (await redis.hget(key('a.example', 'robots'), 'https://a.example'))!;
      await redis.hset(`{${walk.name}:${(shardOf('a.example') + 1) % SHARDS}}:robots`, 'https://a.example', text);
    },
    /the robots rules of https:\/\/a\.example are in shard \d+, where nobody looks/,
  ],
  [
    'a key that nobody knows',
    ({ key }) => redis.set(key('a.example', 'other'), '1'),
    /nothing accounts for the key \{.*\}:other/,
  ],
  [
    'a set of known URLs too many',
    ({ key }) => redis.sadd(key('a.example', 'seen:7'), '1'),
    /nothing accounts for the key \{.*\}:seen:7/,
  ],
  [
    'a page has no row',
    ({ rows }) => rows.exec("DELETE FROM page WHERE site = 'a.example'"),
    /the counter "settled fetched" says 4, but there are 3/,
  ],
  [
    'a page has two rows',
    ({ rows }) => rows.exec(`INSERT INTO page SELECT 99, ${COLUMNS_BUT_ID} FROM page WHERE site = 'a.example'`),
    /https:\/\/a\.example\/1 is there twice/,
  ],
  [
    'a row has the key of another page',
    ({ rows }) => rows.exec("UPDATE page SET url_key = 1 WHERE site = 'a.example'"),
    /the page https:\/\/a\.example\/1 is not right: its row has the key of another URL/,
  ],
  [
    'a page that nobody answered has a record',
    ({ rows }) => rows.exec("UPDATE page SET outcome = 'robots-denied' WHERE site = 'a.example'"),
    /its outcome is robots-denied, but it has a record/,
  ],
];

const COLUMNS_BUT_ID = `site, url_key, url, outcome, status, at, duration_ms, content_type, bytes, title, language, redirect, digest, truncated, noindex, depth, via, tries,
  robots, detail, extracted, file, offset, length, group_length, batch, shard`;

test('redis: each thing that is wrong is told', async () => {
  for (const [what, plant, says] of PLANTS) {
    await withWalk(server.url, ['a'], async (walk) => {
      await prepare(walk);
      assert.deepEqual((await surveyOf(walk, walk.members[0]!)).wrong, [], 'clean before');
      const rows = new DatabaseSync(rowsPathOf(walk.members[0]!.folder));
      await plant({ walk, rows, key: (site, name) => `{${walk.name}:${shardOf(site)}}:${name}` });
      rows.close();
      const { wrong, wrongTotal } = await surveyOf(walk, walk.members[0]!);
      assert.ok(
        wrong.some((one) => says.test(one)),
        `${what}: ${JSON.stringify(wrong)}`,
      );
      assert.equal(wrongTotal, wrong.length);
    });
  }
});

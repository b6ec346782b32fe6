/** The check of a whole crawl in Redis: clean when it is, and what is wrong is told. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import { WRONG_NAMED_MAX, type SharedSurvey } from '../src/store/shared-crawl.ts';
import { knownTotal } from '../src/model/census.ts';
import { shardOf } from '../src/url/shard.ts';
import { ask, claimOne, link, linksOf, pageOf, recordsOf, settlementOf } from './contract/store-scene.ts';
import { openGate } from './support/redis-gate.ts';
import { allOf } from './support/reader-check.ts';
import { openMember, pagesOf, rowsPathOf } from './support/redis-scene.ts';
import { startRedis, startRedisCluster, type RedisCluster, type RedisServer } from './support/redis-server.ts';
import { until } from './support/until.ts';
import { rowsOf, takeSteps, withCrawl, withWalk, type Walk, type WalkMember } from './support/redis-walk.ts';

let server: RedisServer;
let cluster: RedisCluster;
let redis: Redis;
before(async () => {
  [server, cluster] = await Promise.all([startRedis(), startRedisCluster()]);
  redis = new Redis(server.url);
});
after(async () => {
  redis.disconnect();
  await Promise.all([server.remove(), cluster.remove()]);
});

const surveyOf = (walk: Pick<Walk, 'url' | 'name'>, member: WalkMember): Promise<SharedSurvey> =>
  withCrawl(walk, (crawl) => crawl.survey(rowsOf(member), () => {}));

for (const [kind, url, names] of [
  ['redis', () => server.url, ['a']],
  ['redis', () => server.url, ['a', 'b']],
  ['redis cluster', () => cluster.url, ['a', 'b']],
] as const) {
  test(`${kind}: a crawl on which ${names.length === 1 ? 'one member' : 'two members, killed again and again,'} worked at random is found clean`, async () => {
    await withWalk(url(), names, async (walk) => {
      await takeSteps(walk);
      for (const member of walk.members) {
        const { links, census, wrong, wrongTotal, placed, end } = await surveyOf(walk, member);
        assert.deepEqual([wrong, wrongTotal], [[], 0]);
        assert.deepEqual([links, knownTotal(census)], [walk.model.seen.size, walk.model.seen.size]);
        assert.deepEqual(
          await allOf(placed),
          pagesOf(member.folder).filter(({ place }) => place !== null),
        );
        assert.deepEqual(end, member.archive.end());
      }
    });
  });
}

test('redis: how far the check has come is told', async () => {
  await withWalk(server.url, ['a'], async (walk) => {
    await walk.members[0]!.store.admit(linksOf('a.example', 2_500));
    const told: number[] = [];
    const { links } = await withCrawl(walk, (crawl) =>
      crawl.survey(rowsOf(walk.members[0]!), (done) => told.push(done)),
    );
    assert.deepEqual([told, links], [[1_000, 2_000], 2_500]);
  });
});

test('redis: where several members have settled, a page too many or too few among those at hand is told', async () => {
  await withWalk(server.url, ['a', 'b'], async (walk) => {
    await takeSteps(walk);
    const [a] = walk.members;
    const shard = shardOf('a.example');
    await redis.sadd(`{${walk.name}:${shard}}:seen:0`, '4711');
    await redis.hincrby(`{${walk.name}:${shard}}:count`, 'seen', 1);
    assert.match(
      (await surveyOf(walk, a!)).wrong.join('\n'),
      /^\d+ known URLs are neither waiting nor leased, parked, held or settled here, but other members settled \d+$/,
    );
  });
});

test('redis: what is wrong in many places is counted, and the first are named', async () => {
  await withWalk(server.url, ['a'], async (walk) => {
    const { store } = walk.members[0]!;
    await store.admit(linksOf('a.example', WRONG_NAMED_MAX + 20));
    await redis.del(`{${walk.name}:${shardOf('a.example')}}:seen:0`);
    const { wrong, wrongTotal } = await surveyOf(walk, walk.members[0]!);
    assert.equal(wrong.length, WRONG_NAMED_MAX);
    assert.equal(wrongTotal, WRONG_NAMED_MAX + 21, 'each link, and the counter');
  });
});

test('redis: a batch that was written here, but never settled, is no fault, and neither are records behind the settled end', async () => {
  await withWalk(server.url, ['a'], async (walk) => {
    const gate = await openGate(server.port);
    const [member] = walk.members;
    await member!.store.close();
    const store = await openMember(member!.folder, { url: gate.url, archive: member!.archive, clock: walk.clock });
    await store.admit([link('a.example/1'), link('b.example/1')]);
    const { visits } = await store.claim(ask());
    await store.settle([settlementOf(visits[0]!, { records: recordsOf('one') })]);
    const settledEnd = member!.archive.end();
    gate.commands = 0; // killed between the row and its settlement
    const lost = store.settle([settlementOf(visits[1]!, { records: recordsOf('two') })]).catch(() => {});
    await until('it was swallowed', () => gate.swallowed > 0);
    await gate.close();
    await store.close();
    await lost;
    assert.equal(pagesOf(member!.folder).length, 2);
    const { wrong, links, end, placed, census } = await surveyOf(walk, member!);
    assert.deepEqual([wrong, links, census.leased, end], [[], 2, 1, settledEnd]);
    assert.deepEqual(
      (await allOf(placed)).map(({ url }) => url),
      [visits[0]!.link.url],
    );
  });
});

test('redis: records of a batch of which only a later part was settled are dead, as the next start will say', async () => {
  await withWalk(server.url, ['a'], async (walk) => {
    const [member] = walk.members;
    const { store, folder, archive } = member!;
    await store.admit([link('a.example/1'), link('b.example/1')]);
    const { visits } = await store.claim(ask());
    await store.settle(visits.map((visit) => settlementOf(visit, { records: recordsOf(visit.link.url) })));
    assert.deepEqual((await surveyOf(walk, member!)).dead, []);
    await redis.hdel(`{${walk.name}:${shardOf(visits[0]!.site)}}:batch`, 'a');
    const { dead, end, placed } = await surveyOf(walk, member!);
    assert.deepEqual(
      (await allOf(placed)).map(({ url }) => url),
      [visits[1]!.link.url],
    );
    assert.deepEqual(end, archive.end());
    await store.close();
    const again = await openMember(folder, { url: walk.url, archive, clock: walk.clock });
    await again.close();
    assert.deepEqual(folder.dead, dead);
    assert.equal(dead?.length, 1);
  });
});

test('redis: a link that was given up, and whose row is not written yet, is settled', async () => {
  await withWalk(server.url, ['a'], async (walk) => {
    const [member] = walk.members;
    const { store } = member!;
    await store.admit(linksOf('a.example', 2));
    const visit = await claimOne(store);
    await store.settle([settlementOf(visit, { page: pageOf(visit, { outcome: 'gave-up' }) })]);
    const rows = new DatabaseSync(rowsPathOf(member!.folder));
    rows.exec('DELETE FROM page; DELETE FROM batch');
    rows.close();
    assert.notDeepEqual((await surveyOf(walk, member!)).wrong, []);
    await redis.rpush(`{${walk.name}:${shardOf('a.example')}}:gone:a`, `a.example\n5\n\n0 0 0 8 ${visit.link.url}\n`);
    const { wrong, links } = await surveyOf(walk, member!);
    assert.deepEqual([wrong, links], [[], 2]);
  });
});

/** A crawl on its way to Redis: to another number of shards, to a cluster, overtaken, cut off, with neighbours. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { StoreFault } from '../src/contract/fault.ts';
import type { StoredCrawl } from '../src/contract/stored-crawl.ts';
import type { FoundSite } from '../src/contract/walk.ts';
import { SHARDS } from '../src/url/shard.ts';
import { ask, linksOf, settlementOf } from './contract/store-scene.ts';
import { makeEverything, type Whole } from './contract/stored-everything.ts';
import { fillWith, piecesOf, queueOf, SITE, TALLY, wholeIn } from './contract/stored-pieces.ts';
import { soundSurveyOf, surveyOf } from './contract/stored-scene.ts';
import { createManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { openGate } from './support/redis-gate.ts';
import {
  createMember,
  freshName,
  openMember,
  removeMember,
  withLook,
  type MemberFolder,
} from './support/redis-scene.ts';
import { startRedis, startRedisCluster, type RedisCluster, type RedisServer } from './support/redis-server.ts';

let server: RedisServer;
let cluster: RedisCluster;
before(async () => void ([server, cluster] = await Promise.all([startRedis(), startRedisCluster()])));
after(() => Promise.all([server.remove(), cluster.remove()]));

const isFault =
  (words: RegExp, advice = /./) =>
  (error: unknown): boolean =>
    error instanceof StoreFault && words.test(error.message) && advice.test(error.advice);

const withTarget = async (work: (folder: MemberFolder) => Promise<void>, name = freshName()): Promise<void> => {
  const folder = createMember(name);
  try {
    await work(folder);
  } finally {
    removeMember(folder);
  }
};

/** With another number of shards, sites lie in others. */
const withoutShards = ({ sites, ...rest }: Whole): object => ({
  ...rest,
  sites: Object.entries(sites).map(([site, { found, queue }]) => [site, { ...(found as FoundSite), shard: 0 }, queue]),
});

for (const [what, url, shards] of [
  ['7 shards', () => server.url, 7],
  ['a cluster', () => cluster.url, SHARDS],
  ['7 shards of a cluster', () => cluster.url, 7],
] as const) {
  test(`redis: a crawl moved to ${what} is the same crawl, and goes on`, () =>
    withTarget((source) =>
      withTarget(async (target) => {
        const clock = createManualClock();
        const archive = openMemoryArchive();
        const store = await openMember(source, { url: server.url, archive, clock });
        await makeEverything({ store, clock, archive, pages: () => assert.fail(), crash: () => assert.fail() });
        await store.close();
        const [pieces, before] = await withLook(source, { url: server.url }, async (crawl) => [
          await piecesOf(crawl),
          await wholeIn(crawl),
        ]);
        await withLook(target, { url: url(), shards }, async (crawl) => {
          await fillWith(crawl, pieces);
          assert.deepEqual(withoutShards(await wholeIn(crawl)), withoutShards(before));
          const { faults, whole } = await surveyOf(crawl, { shards });
          assert.deepEqual([faults, whole?.lost.size], [[], 0]);
        });
        const moved = await openMember(target, { url: url(), archive, clock, shards });
        const { waiting } = await moved.census();
        const every = Array.from({ length: shards }, (_, shard) => shard);
        const { visits } = await moved.claim(ask({ shards: every }));
        await moved.settle(visits.map((visit) => settlementOf(visit)));
        assert.ok(visits.length > 2);
        assert.equal((await moved.census()).waiting, waiting - visits.length);
        await moved.close();
      }),
    ));
}

test('redis: while a crawl is filled nobody can work on it or leave a note, on a cluster too', async () => {
  for (const { url } of [server, cluster]) {
    await withTarget(async (target) => {
      const moving = isFault(/^the crawl ".*" is being moved here$/, /^run `gossamer migrate` again$/);
      await withLook(target, { url }, async (crawl) => {
        await (await crawl.fill()).take([SITE, queueOf('a.example', '1', '2'), { ...TALLY, marks: { left: 1 } }]);
      }); // ended here: killed
      await assert.rejects(openMember(target, { url, archive: openMemoryArchive() }), moving);
      await withLook(target, { url, shards: 5 }, async (crawl) => {
        await assert.rejects(crawl.keepNote('identity', '1'), moving);
        const filling = await crawl.fill();
        const begun = await crawl.census();
        assert.deepEqual([begun.waiting, begun.sites.known, begun.marks], [0, 0, {}]);
        await filling.take([SITE, queueOf('a.example', '1'), TALLY]);
        await filling.end();
        assert.equal(await crawl.keepNote('identity', '1'), '1');
        assert.equal((await crawl.census()).waiting, 1);
      });
    });
  }
});

test('redis: a crawl next to it, whose name begins alike, stays when one is removed', () =>
  withTarget(async (folder) => {
    const store = await openMember(folder, { url: server.url, archive: openMemoryArchive() });
    await store.admit(linksOf('a.example', 5));
    await store.close();
    for (const name of [folder.crawl.replace(/\d+$/, ''), `${folder.crawl}-1`])
      await withTarget(async (near) => {
        for (let tries = 0; tries < 2; tries++)
          await withLook(near, { url: server.url }, async (crawl) => void (await crawl.fill()));
      }, name);
    assert.equal((await withLook(folder, { url: server.url }, soundSurveyOf)).links, 5);
  }));

test('redis: of two that fill one place at once the one that was overtaken brings nothing more, and does not end well', () =>
  withTarget(async (one) =>
    withTarget(async (other) => {
      await withLook(one, { url: server.url }, (first) =>
        withLook(other, { url: server.url }, async (second) => {
          const overtaken = isFault(/another process began to move a crawl/);
          const early = await first.fill();
          const late = await second.fill();
          await assert.rejects(early.take([SITE, queueOf('a.example', '1')]), overtaken);
          await assert.rejects(early.take([{ ...TALLY, notes: { identity: 'of the first' } }]), overtaken);
          await assert.rejects(early.end(), overtaken);
          await late.take([SITE, TALLY]);
          await late.end();
          assert.deepEqual([(await soundSurveyOf(second)).sites, await second.note('identity')], [1, null]);
        }),
      );
    }, one.crawl),
  ));

test('redis: what comes without its site, or while Redis is gone, ends the filling', () =>
  withTarget(async (target) => {
    const gate = await openGate(server.port);
    const filled = (work: (crawl: StoredCrawl) => Promise<void>): Promise<void> =>
      withLook(target, { url: gate.url }, work);
    try {
      await filled(async (crawl) =>
        assert.rejects(
          (await crawl.fill()).take([queueOf('a.example', '1')]),
          isFault(/links of "a\.example" came, but not the site/),
        ),
      );
      await filled(async (crawl) => {
        const taken = (await crawl.fill()).take([SITE, queueOf('a.example', '1')]);
        gate.cut();
        await assert.rejects(taken, isFault(/Redis at .* does not answer/, /run this again/));
      });
      await filled(async (crawl) => {
        await fillWith(crawl, [SITE, queueOf('a.example', '1'), TALLY]);
        assert.equal((await soundSurveyOf(crawl)).links, 1);
      });
    } finally {
      await gate.close();
    }
  }));

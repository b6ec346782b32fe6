/** Slots of a Redis Cluster that move to other nodes while a crawl works on them: it waits them out. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { OpenedStore } from '../src/store/options.ts';
import { shardOf } from '../src/url/shard.ts';
import { ask, linksOf, recordsOf, settlementOf } from './contract/store-scene.ts';
import { soundSurveyOf } from './contract/stored-scene.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { createMember, openMember, pagesOf, removeMember, withLook } from './support/redis-scene.ts';
import { openReshard, type Reshard } from './support/redis-reshard.ts';
import { startRedisCluster, type RedisCluster } from './support/redis-server.ts';
import { until } from './support/until.ts';

let cluster: RedisCluster;
let reshard: Reshard;
before(async () => {
  cluster = await startRedisCluster();
  reshard = await openReshard(cluster);
});
after(async () => {
  reshard.close();
  await cluster.remove();
});

const SITES = Array.from({ length: 60 }, (_, i) => `s${i}.example`);
const LINKS_PER_SITE = 12;

/** Visits what is due, without a delay. */
const visitSome = async (store: OpenedStore): Promise<number> => {
  const { visits } = await store.claim(ask({ delayMs: 0, leaseMs: 60_000, visits: 7 }));
  const { settled } = await store.settle(
    visits.map((visit) =>
      settlementOf(visit, {
        records: recordsOf(visit.link.url),
        pace: { dueAt: visit.claimedAt, delayMs: 0, crawlDelayMs: 0, responseMs: 1, failures: 0 },
      }),
    ),
  );
  return settled;
};

test('redis-cluster: while the slots of its shards move, a crawl waits for each, and nothing is half done', async () => {
  const folder = createMember();
  const archive = openMemoryArchive();
  const store = await openMember(folder, { url: cluster.url, archive });
  let settled = 0;
  try {
    const all = SITES.flatMap((site) => linksOf(site, LINKS_PER_SITE));
    // Many keys in each shard, so that a slot is half moved for a while.
    await store.admit(all.slice(0, all.length / 2));
    const shards = [...new Set(SITES.map((site) => shardOf(site)))];
    const tags = [`{${folder.crawl}}:`, ...shards.slice(0, 25).map((shard) => `{${folder.crawl}:${shard}}:`)];
    let moved = 0;
    const moving = (async () => {
      for (const tag of tags) {
        const before = settled;
        // Half moved until the crawl has gone on elsewhere, or has nothing but this to wait for.
        const { keys } = await reshard.move(await reshard.slotOf(tag), () =>
          Promise.race([
            until('others go on', () => settled > before || settled === all.length),
            new Promise<void>((resolve) => setTimeout(resolve, 100)),
          ]),
        );
        moved += Number(keys > 0);
      }
    })();
    const admitting = (async () => {
      for (let i = all.length / 2; i < all.length; i += 20) await store.admit(all.slice(i, i + 20));
    })();
    await until('all are visited', async () => {
      settled += await visitSome(store);
      await store.beat();
      return settled >= all.length;
    });
    await Promise.all([moving, admitting]);
    assert.equal(moved, tags.length, 'each slot had keys');
    const rows = pagesOf(folder);
    assert.equal(rows.length, all.length, 'no page twice');
    assert.equal(new Set(rows.map(({ url }) => url)).size, all.length, 'and none lost');
    const census = await store.census();
    assert.deepEqual([census.waiting, census.leased, census.settled.fetched], [0, 0, all.length]);
    const survey = await withLook(folder, { url: cluster.url }, (crawl) => soundSurveyOf(crawl));
    assert.equal(survey.links, all.length);
  } finally {
    await store.close();
    removeMember(folder);
  }
});

test('redis-cluster: a step on a slot that is on the move is answered when it has moved, whatever it does', async () => {
  const folder = createMember();
  const store = await openMember(folder, { url: cluster.url, archive: openMemoryArchive() });
  try {
    await store.admit(SITES.flatMap((site) => linksOf(site, 2)));
    const { visits } = await store.claim(ask({ visits: 30 }));
    const shard = shardOf(visits[0]!.site);
    const here = visits.filter(({ site }) => shardOf(site) === shard);
    let isMoved = false;
    let early = '';
    const done = (name: string) => () => void (isMoved || (early ||= name));
    const waiting: Promise<unknown>[] = [];
    await reshard.move(await reshard.slotOf(`{${folder.crawl}:${shard}}:`), async () => {
      waiting.push(
        store.admit(linksOf(visits[0]!.site, 4)).then(done('admit')),
        store.settle(here.map((visit) => settlementOf(visit))).then(done('settle')),
        store.census().then(done('census')),
        store.steer([{ kind: 'retry-parked' }]).then(done('retry')),
      );
      await until('it is said', () => folder.said.some((text) => text.includes('does not answer')));
      isMoved = true;
    });
    await Promise.all(waiting);
    assert.equal(early, '');
    await withLook(folder, { url: cluster.url }, (crawl) => soundSurveyOf(crawl));
    const { settled, waiting: waits, leased } = await store.census();
    assert.deepEqual(
      [settled.fetched, waits, leased],
      [here.length, 2 * SITES.length + 2 - visits.length, visits.length - here.length],
    );
  } finally {
    await store.close();
    removeMember(folder);
  }
});

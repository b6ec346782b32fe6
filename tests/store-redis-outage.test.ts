/**
 * A Redis that forgets its scripts, restarts, or is gone for a while: the store waits, then goes on, and nothing is
 * lost or done twice.
 */

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Redis } from 'ioredis';
import { BEAT_MS } from '../src/model/pulse.ts';
import type { OpenedStore } from '../src/store/options.ts';
import { ask, link, linksOf, recordsOf, settlementOf } from './contract/store-scene.ts';
import { createManualClock } from './support/manual-clock.ts';
import { openMemoryArchive, type MemoryArchive } from './support/memory-archive.ts';
import { createMember, openMember, pagesOf, removeMember, type MemberFolder } from './support/redis-scene.ts';
import { startRedis, startRedisCluster, type RedisServer } from './support/redis-server.ts';
import { until } from './support/until.ts';

let server: RedisServer;
let folder: MemberFolder;
let archive: MemoryArchive;
let store: OpenedStore;
before(async () => void (server = await startRedis({ appendonly: 'yes', appendfsync: 'always' })));
after(() => server.remove());
beforeEach(async () => {
  folder = createMember();
  archive = openMemoryArchive();
  store = await openMember(folder, { url: server.url, archive });
});
afterEach(async () => {
  await store.close();
  removeMember(folder);
});

const NO_DELAY = { delayMs: 0, leaseMs: 60_000 };

/** Visits what is due, without a delay, and settles it; answers with how many visits that were. */
const visitSome = async (): Promise<number> => {
  await store.beat();
  const { visits } = await store.claim(ask({ ...NO_DELAY, visits: 20 }));
  await store.settle(
    visits.map((visit) =>
      settlementOf(visit, {
        records: recordsOf(visit.link.url),
        pace: { dueAt: visit.claimedAt, delayMs: 0, crawlDelayMs: 0, responseMs: 1, failures: 0 },
      }),
    ),
  );
  return visits.length;
};

/** Visits until nothing waits any more, or so many were visited; answers with how many visits that were. */
const crawlOn = async (visitsMax = Infinity): Promise<number> => {
  let visited = 0;
  await until('nothing waits', async () => {
    const some = await visitSome();
    visited += some;
    return visited >= visitsMax || (some === 0 && (await store.census()).waiting === 0);
  });
  return visited;
};

const GONE = /does not answer \(.+\); waiting$/;
const saidOf = (what: RegExp): number => folder.said.filter((message) => what.test(message)).length;

test('redis: scripts that the server has forgotten are loaded again', async () => {
  const redis = new Redis(server.url);
  for (let round = 1; round <= 2; round++) {
    await store.admit(linksOf('a.example', 3 * round));
    assert.equal(await crawlOn(), 3);
    await store.steer([{ kind: 'retry-parked' }]);
    await redis.script('FLUSH');
  }
  redis.disconnect();
  assert.equal((await store.census()).settled.fetched, 6);
});

test('redis: after a restart of the server the crawl goes on, and the person is told once', async () => {
  await store.admit(linksOf('a.example', 10));
  await crawlOn(4);
  await server.kill();
  const claimed = store.claim(ask(NO_DELAY));
  const admitted = store.admit(linksOf('b.example', 5));
  await until('the person is told', () => saidOf(GONE) > 0);
  await server.restart();
  assert.equal((await admitted).admitted, 5);
  // A server that was started again may have forgotten something: nothing is claimed before that is put right.
  assert.deepEqual((await claimed).visits, []);
  assert.equal(await crawlOn(), 11);
  assert.deepEqual([saidOf(GONE), saidOf(/is back$/)], [1, 1]);
});

const KILLS = 5;
/** So many visits lie between two kills: the last of them comes before all links are visited. */
const KILL_AFTER = 60;

test('redis: a server that is killed again and again in the middle of everything loses and repeats nothing', async () => {
  const links = Array.from({ length: 40 }, (_, i) => linksOf(`s${i}.example`, 10)).flat();
  // After each kill the shards are shut until all who may have died are known to be dead.
  const clock = createManualClock();
  await store.close();
  store = await openMember(folder, { url: server.url, archive, clock });
  let visited = 0;
  const kills = (async () => {
    for (let kill = 1; kill <= KILLS; kill++) {
      const before = visited;
      await until('some more were visited', () => visited >= Math.min(before + KILL_AFTER, links.length));
      await server.kill();
      await until('the store noticed', () => saidOf(GONE) >= kill);
      await server.restart();
    }
  })();
  const admits = (async () => {
    for (let i = 0; i < links.length; i += 25) {
      await until('most of the others are visited', () => visited >= i - 100);
      await store.admit(links.slice(i, i + 25));
    }
  })();
  const visiting = until('all are visited', async () => {
    const some = await visitSome();
    clock.advance(BEAT_MS);
    visited += some;
    // Leases whose claim was answered to no one would run out; here they are freed at once.
    if (some === 0) await store.steer([{ kind: 'free', holder: null, counted: false }]);
    return visited >= links.length && saidOf(GONE) >= KILLS;
  });
  await Promise.all([kills, admits, visiting]);
  const rows = pagesOf(folder);
  assert.equal(new Set(rows.map(({ url }) => url)).size, links.length);
  assert.equal(rows.length, links.length, 'no page twice');
  for (const row of rows) assert.equal(new TextDecoder().decode(archive.read(row)), `response ${row.url};`);
  const census = await store.census();
  assert.deepEqual(
    [census.settled.fetched, census.waiting, census.leased, census.archivedBytes],
    [links.length, 0, 0, archive.totalBytes()],
  );
});

test('redis: closing ends the waiting for a server that is gone', async () => {
  await store.admit([link('a.example/1')]);
  await server.kill();
  const waiting = [
    store.admit([link('a.example/2')]),
    store.claim(ask()),
    store.census(),
    store.steer([{ kind: 'retry-parked' }]),
    store.claim(ask({ pagesMax: 5 })),
  ];
  const refused = waiting.map((call) => assert.rejects(call, /the store is closed/));
  await until('the person is told', () => saidOf(GONE) > 0);
  await store.close();
  await Promise.all(refused);
  await server.restart();
});

test('redis-cluster: a node that is gone for a while is waited for', async () => {
  const cluster = await startRedisCluster({ appendonly: 'yes', appendfsync: 'always' });
  const member = createMember();
  const shared = await openMember(member, { url: cluster.url, archive: openMemoryArchive() });
  try {
    await shared.admit(Array.from({ length: 64 }, (_, i) => link(`s${i}.example/1`)));
    await cluster.nodes[2]!.kill();
    const admitted = shared.admit(Array.from({ length: 64 }, (_, i) => link(`s${i}.example/2`)));
    await until('the person is told', () => member.said.some((message) => GONE.test(message)));
    await cluster.nodes[2]!.restart();
    const { admitted: fresh, seen } = await admitted;
    assert.equal(fresh + seen, 64);
    const census = await shared.census();
    assert.equal(census.waiting, 128);
    assert.deepEqual(
      member.said.map((message) => message.replace(/^.* (does not answer|is back).*$/, '$1')),
      ['does not answer', 'is back'],
    );
  } finally {
    await shared.close();
    removeMember(member);
    await cluster.remove();
  }
});

/** A Redis that goes back in time: no site is visited early, no link is lost, and what is settled has one row. */

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Redis } from 'ioredis';
import { BEAT_MS, DEAD_AFTER_MS } from '../src/model/pulse.ts';
import type { Link } from '../src/model/link.ts';
import type { Visit } from '../src/model/visit.ts';
import type { OpenedStore } from '../src/store/options.ts';
import { SHARDS } from '../src/url/shard.ts';
import { ask, DELAY_MS, linksOf, recordsOf, settlementOf } from './contract/store-scene.ts';
import { surveyOf } from './contract/stored-scene.ts';
import { createManualClock, type ManualClock } from './support/manual-clock.ts';
import { openMemoryArchive, type MemoryArchive } from './support/memory-archive.ts';
import { openGate } from './support/redis-gate.ts';
import { rememberCrawl } from './support/redis-past.ts';
import {
  createMember,
  keyOf,
  openMember,
  pagesOf,
  removeMember,
  withLook,
  type MemberFolder,
} from './support/redis-scene.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';
import { until } from './support/until.ts';

const LEASE_MS = 240_000;

interface Member {
  readonly folder: MemberFolder;
  readonly archive: MemoryArchive;
  store: OpenedStore;
  under: Visit[];
}

let server: RedisServer;
/** What the members are connected to, and who looks. */
let url: string;
let redis: Redis;
let clock: ManualClock;
let crawl: string;
let members: Member[];
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
  url = server.url;
  members = [];
  crawl = createMember().crawl;
});
afterEach(async () => {
  for (const { store, folder } of members) {
    await store.close();
    removeMember(folder);
  }
});

const join = async (name: string): Promise<Member> => {
  const folder = createMember(crawl, name);
  const archive = openMemoryArchive();
  const member = { folder, archive, under: [], store: await openMember(folder, { url, archive, clock }) };
  members.push(member);
  return member;
};

const settle = async ({ store }: Member, visits: readonly Visit[]) =>
  store.settle(visits.map((visit) => settlementOf(visit, { records: recordsOf(visit.link.url, 'robots;') })));

const claimAll = async ({ store }: Member): Promise<readonly Visit[]> =>
  (await store.claim(ask({ leaseMs: LEASE_MS }))).visits;

/** Beats of all members, as time passes; visits of an earlier term are broken off, as fetch threads do. */
const beatOn = async (beats: number, some: readonly Member[] = members): Promise<void> => {
  for (let i = 0; i < beats; i++) {
    clock.advance(BEAT_MS);
    for (const member of some) {
      const { term } = await member.store.beat();
      if (term === 0 || member.under.length === 0) continue;
      await member.store.settle(
        member.under.map((visit) => settlementOf(visit, { fate: 'returned', pace: visit.pace })),
      );
      member.under = [];
    }
  }
};
/** Enough for all to notice, to become ready, and to open. */
const BEATS_TO_OPEN = 2 + DEAD_AFTER_MS / BEAT_MS + 1;

/** Visits everything to the end; gives the moments at which each site was claimed. */
const crawlOn = async (): Promise<Map<string, number[]>> => {
  const claimed = new Map<string, number[]>();
  for (let idle = 0; idle < 12; ) {
    for (const member of members) {
      const visits = await claimAll(member);
      for (const { site } of visits) claimed.set(site, [...(claimed.get(site) ?? []), clock.now()]);
      idle = visits.length > 0 ? 0 : idle + 1;
      await settle(member, visits);
    }
    await beatOn(1);
  }
  return claimed;
};

/** No site is claimed before it has waited in full since its shard was opened, and never too early after that. */
const checkPolite = async (claimed: ReadonlyMap<string, readonly number[]>): Promise<void> => {
  assert.ok(claimed.size > 0);
  for (const [site, times] of claimed) {
    const floor = Number(await redis.hget(keyOf({ crawl }, site, 'count'), 'floor'));
    assert.ok(floor > 0 && times[0]! >= floor + DELAY_MS, `${site}: ${times[0]! - floor} ms`);
    for (const [i, at] of times.slice(1).entries()) assert.ok(at - times[i]! >= DELAY_MS, site);
  }
};

/** Rows are what is settled, each link is there once, the archive has nothing but rows and what is listed as dead. */
const checkWhole = async (links: readonly Link[]): Promise<void> => {
  const rows = members.flatMap(({ folder }) => pagesOf(folder));
  assert.deepEqual(
    rows.map(({ url }) => url as string).toSorted(),
    links.map(({ url }) => url as string).toSorted(),
    'each link is settled once',
  );
  const census = await members[0]!.store.census();
  assert.deepEqual([census.waiting, census.leased, census.settled], [0, 0, { fetched: rows.length }]);
  for (const { folder, archive } of members) {
    for (const page of pagesOf(folder))
      assert.equal(new TextDecoder().decode(archive.read(page as never)), `response ${page.url};`);
    const { faults, whole } = await withLook(folder, { url }, (look) => surveyOf(look));
    assert.deepEqual([faults, whole?.links], [[], links.length]);
  }
  const dead = members.flatMap(({ folder }) => folder.dead);
  assert.equal(new Set(dead.map((one) => JSON.stringify(one))).size, dead.length);
  assert.equal(
    members.reduce((sum, { archive }) => sum + archive.totalBytes(), 0),
    census.archivedBytes + dead.reduce((sum, { bytes }) => sum + bytes, 0),
  );
};

test('redis: after it went back, sites wait in full, leases of before are refused, no link is lost and rows are what is settled', async () => {
  const [one, two] = [await join('m1'), await join('m2')];
  const links = Array.from({ length: 12 }, (_, i) => linksOf(`s${i}.example`, 3)).flat();
  await one.store.admit(links.slice(0, 24));
  await settle(one, await claimAll(one));
  await beatOn(5);
  const past = await rememberCrawl(redis, crawl);
  // What comes now is forgotten: settlements of both, links of both, claims of both.
  one.under = [...(await claimAll(one))];
  assert.ok(one.under.length > 6);
  await settle(one, one.under.splice(0, 3));
  await settle(one, one.under.splice(0, 2));
  await beatOn(5);
  await one.store.admit(links.slice(24, 30));
  await two.store.admit(links.slice(30));
  two.under = [...(await claimAll(two))];
  assert.ok(two.under.length > 3);
  await settle(two, two.under.splice(0, 2));
  const visit = two.under[0]!;
  await past.restore();

  // The first who settles finds out: nothing is claimed from then on, and the lease is void.
  assert.deepEqual(await two.store.settle([settlementOf(two.under.shift()!)]), {
    settled: 0,
    refused: 1,
    refusedAt: [0],
  });
  await beatOn(1);
  assert.deepEqual(await claimAll(one), []);
  await beatOn(BEATS_TO_OPEN);
  assert.deepEqual(await two.store.settle([settlementOf(visit)]), { settled: 0, refused: 1, refusedAt: [0] });
  await checkPolite(await crawlOn());
  await checkWhole(links);
});

test('redis: a replica that lags takes over: two members put right what it does not know, and nothing is early or lost', async () => {
  const [master, replica] = [await startRedis(), await startRedis()];
  const [ours, theirs] = [new Redis(master.url), new Redis(replica.url)];
  const before = redis;
  const gate = await openGate(master.port);
  url = gate.url;
  try {
    await theirs.replicaof('127.0.0.1', master.port);
    const [one, two] = [await join('m1'), await join('m2')];
    const links = Array.from({ length: 20 }, (_, i) => linksOf(`s${i}.example`, 4)).flat();
    await one.store.admit(links.slice(0, 40));
    for (const member of members) await settle(member, (await claimAll(member)).slice(0, 20));
    await beatOn(5);
    const offset = /master_repl_offset:(\d+)/.exec(await ours.info('replication'))![1];
    await until('the replica has it all', async () =>
      (await theirs.info('replication')).includes(`slave_repl_offset:${offset}`),
    );
    // From here on it lags; what it is told when it is promoted is what it had then.
    await theirs.replicaof('NO', 'ONE');
    one.under = [...(await claimAll(one))];
    assert.ok(one.under.length > 8);
    await settle(one, one.under.splice(0, 4));
    await settle(one, one.under.splice(0, 3));
    await beatOn(5);
    await two.store.admit(links.slice(40, 60));
    await one.store.admit(links.slice(60));
    two.under = [...(await claimAll(two))];
    assert.ok(two.under.length > 4);
    await settle(two, two.under.splice(0, 2));
    const late = [one.under[0]!, two.under[0]!];
    ours.disconnect();
    await master.kill();
    gate.port = replica.port;
    gate.cut();
    redis = theirs;
    await beatOn(1);
    assert.deepEqual([await claimAll(one), await claimAll(two)], [[], []]);
    await beatOn(BEATS_TO_OPEN);
    for (const [i, visit] of late.entries())
      assert.equal((await members[i]!.store.settle([settlementOf(visit)])).refused, 1);
    await checkPolite(await crawlOn());
    await checkWhole(links);
  } finally {
    for (const { store, folder } of members.splice(0)) {
      await store.close();
      removeMember(folder);
    }
    redis = before;
    ours.disconnect();
    theirs.disconnect();
    await gate.close();
    await Promise.all([master.remove(), replica.remove()]);
  }
});

test('redis: a member that was not there when it went back opens later: its rows go, and it is told from when its pages must be read again', async () => {
  const [one, two] = [await join('m1'), await join('m2')];
  const links = Array.from({ length: 8 }, (_, i) => linksOf(`s${i}.example`, 2)).flat();
  await one.store.admit(links.slice(0, 12));
  const backTo = clock.now();
  await settle(one, await claimAll(one));
  await beatOn(5);
  const past = await rememberCrawl(redis, crawl);
  const visits = await claimAll(one);
  assert.ok(visits.length > 3);
  await settle(one, visits.slice(0, 2));
  await settle(one, visits.slice(2));
  await one.store.admit(links.slice(12));
  await one.store.close();
  await past.restore();
  // Another server, as far as the shards can tell: the other member has changed nothing there.
  for (let shard = 0; shard < SHARDS; shard++)
    if (await redis.exists(`{${crawl}:${shard}}:count`))
      await redis.hset(`{${crawl}:${shard}}:count`, 'server', 'another');
  assert.deepEqual(await claimAll(two), []);
  await beatOn(DEAD_AFTER_MS / BEAT_MS + BEATS_TO_OPEN, [two]);
  await beatOn(DELAY_MS / BEAT_MS, [two]);
  assert.ok((await claimAll(two)).length > 0, 'it is open without the other');
  await two.store.steer([{ kind: 'free', holder: null, counted: false }]);

  const open = (): Promise<OpenedStore> => openMember(one.folder, { url, archive: one.archive, clock });
  one.store = await open();
  assert.equal(one.store.forgotSince, backTo - 60_000);
  assert.equal(pagesOf(one.folder).length, 6, 'rows that Redis does not know are gone');
  await one.store.close();
  one.store = await open();
  assert.equal(one.store.forgotSince, backTo - 60_000, 'until it is done');
  await one.store.admit(links.slice(12)); // as reading its pages again would
  one.store.rereadDone!();
  await one.store.close();
  one.store = await open();
  assert.equal(one.store.forgotSince, null);
  await beatOn(BEATS_TO_OPEN);
  await checkPolite(await crawlOn());
  await checkWhole(links);
});

test('redis: entries of the journal that it forgot are written again by who has met them', async () => {
  const [one, two] = [await join('m1'), await join('m2')];
  await one.store.steer([{ kind: 'write', entry: { id: 'a', text: '1' } }]);
  const past = await rememberCrawl(redis, crawl);
  await one.store.steer([{ kind: 'write', entry: { id: 'b', text: '2' } }]);
  await one.store.steer([{ kind: 'write', entry: { id: 'c', text: '3' } }]);
  assert.equal((await two.store.journal(0)).length, 3);
  await past.restore();
  assert.equal((await two.store.beat()).entry, 3);
  assert.deepEqual(
    (await one.store.journal(0)).map(({ number, id, text }) => [number, id, text]),
    [
      [1, 'a', '1'],
      [2, 'b', '2'],
      [3, 'c', '3'],
    ],
  );
});

test('redis: a server that lost the whole crawl is not taken for a new one', async () => {
  const one = await join('m1');
  await one.store.admit(linksOf('a.example', 2));
  await redis.del(`{${crawl}}:meta`);
  await assert.rejects(one.store.beat(), /does not know this crawl any more/);
});

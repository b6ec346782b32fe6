/** Crashes planted between the steps of a settlement: appended, written, sent, settled, answered, put right. */

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Redis } from 'ioredis';
import { StoreFault } from '../src/contract/fault.ts';
import type { OpenedStore } from '../src/store/options.ts';
import type { Visit } from '../src/model/visit.ts';
import { ask, link, recordsOf, settlementOf, sitesInShard } from './contract/store-scene.ts';
import { createManualClock, type ManualClock } from './support/manual-clock.ts';
import { openMemoryArchive, type MemoryArchive } from './support/memory-archive.ts';
import { openGate, type RedisGate } from './support/redis-gate.ts';
import { createMember, openMember, pagesOf, removeMember, type MemberFolder } from './support/redis-scene.ts';
import { scriptsRun } from './support/redis-scripts.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';
import { until } from './support/until.ts';

const LEASE_MS = 60_000;

let server: RedisServer;
let gate: RedisGate;
let redis: Redis;
let folder: MemberFolder;
let archive: MemoryArchive;
let clock: ManualClock;
let store: OpenedStore;
before(async () => {
  server = await startRedis();
  gate = await openGate(server.port);
  redis = new Redis(server.url);
});
after(async () => {
  redis.disconnect();
  await gate.close();
  await server.remove();
});
beforeEach(async () => {
  Object.assign(gate, { commands: Infinity, answers: true });
  folder = createMember();
  archive = openMemoryArchive();
  clock = createManualClock();
  store = await openMember(folder, { url: gate.url, archive, clock });
});
afterEach(async () => {
  await store.close();
  removeMember(folder);
});

/** Three sites in three shards, and a visit to each, in that order. */
const SITES = [3, 4, 5].map((shard) => sitesInShard(shard, 1)[0]!);

const claimThree = async (): Promise<Visit[]> => {
  await store.admit(SITES.map((site) => link(`${site}/1`)));
  const { visits } = await store.claim(ask({ leaseMs: LEASE_MS }));
  return visits.toSorted((a, b) => SITES.indexOf(a.site) - SITES.indexOf(b.site));
};

const settleAll = (visits: readonly Visit[]): Promise<unknown> =>
  store.settle(visits.map((visit) => settlementOf(visit, { records: recordsOf(visit.site, 'robots;') })));

/**
 * Begins to settle these; resolves when Redis has run so many scripts of it, and the next one, or an answer, was
 * swallowed.
 */
const settleUpTo = async (scripts: number, visits: readonly Visit[]): Promise<{ settled: Promise<unknown> }> => {
  const [before, swallowed] = [await scriptsRun(redis), gate.swallowed];
  const settled = settleAll(visits);
  settled.catch(() => {}); // whoever waits for it hears of it
  await until('what is to pass has passed', async () => (await scriptsRun(redis)) >= before + scripts);
  await until('something was swallowed', () => gate.swallowed > swallowed);
  return { settled };
};

/** The process dies in the middle of that; then the crawl is opened again, straight at the server. */
const crashDuring = async (work: Promise<unknown>): Promise<void> => {
  const refused = assert.rejects(work, /the store is closed/);
  await store.close();
  await refused;
  store = await openMember(folder, { url: server.url, archive, clock });
};

const textOf = (site: string): string => `response ${site};`;
const readPages = (): string[] => pagesOf(folder).map((page) => new TextDecoder().decode(archive.read(page)));

/** Every page that is counted has its row and its record, and the others come again. */
const checkWhole = async (settledSites: readonly string[]): Promise<void> => {
  const census = await store.census();
  assert.deepEqual(
    [census.settled.fetched ?? 0, census.leased, census.waiting],
    [settledSites.length, 0, SITES.length - settledSites.length],
  );
  assert.deepEqual(readPages().toSorted(), settledSites.map(textOf).toSorted());
  assert.deepEqual(census.archive, archive.end());
  clock.advance(2 * LEASE_MS);
  const { visits } = await store.claim(ask({ leaseMs: LEASE_MS }));
  assert.deepEqual(
    visits.map(({ site }) => site).toSorted(),
    SITES.filter((site) => !settledSites.includes(site)).toSorted(),
  );
  await settleAll(visits);
  assert.deepEqual(readPages().toSorted(), SITES.map(textOf).toSorted(), 'each page once');
  const bytesDead = folder.dead.reduce((sum, { bytes }) => sum + bytes, 0);
  assert.equal(
    archive.totalBytes(),
    (await store.census()).archivedBytes + bytesDead,
    'no record without a page but those listed',
  );
};

test('redis: rows that were written, but whose settlement never left, are taken back', async () => {
  const visits = await claimThree();
  gate.commands = 0;
  await crashDuring((await settleUpTo(0, visits)).settled);
  assert.equal(archive.totalBytes(), 0);
  await checkWhole([]);
});

test('redis: a settlement that Redis has taken is kept, though its answer never came', async () => {
  const visits = await claimThree();
  gate.answers = false;
  await crashDuring((await settleUpTo(3, visits)).settled);
  await checkWhole(SITES);
});

for (const passed of [1, 2]) {
  test(`redis: of a batch that reached ${passed} of 3 shards, these are kept and the others visited again`, async () => {
    const visits = await claimThree();
    Object.assign(gate, { commands: passed, answers: false });
    await crashDuring((await settleUpTo(passed, visits)).settled);
    assert.deepEqual(folder.dead, [], 'what was not settled was the tail, and is cut');
    await checkWhole(SITES.slice(0, passed));
  });
}

test('redis: an answer that was lost is asked for again, and nothing happens twice', async () => {
  const visits = await claimThree();
  gate.answers = false;
  const { settled } = await settleUpTo(3, visits);
  gate.answers = true;
  gate.cut();
  assert.deepEqual(await settled, { settled: 3, refused: 0 });
  await checkWhole(SITES);
});

test('redis: a batch sent again to all shards, after some had taken it, is settled once', async () => {
  const visits = await claimThree();
  gate.commands = 2;
  const { settled } = await settleUpTo(2, visits);
  gate.commands = Infinity;
  gate.cut();
  assert.deepEqual(await settled, { settled: 3, refused: 0 });
  await checkWhole(SITES);
});

test('redis: the record of a lease that ran out on the way is cut while it is the tail, and listed when it is not', async () => {
  const [first, second, third] = (await claimThree()) as [Visit, Visit, Visit];
  // Another process finds the leases of two sites at their end, by its own clock.
  const other = createMember(folder.crawl, 'm2');
  const theirs = await openMember(other, {
    url: server.url,
    archive: openMemoryArchive(),
    clock: { ...clock, now: () => clock.now() + LEASE_MS },
  });
  const freeLeasesOf = (shards: number[]): Promise<unknown> => theirs.claim(ask({ shards, leaseMs: LEASE_MS }));
  await freeLeasesOf([3, 5]);
  assert.deepEqual(await settleAll([first, second, third]), { settled: 1, refused: 2, refusedAt: [0, 2] });
  assert.deepEqual(readPages(), [textOf(second.site)]);
  const bytes = recordsOf(first.site, 'robots;').bytes.length;
  assert.deepEqual(folder.dead, [{ file: 'records-00001', offset: 0, bytes }]);
  assert.equal(archive.totalBytes(), bytes + recordsOf(second.site, 'robots;').bytes.length, 'the tail is cut');
  await theirs.close();
  removeMember(other);
  await store.close();
  store = await openMember(folder, { url: server.url, archive, clock });
  await checkWhole([second.site]);
});

test('redis: a refusal whose answer was lost is put right at the next start', async () => {
  const [first, second, third] = (await claimThree()) as [Visit, Visit, Visit];
  const other = createMember(folder.crawl, 'm2');
  const theirs = await openMember(other, {
    url: server.url,
    archive: openMemoryArchive(),
    clock: { ...clock, now: () => clock.now() + LEASE_MS },
  });
  await theirs.claim(ask({ shards: [3], leaseMs: LEASE_MS }));
  await theirs.close();
  removeMember(other);
  gate.answers = false;
  await crashDuring((await settleUpTo(3, [first, second, third])).settled);
  assert.equal(folder.dead.length, 1);
  await checkWhole([second.site, third.site]);
});

test('redis: when a refusal cannot be put right, nothing more is settled until the next start has done it', async () => {
  const [first, second, third] = (await claimThree()) as [Visit, Visit, Visit];
  const other = createMember(folder.crawl, 'm2');
  const theirs = await openMember(other, {
    url: server.url,
    archive: openMemoryArchive(),
    clock: { ...clock, now: () => clock.now() + LEASE_MS },
  });
  await theirs.claim(ask({ shards: [5], leaseMs: LEASE_MS }));
  await theirs.close();
  removeMember(other);
  const { cut } = archive;
  archive.cut = () => {
    throw new Error('the disk is broken');
  };
  await assert.rejects(settleAll([first, third]), StoreFault);
  archive.cut = cut;
  await assert.rejects(settleAll([second]), /the disk is broken/);
  await store.close();
  store = await openMember(folder, { url: server.url, archive, clock });
  await checkWhole([first.site]);
});

test('redis: a link that was given up gets its row, though the process died before it was written', async () => {
  const gone = `{${folder.crawl}:3}:gone:${folder.member}`;
  let given: string[] = [];
  await store.admit([link(`${SITES[0]}/1`)]);
  for (let i = 1; i <= 8; i++) {
    clock.advance(LEASE_MS);
    assert.equal((await store.claim(ask())).visits[0]!.tries, i);
    if (i === 8) gate.answers = false;
    const freed = store.steer([{ kind: 'free', holder: null, counted: true }]);
    if (i < 8) await freed;
    else {
      await until('it is given up', async () => (given = await redis.lrange(gone, 0, -1)).length === 1);
      await crashDuring(freed);
    }
  }
  assert.deepEqual(
    pagesOf(folder).map(({ url, outcome, tries }) => [url, outcome, tries]),
    [[`https://${SITES[0]}/1`, 'gave-up', 8]],
  );
  await store.close();
  assert.equal(await redis.llen(gone), 0, 'the row is written: Redis need not keep it');
  // As if the process had died just before it told Redis so.
  await redis.rpush(gone, ...given);
  store = await openMember(folder, { url: server.url, archive, clock });
  assert.equal(pagesOf(folder).length, 1, 'once');
  assert.deepEqual((await store.census()).settled, { 'gave-up': 1 });
});

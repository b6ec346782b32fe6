/** Members that die, or were not heard for too long: their leases are freed, never early, and never twice in force. */

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { BEAT_MS, DEAD_AFTER_MS, LAPSED_AFTER_MS } from '../src/model/pulse.ts';
import type { Visit } from '../src/model/visit.ts';
import type { OpenedStore } from '../src/store/options.ts';
import { ask, claimOne, DELAY_MS, link, linksOf, settlementOf } from './contract/store-scene.ts';
import { surveyOf } from './contract/stored-scene.ts';
import { createManualClock, type ManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { openGate } from './support/redis-gate.ts';
import { createMember, openMember, removeMember, withLook, type MemberFolder } from './support/redis-scene.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';
import { until } from './support/until.ts';

const LEASE_MS = 240_000;

let server: RedisServer;
let clock: ManualClock;
let crawl: string;
let folders: MemberFolder[];
let [one, two]: OpenedStore[] = [];
before(async () => void (server = await startRedis()));
after(() => server.remove());
beforeEach(async () => {
  clock = createManualClock();
  folders = [];
  const first = createMember();
  crawl = first.crawl;
  folders.push(first);
  one = await open(first);
  two = await join('m2');
});
afterEach(async () => {
  for (const store of [one!, two!]) await store.close();
  const { faults } = await withLook(folders[0]!, { url: server.url }, (look) => surveyOf(look));
  assert.deepEqual(faults, []);
  folders.forEach(removeMember);
});

const open = (folder: MemberFolder): Promise<OpenedStore> =>
  openMember(folder, { url: server.url, archive: openMemoryArchive(), clock });
const join = (member: string): Promise<OpenedStore> => {
  const folder = createMember(crawl, member);
  folders.push(folder);
  return open(folder);
};

/** Lets time pass while these members beat. */
const pass = async (ms: number, ...members: OpenedStore[]): Promise<void> => {
  for (let left = ms; left > 0; left -= BEAT_MS) {
    clock.advance(Math.min(left, BEAT_MS));
    for (const member of members) await member.beat();
  }
};
const claimLong = (store: OpenedStore): Promise<Visit> => claimOne(store, { leaseMs: LEASE_MS });
const leasedNow = async (): Promise<number> => (await two!.census()).leased;

test('redis: the leases of a dead member are freed soon, counted, and its site waits a full delay from then', async () => {
  await one!.admit(linksOf('a.example', 2));
  const first = await claimLong(one!);
  await pass(DEAD_AFTER_MS - BEAT_MS, two!);
  assert.equal(await leasedNow(), 1, 'not before it is dead');
  await pass(BEAT_MS, two!);
  assert.equal(await leasedNow(), 0);
  await pass(DELAY_MS - 1, two!);
  assert.deepEqual((await two!.claim(ask())).visits, []);
  await pass(1, two!);
  const second = await claimLong(two!);
  assert.deepEqual([second.link.url, second.tries], [first.link.url, 2]);
  // What the dead one still had on its way is refused, and its next beat says why.
  assert.deepEqual(await one!.settle([settlementOf(first)]), { settled: 0, refused: 1, refusedAt: [0] });
  assert.equal((await one!.beat()).term, 1);
  assert.deepEqual(await two!.settle([settlementOf(second)]), { settled: 1, refused: 0 });
});

test('redis: members that are heard keep their leases, however long', async () => {
  await one!.admit([link('a.example/1')]);
  const visit = await claimLong(one!);
  await pass(3 * DEAD_AFTER_MS, one!, two!);
  assert.deepEqual(await one!.settle([settlementOf(visit)]), { settled: 1, refused: 0 });
});

test('redis: a member that was not heard for too long gives up its leases, and claims again when its visits have ended', async () => {
  await one!.admit([link('a.example/1'), link('b.example/1')]);
  const { visits } = await one!.claim(ask({ leaseMs: LEASE_MS }));
  clock.advance(LAPSED_AFTER_MS + 1);
  await two!.beat();
  assert.equal(await leasedNow(), 2, 'nobody takes it for dead yet');
  assert.equal((await one!.beat()).term, 1);
  await one!.admit([link('c.example/1')]);
  const none = await one!.claim(ask());
  assert.deepEqual([none.visits, none.term], [[], 1], 'while a visit of before is under way');
  assert.deepEqual(await one!.settle([settlementOf(visits[0]!)]), { settled: 0, refused: 1, refusedAt: [0] });
  await one!.beat();
  assert.equal(await leasedNow(), 2);
  await one!.settle([settlementOf(visits[1]!)]);
  await one!.beat();
  assert.equal(await leasedNow(), 0);
  const again = await claimOne(one!);
  assert.equal(again.link.url, 'https://c.example/1');
  await pass(DELAY_MS, one!);
  const later = await one!.claim(ask());
  assert.deepEqual(
    later.visits.map(({ site, tries }) => [site, tries]).toSorted(),
    [
      ['a.example', 1],
      ['b.example', 1],
    ],
    'nobody died of them: their claims are not counted',
  );
});

test('redis: a thread that died had its visits: they are not waited for', async () => {
  await one!.admit([link('a.example/1')]);
  await claimLong(one!);
  clock.advance(LAPSED_AFTER_MS + 1);
  await one!.beat();
  assert.equal(await leasedNow(), 1);
  await one!.steer([{ kind: 'free', holder: 'fetch-1', counted: false }]);
  await one!.beat();
  await pass(DELAY_MS, one!);
  assert.equal((await claimLong(one!)).tries, 1);
});

test('redis: a member that comes back keeps what it claimed since, though another frees what it had before', async () => {
  await one!.admit([link('a.example/1'), link('b.example/1')]);
  const old = await claimOne(one!, { visits: 1, leaseMs: LEASE_MS });
  clock.advance(DEAD_AFTER_MS);
  // It is back at the same moment: its old leases are of an earlier run.
  await one!.beat();
  await one!.settle([settlementOf(old)]);
  await one!.beat();
  const fresh = await claimOne(one!, { visits: 1, leaseMs: LEASE_MS });
  await two!.beat();
  assert.deepEqual(await one!.settle([settlementOf(fresh)]), { settled: 1, refused: 0 });
});

test('redis: a member that comes back while another frees it keeps what it claimed since', async () => {
  const gate = await openGate(server.port);
  const folder = createMember(crawl, 'm3');
  folders.push(folder);
  const three = await openMember(folder, { url: gate.url, archive: openMemoryArchive(), clock });
  try {
    await one!.admit(linksOf('a.example', 2));
    const old = await claimLong(one!);
    clock.advance(DEAD_AFTER_MS);
    // Its beat comes through, and says who is dead; what frees the leases does not.
    Object.assign(gate, { commands: 1, swallowed: 0 });
    const burying = three.beat();
    await until('it begins to free', () => gate.swallowed > 0);
    await one!.beat();
    await one!.settle([settlementOf(old)]);
    await one!.beat();
    clock.advance(DELAY_MS);
    const fresh = await claimLong(one!);
    gate.commands = Infinity;
    gate.cut();
    await burying;
    await three.beat();
    assert.deepEqual(await one!.settle([settlementOf(fresh)]), { settled: 1, refused: 0 });
  } finally {
    await three.close();
    await gate.close();
  }
});

test('redis: a dead member is freed once, and again when it lived and died again', async () => {
  await one!.admit(linksOf('a.example', 9));
  for (const tries of [2, 3]) {
    await pass(DEAD_AFTER_MS, two!);
    assert.equal(await leasedNow(), 0);
    await pass(DELAY_MS, two!);
    await one!.beat(); // it is back
    await one!.beat();
    const visit = await claimLong(one!);
    await pass(DEAD_AFTER_MS, two!);
    assert.equal(await leasedNow(), 0);
    assert.equal(visit.tries, tries - 1);
    await one!.beat();
    await one!.settle([settlementOf(visit)]);
  }
});

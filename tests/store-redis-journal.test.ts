/** The journal of a crawl in Redis, and who takes part in it. */

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { StoredCrawl } from '../src/contract/stored-crawl.ts';
import type { OpenedStore } from '../src/store/options.ts';
import { ask, claimOne, link, settlementOf } from './contract/store-scene.ts';
import { foundIn } from './contract/stored-scene.ts';
import { createManualClock, type ManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { createMember, openLook, openMember, removeMember, type MemberFolder } from './support/redis-scene.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';

let server: RedisServer;
let clock: ManualClock;
let folders: MemberFolder[];
let stores: OpenedStore[];
let crawl: StoredCrawl;
before(async () => void (server = await startRedis()));
after(() => server.remove());
beforeEach(async () => {
  clock = createManualClock();
  folders = [createMember()];
  stores = [await open(folders[0]!)];
  crawl = await openLook(folders[0]!, { url: server.url });
});
afterEach(async () => {
  for (const store of stores) await store.close();
  await crawl.close();
  folders.forEach(removeMember);
});

const open = (folder: MemberFolder): Promise<OpenedStore> =>
  openMember(folder, { url: server.url, archive: openMemoryArchive(), clock });

const join = async (member: string): Promise<OpenedStore> => {
  const folder = createMember(folders[0]!.crawl, member);
  const store = await open(folder);
  folders.push(folder);
  stores.push(store);
  return store;
};

const TEXT = '{"kind":"settings","who":"«ünï»/\\n\\u0000","settings":{"delay":5}}';

test('redis: an entry is written once, however often it is sent, and all members find it by its number', async () => {
  const [one, two] = [stores[0]!, await join('m2')];
  assert.deepEqual([(await one.beat()).entry, await one.journal(0)], [0, []]);
  const writtenAt = clock.now();
  assert.equal(await crawl.write({ id: 'a', text: TEXT }), 1);
  clock.advance(1_000);
  assert.equal(await crawl.write({ id: 'b', text: 'second' }), 2);
  assert.equal(await crawl.write({ id: 'a', text: 'other' }), 1);
  await one.steer([
    { kind: 'write', entry: { id: 'b', text: 'again' } },
    { kind: 'write', entry: { id: 'c', text: 'third' } },
  ]);
  assert.deepEqual([(await one.beat()).entry, (await two.beat()).entry], [3, 3]);
  const [first, ...others] = await two.journal(0);
  assert.deepEqual([first!.number, first!.id, first!.text], [1, 'a', TEXT]);
  assert.ok(first!.at >= writtenAt);
  assert.deepEqual(
    others.map(({ number, id, text }) => [number, id, text]),
    [
      [2, 'b', 'second'],
      [3, 'c', 'third'],
    ],
  );
  assert.deepEqual(await crawl.journal(2), others.slice(1));
  await one.admit([link('a.example/1')]);
  assert.equal((await two.claim(ask())).entry, 3);
});

test('redis: the journal moves with its crawl, numbers, ids and moments included', async () => {
  for (const id of ['a', 'b']) await crawl.write({ id, text: `${TEXT} ${id}` });
  const journal = await crawl.journal(0);
  const tally = (await foundIn(crawl, ['tally']))[0]!;
  assert.deepEqual(tally.kind === 'tally' && tally.journal, journal);
  const other = createMember();
  folders.push(other);
  const moved = await openLook(other, { url: server.url });
  const filling = await moved.fill();
  assert.deepEqual(await moved.journal(0), [], 'what is not whole is nobody’s crawl');
  if (tally.kind === 'tally') await filling.take([tally]);
  await filling.end();
  await filling.close();
  assert.deepEqual(await moved.journal(0), journal);
  assert.equal(await moved.write({ id: 'b', text: 'other' }), 2);
  assert.equal(await moved.write({ id: 'c', text: 'next' }), 3);
  await moved.close();
});

test('redis: all who took part are listed in the order they came, with when they were heard and what they settled', async () => {
  const two = await join('a2');
  await two.admit([link('a.example/1'), link('b.example/1')]);
  for (const visit of (await two.claim(ask())).visits) await two.settle([settlementOf(visit)]);
  await stores[0]!.admit([link('c.example/1')]);
  await stores[0]!.settle([settlementOf(await claimOne(stores[0]!))]);
  clock.advance(1_000);
  await two.beat();
  const views = await crawl.members();
  assert.deepEqual(
    views.map(({ member, settled }) => [member, settled]),
    [
      ['m1', 1],
      ['a2', 2],
    ],
  );
  assert.deepEqual([views[0]!.seenAt, views[1]!.seenAt], [clock.now() - 1_000, clock.now()]);
  assert.deepEqual(views[0]!.about, null);
});

test('redis: what a member says of itself is kept, and it is live while it is heard', async () => {
  const about = { host: 'alpha', pid: 7, dir: '/crawl «ü»', version: '1.2.3', startedAt: 5 };
  const folder = createMember(folders[0]!.crawl, 'm2');
  folders.push(folder);
  const store = await openMember(folder, { url: server.url, archive: openMemoryArchive(), about });
  stores.push(store);
  const view = async () => (await crawl.members()).find(({ member }) => member === 'm2')!;
  assert.deepEqual([(await view()).about, (await view()).isLive], [about, true]);
  await store.beat();
  assert.deepEqual((await view()).about, about);
  // The clock of m1 stands still, months ago.
  assert.equal(
    (await crawl.members()).find(({ member }) => member === 'm1')!.isLive,
    false,
    'by the clock of the store',
  );
});

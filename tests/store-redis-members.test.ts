/** Several processes on one crawl in Redis: each with its own directory, none with another's site. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import type { OpenedStore } from '../src/store/options.ts';
import type { Visit } from '../src/model/visit.ts';
import { ask, claimOne, DELAY_MS, link, linksOf, recordsOf, settlementOf } from './contract/store-scene.ts';
import { surveyOf } from './contract/stored-scene.ts';
import { createManualClock, type ManualClock } from './support/manual-clock.ts';
import { openMemoryArchive, type MemoryArchive } from './support/memory-archive.ts';
import { createMember, openMember, pagesOf, removeMember, withLook, type MemberFolder } from './support/redis-scene.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';
import { until } from './support/until.ts';

const LEASE_MS = 30_000;
const STEPS = 600;

let server: RedisServer;
before(async () => void (server = await startRedis()));
after(() => server.remove());

interface Member {
  readonly folder: MemberFolder;
  readonly archive: MemoryArchive;
  store: OpenedStore;
  leased: Visit[];
}

const openMembers = async (clock: ManualClock | null, names: readonly string[]): Promise<Member[]> => {
  const { crawl, ...unused } = createMember();
  removeMember({ crawl, ...unused });
  return Promise.all(
    names.map(async (name) => {
      const folder = createMember(crawl, name);
      const archive = openMemoryArchive();
      return { folder, archive, store: await openMember(folder, { url: server.url, archive, clock }), leased: [] };
    }),
  );
};

const closeMembers = async (members: readonly Member[]): Promise<void> => {
  for (const { store, folder } of members) {
    await store.close();
    removeMember(folder);
  }
};

test('redis: two processes never have the same site, and every page is settled once between them', async () => {
  const seed = Number(process.env.GOSSAMER_SEED ?? randomInt(1, 2 ** 31));
  let state = seed;
  const below = (limit: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
  const clock = createManualClock();
  const members = await openMembers(clock, ['m1', 'm2']);
  const lastVisit = new Map<string, number>();
  const seen = new Set<string>();
  const settle = async (member: Member, visits: readonly Visit[]): Promise<void> => {
    member.leased = member.leased.filter((visit) => !visits.includes(visit));
    await member.store.settle(visits.map((visit) => settlementOf(visit, { records: recordsOf(visit.link.url) })));
  };
  const claim = async (member: Member): Promise<void> => {
    const { visits } = await member.store.claim(
      ask({ visits: 1 + below(5), leaseMs: LEASE_MS, holder: `fetch-${below(2)}` }),
    );
    for (const visit of visits) {
      const holds = members.some(({ leased }) =>
        leased.some(({ site, leaseUntil }) => site === visit.site && leaseUntil! > clock.now()),
      );
      assert.ok(!holds, `${visit.site} is leased already`);
      assert.ok(
        clock.now() - (lastVisit.get(visit.site) ?? -Infinity) >= DELAY_MS,
        `${visit.site} is visited too early`,
      );
      lastVisit.set(visit.site, clock.now());
    }
    member.leased.push(...visits);
  };
  try {
    for (let step = 0; step < STEPS; step++) {
      const member = members[below(2)]!;
      const throwOf100 = below(100);
      if (throwOf100 < 25) {
        const links = Array.from({ length: below(6) }, () => link(`s${below(30)}.example/${below(30)}`));
        for (const { url } of links) seen.add(url);
        await Promise.all(members.map(({ store }) => store.admit(links)));
      } else if (throwOf100 < 55) await Promise.all([claim(member), ...(below(2) === 0 ? [claim(member)] : [])]);
      else if (throwOf100 < 80)
        await settle(
          member,
          member.leased.filter(() => below(2) === 0),
        );
      else if (throwOf100 < 97) clock.advance(below(8_000));
      else {
        await member.store.close();
        member.leased = [];
        member.store = await openMember(member.folder, { url: server.url, archive: member.archive, clock });
      }
    }
    for (let idle = 0; idle < 12; ) {
      clock.advance(LEASE_MS);
      for (const member of members) {
        await claim(member);
        idle = member.leased.length === 0 ? idle + 1 : 0;
        await settle(member, member.leased);
      }
    }
    const rows = members.flatMap(({ folder }) => pagesOf(folder));
    assert.deepEqual(
      rows.map(({ url }) => url as string).toSorted(),
      [...seen].toSorted(),
      'each page once, in one directory',
    );
    for (const { folder, archive } of members) {
      for (const page of pagesOf(folder))
        if (page.outcome === 'fetched')
          assert.equal(new TextDecoder().decode(archive.read(page)), `response ${page.url};`);
    }
    const census = await members[0]!.store.census();
    assert.deepEqual([census.waiting, census.leased], [0, 0]);
    for (const { folder } of members) {
      const { faults, whole } = await withLook(folder, { url: server.url }, (crawl) => surveyOf(crawl));
      const elsewhere = seen.size - pagesOf(folder).length;
      assert.deepEqual(
        [faults, whole?.links, whole?.lost.size],
        [[], seen.size, elsewhere],
        'each finds a sound crawl',
      );
      assert.deepEqual(whole?.tally.elsewhere, [folder.member === 'm1' ? 'm2' : 'm1']);
    }
    const dead = members.flatMap(({ folder }) => folder.dead).reduce((sum, { bytes }) => sum + bytes, 0);
    assert.equal(
      members.reduce((sum, { archive }) => sum + archive.totalBytes(), 0),
      census.archivedBytes + dead,
    );
  } catch (cause) {
    throw new Error(`the walk failed; GOSSAMER_SEED=${seed} replays it`, { cause });
  } finally {
    await closeMembers(members);
  }
});

test('redis: the page limit holds over processes that claim at the same time', async () => {
  const members = await openMembers(null, ['m1', 'm2', 'm3']);
  await members[0]!.store.admit(Array.from({ length: 60 }, (_, i) => link(`s${i}.example/1`)));
  const claims = await Promise.all(
    [...members, ...members].map(({ store }) => store.claim(ask({ visits: 20, pagesMax: 25, leaseMs: LEASE_MS }))),
  );
  assert.equal(
    claims.reduce((sum, { visits }) => sum + visits.length, 0),
    25,
  );
  await closeMembers(members);
});

test('redis: a lock on the page limit whose holder died opens by itself', async () => {
  const [member] = await openMembers(null, ['m1']);
  const redis = new Redis(server.url);
  await redis.set(`{${member!.folder.crawl}}:room`, 'of a dead process', 'PX', 300);
  await member!.store.admit([link('a.example/1')]);
  assert.equal((await member!.store.claim(ask({ pagesMax: 5 }))).visits.length, 1);
  assert.equal(await redis.exists(`{${member!.folder.crawl}}:room`), 0, 'and is opened again by the next');
  redis.disconnect();
  await closeMembers([member!]);
});

test('redis: opening a directory again frees its own leases and no others', async () => {
  const clock = createManualClock();
  const [one, two] = (await openMembers(clock, ['m1', 'm2'])) as [Member, Member];
  await one.store.admit([link('a.example/1')]);
  await two.store.admit([link('b.example/1')]);
  const mine = await claimOne(one.store, { visits: 1, leaseMs: LEASE_MS });
  const theirs = await claimOne(two.store, { visits: 1, leaseMs: LEASE_MS });
  await one.store.close();
  one.store = await openMember(one.folder, { url: server.url, archive: one.archive, clock });
  assert.equal((await one.store.census()).leased, 1);
  await one.store.steer([{ kind: 'free', holder: null, counted: true }]);
  assert.deepEqual(await one.store.settle([settlementOf(mine)]), { settled: 0, refused: 1, refusedAt: [0] });
  assert.deepEqual(await two.store.settle([settlementOf(theirs)]), { settled: 1, refused: 0 });
  await closeMembers([one, two]);
});

test('redis: what one process admits another is given soon, though it had just looked', async () => {
  const [one, two] = (await openMembers(null, ['m1', 'm2'])) as [Member, Member];
  assert.deepEqual(await two.store.claim(ask()), { visits: [], nextDueAt: null, entry: 0, term: 0 });
  await one.store.admit(linksOf('a.example', 2));
  let found: readonly Visit[] = [];
  await until('it is given', async () => (found = (await two.store.claim(ask())).visits).length > 0);
  assert.deepEqual(
    found.map(({ link: { url } }) => url),
    ['https://a.example/1'],
  );
  await closeMembers([one, two]);
});

test("redis: a store has one connection, whatever it is asked at the same time, and its time is the server's", async () => {
  const [member] = await openMembers(null, ['m1']);
  const redis = new Redis(server.url);
  const { store } = member!;
  await Promise.all([
    ...Array.from({ length: 50 }, (_, i) => store.admit(linksOf(`s${i}.example`, 20))),
    ...Array.from({ length: 20 }, () => store.claim(ask())),
    store.census(),
  ]);
  const clients = String(await redis.client('LIST'))
    .split('\n')
    .filter((line) => line.includes('name=gossamer'));
  assert.equal(clients.length, 1);
  const [before, now, later] = [await redis.time(), await store.time(), await redis.time()];
  const ms = ([seconds, micros]: [number, number]): number => Number(seconds) * 1_000 + Number(micros) / 1_000;
  assert.ok(
    ms(before as never) <= now + 1 && now <= ms(later as never) + 1,
    `${ms(before as never)} ${now} ${ms(later as never)}`,
  );
  redis.disconnect();
  await closeMembers([member!]);
});

/** Waiting links in files: few references in Redis, files that go when they are used up, one machine only. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { existsSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Redis } from 'ioredis';
import { StoreFault } from '../src/contract/fault.ts';
import type { Link } from '../src/model/link.ts';
import type { Pace, Visit } from '../src/model/visit.ts';
import type { OpenedStore } from '../src/store/options.ts';
import { SHARDS } from '../src/url/shard.ts';
import { ask, claimOne, link, linksOf, paceAfter, settlementOf } from './contract/store-scene.ts';
import { createManualClock, type ManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import {
  createMember,
  filesFolderOf,
  keyOf as keyIn,
  openLook,
  openMember,
  pagesOf,
  removeMember,
  type MemberFolder,
  type MemberOptions,
} from './support/redis-scene.ts';
import { untilScriptsRan } from './support/redis-scripts.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';
import { until } from './support/until.ts';

const SMALL = { fileBytesMax: 4_000, referencesMax: 4, lookMs: 20, graceMs: 0 };
const FILES = { frontier: 'files', limits: SMALL } as const;

let server: RedisServer;
let redis: Redis;
let folder: MemberFolder;
let clock: ManualClock;
let store: OpenedStore;
before(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
after(async () => {
  redis.disconnect();
  await server.remove();
});
beforeEach(async () => {
  folder = createMember();
  clock = createManualClock();
  store = await open();
});
afterEach(async () => {
  await store.close();
  removeMember(folder);
});

const archive = openMemoryArchive();
const open = (changes: Partial<MemberOptions> = {}, of = folder): Promise<OpenedStore> =>
  openMember(of, { url: server.url, archive, clock, ...FILES, ...changes });
const keyOf = (site: string, name: string): string => keyIn(folder, site, name);
const referencesOf = (site: string): Promise<string[]> => redis.lrange(keyOf(site, `queue:${site}`), 0, -1);
const filesThere = (): string[] => {
  const dir = filesFolderOf(folder);
  return existsSync(dir) ? readdirSync(dir).toSorted() : [];
};

/** The site may be visited again at once. */
const atOnce = (visit: Visit): Pace => paceAfter(visit, { dueAt: visit.claimedAt });

/** Visits all sites until nothing waits, and gives what was visited. */
const drain = async (): Promise<Link[]> => {
  const met: Link[] = [];
  for (let rounds = 0; rounds < 5_000; rounds++) {
    const { visits } = await store.claim(ask({ delayMs: 0 }));
    if (visits.length === 0) return met;
    met.push(...visits.map((visit) => visit.link));
    await store.settle(visits.map((visit) => settlementOf(visit, { pace: atOnce(visit) })));
  }
  throw new Error('it never ends');
};

const via = (n: number): string => `https://b.example/${n}`;

test('redis-files: a site that is found link by link has few references, and its queue keeps its order and where each was found', async () => {
  const links = Array.from({ length: 120 }, (_, n) =>
    link(`a.example/${n}`, {
      via: via(n % 7),
      depth: n % 3,
      hops: n % 2,
      ...(n % 5 === 0 ? { sitemap: 'listed' as const } : {}),
    }),
  );
  for (const one of links) await store.admit([one]);
  await until('they are few', async () => (await referencesOf('a.example')).length <= SMALL.referencesMax + 1);
  assert.deepEqual(await drain(), links);
  assert.equal(await redis.exists(keyOf('a.example', 'queue:a.example')), 0);
});

test('redis-files: links that were claimed before keep their tries when they are merged', async () => {
  await store.admit(linksOf('a.example', 20));
  const counted = new Map<string, number>();
  const claimNext = async (): Promise<Visit> => {
    const visit = await claimOne(store, { delayMs: 0 });
    assert.equal(visit.tries, (counted.get(visit.link.url) ?? 0) + 1, visit.link.url);
    return visit;
  };
  for (let round = 0; round < 60; round++) {
    const visit = await claimNext();
    const fate = round % 3 === 1 ? 'returned' : 'retry';
    if (fate === 'retry') counted.set(visit.link.url, visit.tries);
    await store.settle([settlementOf(visit, { fate, pace: atOnce(visit) })]);
    if (round % 2 === 0) await store.admit([link(`a.example/new/${round}`)]);
  }
  await until('they are few', async () => (await referencesOf('a.example')).length <= SMALL.referencesMax + 1);
  assert.ok(
    (await referencesOf('a.example')).some((reference) => reference.includes(';')),
    'links with other tries lie together',
  );
  for (let left = (await store.census()).waiting; left > 0; left--)
    await store.settle([await claimNext()].map((visit) => settlementOf(visit, { pace: atOnce(visit) })));
});

test('redis-files: files are deleted once all of their links are settled', async () => {
  for (let round = 0; round < 10; round++) {
    await store.admit(Array.from({ length: 200 }, (_, n) => link(`s${n % 40}.example/${round}/${n}`)));
    const { visits } = await store.claim(ask({ delayMs: 0, visits: 30 }));
    await store.settle(visits.map((visit) => settlementOf(visit, { pace: atOnce(visit) })));
  }
  assert.ok(filesThere().length > 5, filesThere().join(' '));
  assert.equal((await drain()).length, 2_000 - 300);
  const written = filesThere().at(-1)!;
  await until('only the last file is there', () => filesThere().length === 1);
  assert.deepEqual(filesThere(), [written]);
  assert.deepEqual(await redis.hkeys(keyOf('s1.example', 'files')), ['opening']);
});

test('redis-files: after a long random walk over crashes, retries and parked sites every link was settled once, and only the last file is left', async () => {
  const seed = Number(process.env.GOSSAMER_SEED ?? randomInt(1, 2 ** 31));
  let state = seed;
  const below = (limit: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
  const known = new Set<string>();
  const settled: string[] = [];
  let leased: Visit[] = [];
  try {
    for (let step = 0; step < 600; step++) {
      const dice = below(100);
      if (dice < 40) {
        const links = Array.from({ length: below(12) }, () =>
          link(`s${below(12)}.example/${below(300)}`, { first: below(9) === 0, via: via(below(3)) }),
        );
        for (const { url } of links) known.add(url);
        await store.admit(links);
      } else if (dice < 65) leased.push(...(await store.claim(ask({ delayMs: 0, visits: 1 + below(12) }))).visits);
      else if (dice < 90) {
        const some = leased.filter(() => below(3) > 0);
        leased = leased.filter((visit) => !some.includes(visit));
        await store.settle(
          some.map((visit) => {
            const fate = visit.tries > 4 || below(3) === 0 ? 'settled' : below(2) === 0 ? 'retry' : 'returned';
            if (fate === 'settled') settled.push(visit.link.url);
            return settlementOf(visit, { fate, parked: below(20) === 0, pace: atOnce(visit) });
          }),
        );
      } else if (dice < 93) await store.steer([{ kind: 'retry-parked' }]);
      else if (dice < 96) {
        await store.steer([{ kind: 'free', holder: null, counted: below(2) === 0 }]);
        leased = [];
      } else if (dice < 98) {
        await store.close();
        leased = [];
        store = await open();
      } else clock.advance(60_000);
    }
    await store.steer([{ kind: 'free', holder: null, counted: false }, { kind: 'retry-parked' }]);
    clock.advance(60_000);
    settled.push(
      ...(await drain()).map(({ url }) => url),
      ...pagesOf(folder)
        .filter(({ outcome }) => outcome === 'gave-up')
        .map(({ url }) => url),
    );
    assert.deepEqual(settled.toSorted(), [...known].toSorted());
    await until('only the last file is there', () => filesThere().length <= 1);
    for (let shard = 0; shard < SHARDS; shard++)
      assert.deepEqual(await redis.hkeys(`{${folder.crawl}:${shard}}:files`), ['opening']);
  } catch (error) {
    throw new Error(`again with GOSSAMER_SEED=${seed}`, { cause: error });
  }
});

test('redis-files: a file with little left is emptied and deleted, and what was left in it still waits in its place', async () => {
  await store.admit(linksOf('old.example', 3));
  await store.admit([link('old.example/4', { via: via(4) })]);
  const kept = await claimOne(store, { delayMs: 0 });
  await store.settle([settlementOf(kept, { fate: 'retry', parked: true })]);
  const [first] = filesThere();
  await store.admit(linksOf('new.example', 100));
  await store.admit([link('newer.example/1')]); // in the next file
  await drain();
  await until('the first file is gone', () => filesThere().length > 0 && filesThere()[0] !== first);
  assert.equal((await store.census()).parked, 4);
  await store.steer([{ kind: 'retry-parked' }]);
  clock.advance(60_000);
  const visits = await drain();
  assert.deepEqual(
    visits.map(({ url, via: from }) => [new URL(url).pathname, from]),
    [
      ['/2', ''],
      ['/3', ''],
      ['/4', via(4)],
      ['/1', ''],
    ],
  );
});

test('redis-files: what is under visit keeps its file, and so does a queue of which some are taken', async () => {
  await store.admit(linksOf('a.example', 3));
  const [first] = filesThere();
  const visit = await claimOne(store, { delayMs: 0 });
  await store.admit(linksOf('b.example', 100));
  await store.admit(linksOf('b.example', 101).slice(100)); // in the next file
  await store.settle(
    (await store.claim(ask({ delayMs: 0 }))).visits.map((one) => settlementOf(one, { pace: atOnce(one) })),
  );
  await untilScriptsRan(redis, 3 * SHARDS); // some looks at all shards: occasions to do the wrong thing
  const { visits } = await store.claim(ask({ delayMs: 0 }));
  assert.ok(visits.every(({ site }) => site === 'b.example'));
  await store.settle([
    settlementOf(visit, { fate: 'retry', pace: atOnce(visit) }),
    ...visits.map((one) => settlementOf(one, { pace: atOnce(one) })),
  ]);
  const rest = await drain();
  assert.deepEqual(
    rest.filter(({ site }) => site === 'a.example').map(({ url }) => new URL(url).pathname),
    ['/2', '/3', '/1'],
  );
  assert.equal(rest.length, 3 + 99);
  await until('all old files are gone', () => filesThere().length === 1 && filesThere()[0] !== first);
});

test('redis-files: a second member is refused with a sentence, and so is another place for waiting links', async () => {
  await store.admit(linksOf('a.example', 2));
  const refused = (opening: Promise<OpenedStore>, says: RegExp): Promise<void> =>
    assert.rejects(opening, (error) => error instanceof StoreFault && says.test(`${error.message}; ${error.advice}`));
  const second = createMember(folder.crawl, 'm2');
  await refused(
    open({}, second),
    /the waiting links of the crawl ".*" lie in files of another directory \(member m1\); only that one can work on it/,
  );
  await refused(open({ frontier: 'store' }, second), /lie in files of another directory/);
  await refused(open({ frontier: 'store' }), /lie in files, not in Redis; give --frontier files/);
  const other = createMember();
  const plain = await open({ frontier: 'store' }, other);
  await refused(open({}, other), /lie in Redis, not in files; omit --frontier/);
  await plain.admit(linksOf('a.example', 1));
  await plain.close();
  const moved = createMember();
  const crawl = await openLook(moved, { url: server.url });
  await (await crawl.fill()).end();
  await crawl.close();
  await refused(open({}, moved), /lie in Redis, not in files/);
  await (await open({ frontier: 'store' }, moved)).close();
  for (const one of [second, other, moved]) removeMember(one);
  assert.equal((await store.claim(ask())).visits.length, 1, 'the first goes on');
});

test('redis-files: a file that is missing is named when the crawl is opened, and bytes that are no link when they are read', async () => {
  await store.admit(linksOf('a.example', 2));
  await store.close();
  const path = join(filesFolderOf(folder), filesThere()[0]!);
  renameSync(path, `${path}.away`);
  await assert.rejects(open(), /lines-000001\.dat" is missing, and 2 links wait in it/);
  renameSync(`${path}.away`, path);
  store = await open();
  writeFileSync(path, Buffer.alloc(statSync(path).size));
  await assert.rejects(
    store.claim(ask()),
    (error) => error instanceof StoreFault && /lines-000001\.dat" at 0 \(no block begins there\)/.test(error.message),
  );
});

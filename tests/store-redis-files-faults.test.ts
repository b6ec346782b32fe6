/**
 * Crashes planted between the steps where waiting links lie in files: decided, written, known; read, written anew,
 * replaced. And a Redis that was set back.
 */

import assert from 'node:assert/strict';
import { BEAT_MS, DEAD_AFTER_MS } from '../src/model/pulse.ts';
import { existsSync, readdirSync } from 'node:fs';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Redis } from 'ioredis';
import { CLAIMS_MAX } from '../src/contract/store.ts';
import type { OpenedStore } from '../src/store/options.ts';
import { connectRedis } from '../src/store/redis/connect.ts';
import { FILES_LIMITS } from '../src/store/redis/files/limits.ts';
import { openFiles, reclaim } from '../src/store/redis/files/session.ts';
import { createKeys } from '../src/store/redis/keys.ts';
import { createWire, type Wire } from '../src/store/redis/wire.ts';
import { writeWaiting } from '../src/store/waiting-text.ts';
import { SHARDS, shardOf } from '../src/url/shard.ts';
import { ask, link, linksOf, paceAfter, settlementOf } from './contract/store-scene.ts';
import { createManualClock, type ManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { openGate, type RedisGate } from './support/redis-gate.ts';
import {
  createMember,
  filesFolderOf,
  keyOf as keyIn,
  openMember,
  pagesOf,
  removeMember,
  type MemberFolder,
} from './support/redis-scene.ts';
import { scriptsRun } from './support/redis-scripts.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';
import { until } from './support/until.ts';

const SITE = 'a.example';

let server: RedisServer;
let gate: RedisGate;
let redis: Redis;
let folder: MemberFolder;
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
  Object.assign(gate, { commands: Infinity, answers: true, lastUnanswered: false });
  folder = createMember();
  clock = createManualClock();
  store = await open(gate.url);
});
afterEach(async () => {
  await store.close();
  removeMember(folder);
});

const archive = openMemoryArchive();
/** Nothing is looked at by itself: only what a test sends is on the wire. */
const LIMITS = { referencesMax: 2, lookMs: 3_600_000 };
const open = (url: string, limits = {}): Promise<OpenedStore> =>
  openMember(folder, { url, archive, clock, frontier: 'files', limits: { ...LIMITS, ...limits } });
const keyOf = (name: string): string => keyIn(folder, SITE, name);
const filesThere = (): string[] => {
  const dir = filesFolderOf(folder);
  return existsSync(dir) ? readdirSync(dir).toSorted() : [];
};
const pass = (commands: number, lastUnanswered = false): void =>
  void Object.assign(gate, { commands, lastUnanswered, swallowed: 0 });
/**
 * What is swallowed comes after that: the next command, which is sent when all before it is done, or the last answer.
 */
const passed = (): Promise<void> =>
  until('what is to pass has passed', () => gate.commands === 0 && gate.swallowed > 0);

/** The process dies in the middle of that; then the crawl is opened again, straight at the server. */
const crashDuring = async (work: Promise<unknown>): Promise<void> => {
  const refused = assert.rejects(work, /the store is closed/);
  await passed();
  await store.close();
  await refused;
  store = await open(server.url);
};

const drain = async (): Promise<string[]> => {
  const met: string[] = [];
  for (;;) {
    const { visits } = await store.claim(ask({ delayMs: 0 }));
    if (visits.length === 0) return met;
    met.push(...visits.map((visit) => new URL(visit.link.url).pathname));
    await store.settle(
      visits.map((visit) => settlementOf(visit, { pace: paceAfter(visit, { dueAt: visit.claimedAt }) })),
    );
  }
};

const LINKS = linksOf(SITE, 3);
const PATHS = ['/1', '/2', '/3'];

test('redis-files: links that were written, but that Redis never heard of, are not known, and can be admitted', async () => {
  pass(1); // decided
  await crashDuring(store.admit(LINKS));
  assert.equal(filesThere().length, 1);
  assert.equal((await store.census()).waiting, 0);
  assert.deepEqual(await store.admit(LINKS), { admitted: 3, seen: 0, forgotten: 0, full: [] });
  await store.close();
  store = await open(server.url, { lookMs: 10, graceMs: 0 });
  await until('what nobody refers to is gone', () => filesThere().length === 1);
  assert.deepEqual(await drain(), PATHS);
});

test('redis-files: links that Redis has taken wait once, though its answer never came', async () => {
  pass(2, true);
  await crashDuring(store.admit(LINKS));
  assert.deepEqual(await store.admit(LINKS), { admitted: 0, seen: 3, forgotten: 0, full: [] });
  assert.deepEqual(await drain(), PATHS);
});

test('redis-files: an answer that was lost is asked for again, and no link waits twice', async () => {
  pass(2, true);
  const admitted = store.admit(LINKS);
  await passed();
  Object.assign(gate, { commands: Infinity, answers: true });
  gate.cut();
  assert.deepEqual(await admitted, { admitted: 0, seen: 3, forgotten: 0, full: [] });
  assert.deepEqual(await drain(), PATHS);
});

/** Commands of the admission that makes the references too many: decided, known; then they are read, and replaced. */
for (const [step, commands, references] of [
  ['noticed', 2, 3],
  ['written anew', 3, 3],
  ['replaced', 4, 2],
] as const) {
  test(`redis-files: a crash after the references of a site that has too many were ${step} loses no link and repeats none`, async () => {
    await store.admit([LINKS[0]!]);
    await store.admit([LINKS[1]!]);
    pass(commands, commands === 4);
    await store.admit([LINKS[2]!]);
    await passed();
    assert.equal(await redis.llen(keyOf(`queue:${SITE}`)), references);
    await store.close();
    store = await open(server.url);
    assert.deepEqual(await drain(), PATHS);
    assert.deepEqual(await redis.hkeys(keyOf('files')), ['opening'], 'and every link was counted once');
  });
}

const onTheWire = async (work: (wire: Wire) => Promise<void>): Promise<void> => {
  const wire = createWire({
    ...(await connectRedis(server.url)),
    keys: createKeys(folder.crawl, folder.member),
    member: folder.member,
    frontier: 'files',
    say: () => {},
  });
  wire.follow(clock);
  try {
    await work(wire);
  } finally {
    wire.close();
  }
};

test('redis-files: what an earlier opening still had on its way is refused: its file may be deleted by now', () =>
  onTheWire(async (wire) => {
    await store.admit([LINKS[0]!]);
    const [before] = await redis.lrange(keyOf(`queue:${SITE}`), 0, -1);
    await store.close();
    store = await open(server.url);
    await store.admit([LINKS[1]!]);
    const shard = shardOf(SITE);
    const [late] = (await wire.all([
      { name: 'files-admit', shard, args: ['0 0', 1, 0, SITE, '12345', '', '1 0 0 1'] },
    ])) as [unknown[]];
    assert.equal(late[1], -1);
    const [now] = await redis.lrange(keyOf(`queue:${SITE}`), 0, -1);
    assert.deepEqual(await wire.all([{ name: 'files-replace', shard, args: [1, SITE, 0, 1, now!, '1 0 0 1'] }]), [0]);
    assert.equal(now, before);
    assert.deepEqual(await drain(), ['/1', '/2']);
  }));

test('redis-files: references are replaced only where they still lie, and the first one only as far as it is not taken', () =>
  onTheWire(async (wire) => {
    await store.close();
    store = await open(server.url, { referencesMax: 100 });
    const shard = shardOf(SITE);
    const opening = (await redis.hget(keyOf('files'), 'opening'))!;
    await store.admit(LINKS);
    for (const path of ['/4', '/5', '/6']) await store.admit([link(`${SITE}${path}`)]);
    const [first, ...others] = await redis.lrange(keyOf(`queue:${SITE}`), 0, -1);
    const replace = async (next: number | '', old: readonly string[]): Promise<unknown> =>
      (
        await wire.all([{ name: 'files-replace', shard, args: [opening, SITE, next, old.length, ...old, 'zz 0 0 9'] }])
      )[0];
    const visit = async (): Promise<unknown> =>
      store.settle(
        (await store.claim(ask({ delayMs: 0 }))).visits.map((one) =>
          settlementOf(one, { pace: paceAfter(one, { dueAt: one.claimedAt }) }),
        ),
      );
    await visit();
    assert.equal(await replace(0, [first!]), 0, 'one of it was taken since');
    assert.equal(await replace('', [first!]), 0, 'not without knowing how much of it was');
    assert.equal(await replace('', [others[0]!, others[2]!]), 0, 'not these two');
    assert.equal(await replace('', [others[1]!, others[2]!, first!]), 0, 'not these three');
    await visit();
    await visit();
    assert.equal(await replace('', others), 0, 'now it is the first');
    assert.equal(await redis.hexists(keyOf('files'), 'zz'), 0);
    assert.deepEqual(await drain(), ['/4', '/5', '/6']);
  }));

test('redis-files: a file whose references are still on their way to Redis is not deleted', () =>
  onTheWire(async (wire) => {
    const limits = { ...FILES_LIMITS, fileBytesMax: 10, graceMs: 0 };
    const session = await openFiles({ wire, shards: SHARDS, folder: filesFolderOf(folder), limits });
    const one = { text: writeWaiting({ link: LINKS[0]!, tries: 0 }), via: '' };
    const [first] = [session.writer.append([[one]]), session.writer.append([[one]])];
    await reclaim(session);
    assert.equal(filesThere().length, 2);
    first!.release();
    await reclaim(session);
    assert.equal(filesThere().length, 1, 'nothing came of it');
    session.writer.close();
    await store.close();
    store = await open(server.url);
  }));

test('redis-files: a link that is given up gets its row, and only then its link is let go', async () => {
  const gone = keyOf(`gone:${folder.member}`);
  await store.admit([link(`${SITE}/1`, { via: 'https://b.example/' })]);
  let given: string[] = [];
  for (let claims = 1; claims <= CLAIMS_MAX; claims++) {
    clock.advance(60_000);
    assert.equal((await store.claim(ask())).visits[0]!.tries, claims);
    const isLast = claims === CLAIMS_MAX;
    if (isLast) gate.answers = false;
    const freed = store.steer([{ kind: 'free', holder: null, counted: true }]);
    if (!isLast) await freed;
    else {
      const refused = assert.rejects(freed, /the store is closed/);
      await until('it is given up', async () => (given = await redis.lrange(gone, 0, -1)).length === 1);
      await store.close();
      await refused;
    }
  }
  assert.deepEqual(pagesOf(folder), []);
  assert.deepEqual((await redis.hkeys(keyOf('files'))).length, 2, 'its link is kept');
  store = await open(server.url);
  assert.deepEqual(
    pagesOf(folder).map(({ url, via, outcome, tries }) => [url, via, outcome, tries]),
    [[`https://${SITE}/1`, 'https://b.example/', 'gave-up', CLAIMS_MAX]],
  );
  await until('its link is let go', async () => (await redis.hkeys(keyOf('files'))).length === 1);
  assert.match(given[0]!, /^a\.example\n\d+ 1\n\n\w+ \w+ 0 8$/);
});

test('redis-files: a Redis that was set back to an earlier state finds its links again, and takes more', async () => {
  await store.admit(LINKS);
  await redis.save();
  await store.close();
  store = await open(server.url, { fileBytesMax: 100, lookMs: 10 });
  assert.deepEqual(await drain(), PATHS);
  for (let n = 4; n < 20; n++) await store.admit([link(`${SITE}/${n}`)]);
  await drain();
  // Some looks at all shards are occasions to do the wrong thing: to delete what was consumed.
  const before = await scriptsRun(redis);
  await until(
    'it was looked at some times',
    async () => filesThere().length <= 1 || (await scriptsRun(redis)) > before + 3 * SHARDS,
  );
  await server.kill();
  await server.restart();
  clock.advance(1_000);
  assert.deepEqual(await store.admit([link(`${SITE}/4`)]), { admitted: 1, seen: 0, forgotten: 0, full: [] });
  for (let beats = 0; beats < DEAD_AFTER_MS / BEAT_MS + 5; beats++) {
    clock.advance(1_000);
    await store.beat();
  }
  const sentLately = Array.from({ length: 15 }, (_, i) => `/${i + 5}`);
  assert.deepEqual(await drain(), [...PATHS, '/4', ...sentLately]);
});

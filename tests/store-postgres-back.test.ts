/** A PostgreSQL that goes back in time under its members: no site is early, no link is lost, no page is there twice. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { DeadRecords } from '../src/contract/walk.ts';
import { BEAT_MS, DEAD_AFTER_MS } from '../src/model/pulse.ts';
import type { Visit } from '../src/model/visit.ts';
import type { OpenedStore } from '../src/store/options.ts';
import { openPostgresCrawl } from '../src/store/postgres/crawl.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { ask, DELAY_MS, link, recordsOf, settlementOf } from './contract/store-scene.ts';
import { foundIn, pagesIn, soundSurveyOf } from './contract/stored-scene.ts';
import { createManualClock, type ManualClock } from './support/manual-clock.ts';
import { openMemoryArchive, type MemoryArchive } from './support/memory-archive.ts';
import { startReplica } from './support/postgres-replica.ts';
import { lookOptions, workOptions } from './support/postgres-scene.ts';
import { startPostgres, type PostgresServer } from './support/postgres-server.ts';

const server = await startPostgres();
const dirs: string[] = [];
after(async () => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
  await server.remove();
});

const LEASE_MS = 600_000;

/** A way to a server that leads to another one later. */
const openWay = async (port: number): Promise<{ port: number; lead(to: number): void; close(): void }> => {
  const sockets = new Set<Socket>();
  let to = port;
  const way = createServer((client) => {
    const upstream = connect(to, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy()).on('close', () => void (sockets.delete(socket), other.destroy()));
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => void way.listen(0, '127.0.0.1', resolve));
  const end = (): void => sockets.forEach((socket) => void socket.destroy());
  return {
    port: (way.address() as AddressInfo).port,
    lead: (other) => {
      to = other;
      end();
    },
    close: () => {
      way.close();
      end();
    },
  };
};

interface At {
  readonly name: string;
  readonly dir: string;
  readonly archive: MemoryArchive;
  readonly dead: DeadRecords[];
  store: OpenedStore;
}

/** A crawl whose members note what they do, and check that no site is early, whatever the store says. */
interface Story {
  readonly clock: ManualClock;
  readonly url: string;
  readonly members: At[];
  /** When a visit to a site last began, or may have. */
  readonly begun: Map<string, number>;
  readonly known: Set<string>;
  /** Of each member: visits that are under way. */
  readonly underWay: Map<At, Visit[]>;
}

const beginStory = async (url: string): Promise<Story> => {
  const story: Story = {
    clock: createManualClock(),
    url,
    members: [],
    begun: new Map(),
    known: new Set(),
    underWay: new Map(),
  };
  for (const name of ['a', 'b']) {
    const dir = mkdtempSync(join(tmpdir(), 'gossamer-back-'));
    dirs.push(dir);
    const member = { name, dir, archive: openMemoryArchive(), dead: [], store: null as unknown as OpenedStore };
    await openMember(story, member);
    story.members.push(member);
  }
  return story;
};

const openMember = async ({ url, clock, underWay }: Story, member: At): Promise<void> => {
  const { name, dir, archive } = member;
  const dead = (records: readonly DeadRecords[]): void => void member.dead.push(...records);
  member.store = await openPostgresStore(workOptions(url, { archive, clock }, { member: name, dir, dead }));
  underWay.set(member, []);
};

const admitSome = async ({ known }: Story, { store }: At): Promise<void> => {
  const links = Array.from({ length: 8 }, () => link(`s${randomInt(25)}.example/${randomInt(40)}`));
  await store.admit(links);
  for (const { url } of links) known.add(url);
};

const claimSome = async ({ clock, begun, underWay }: Story, me: At): Promise<number> => {
  const { visits } = await me.store.claim(ask({ visits: 5, leaseMs: LEASE_MS }));
  for (const visit of visits) {
    const { site } = visit;
    for (const [other, some] of underWay)
      assert.ok(!some.some((one) => one.site === site), `${site} is under way at ${other.name}`);
    assert.ok(
      clock.now() >= (begun.get(site) ?? 0) + DELAY_MS,
      `${site} is early by ${clock.now() - begun.get(site)!}`,
    );
    begun.set(site, clock.now());
  }
  underWay.get(me)!.push(...visits);
  return visits.length;
};

const settleSome = async ({ underWay }: Story, me: At, count = Infinity): Promise<number> => {
  const some = underWay.get(me)!.splice(0, count);
  const settled = await me.store.settle(
    some.map((visit) => settlementOf(visit, { records: recordsOf(`${visit.link.url} ${me.name}${visit.lease}`) })),
  );
  return settled.settled;
};

/** Both work for a while, and are heard every second. */
const work = async (story: Story, seconds: number, admitting: readonly At[] = story.members): Promise<void> => {
  for (let i = 0; i < seconds; i++) {
    for (const me of story.members) {
      if (i % 2 === 0 && admitting.includes(me)) await admitSome(story, me);
      await claimSome(story, me);
      await settleSome(story, me, 4);
      await me.store.beat();
    }
    story.clock.advance(BEAT_MS);
  }
};

const beatAll = async ({ members }: Story): Promise<number[]> => {
  const terms: number[] = [];
  for (const { store } of members) terms.push((await store.beat()).term);
  return terms;
};

/** Everything is visited; then rows, archives, lists of dead records and counters agree with each other. */
const endStory = async (story: Story): Promise<void> => {
  const { clock, members, known, url } = story;
  for (let idle = 0; idle < 30; ) {
    let visits = 0;
    for (const me of members) {
      visits += await claimSome(story, me);
      await settleSome(story, me);
      await me.store.beat();
    }
    clock.advance(BEAT_MS);
    idle = visits === 0 ? idle + 1 : 0;
  }
  const census = await members[0]!.store.census();
  assert.deepEqual([census.waiting, census.leased], [0, 0]);
  const look = await openPostgresCrawl(lookOptions(url));
  try {
    await soundSurveyOf(look);
    const pages = await pagesIn(look);
    assert.deepEqual(pages.map((page) => page.url as string).toSorted(), [...known].toSorted(), 'each link, once');
    let archived = 0;
    for (const { name, archive, dead } of members) {
      const own = await openPostgresCrawl(lookOptions(url, { member: name }));
      const found = await foundIn(own, ['pages']).finally(() => own.close());
      const mine = found
        .flatMap((one) => (one.kind === 'pages' ? one.pages : []))
        .filter((page) => page.mine && page.warc_file !== null);
      for (const page of mine)
        assert.ok(new TextDecoder().decode(archive.read(page)).startsWith(`response ${page.url} ${name}`));
      const spans = new Map(dead.map((span) => [`${span.file} ${span.offset}`, span]));
      const settled = mine.reduce((sum, page) => sum + page.warc_group_length!, 0);
      const unsettled = [...spans.values()].reduce((sum, span) => sum + span.bytes, 0);
      assert.equal(settled + unsettled, archive.totalBytes(), `all bytes of ${name} are of a page or listed`);
      for (const page of mine)
        for (const span of spans.values())
          assert.ok(
            page.warc_file !== span.file ||
              page.warc_offset! >= span.offset + span.bytes ||
              page.warc_offset! < span.offset,
            'no page lies in what is listed',
          );
      archived += archive.totalBytes();
    }
    assert.equal(census.archivedBytes, archived);
  } finally {
    await look.close();
    for (const { store } of members) await store.close();
  }
};

/** Copies the rows of a crawl, and gives what puts them back. */
const copyRows = async (of: PostgresServer, url: string): Promise<() => Promise<void>> => {
  const tables = (
    await of.query(
      url,
      "SELECT relname AS name FROM pg_class WHERE relnamespace = 'gossamer_here'::regnamespace AND relkind = 'r'",
    )
  ).map(({ name }) => String(name));
  await of.query(url, 'DROP SCHEMA IF EXISTS copy CASCADE');
  const copies = tables.map((name) => `CREATE TABLE copy.${name} AS TABLE gossamer_here.${name};`);
  await of.query(url, `BEGIN; CREATE SCHEMA copy; ${copies.join(' ')} COMMIT`);
  return async () => {
    const back = tables.map(
      (name) => `INSERT INTO gossamer_here.${name} OVERRIDING SYSTEM VALUE SELECT * FROM copy.${name};`,
    );
    const all = tables.map((name) => `gossamer_here.${name}`).join(', ');
    await of.query(url, `BEGIN; TRUNCATE ${all}; ${back.join(' ')} COMMIT`);
  };
};

test('postgres: when the rows of a crawl are put back to an earlier moment under two members, nothing is early, lost or there twice', async () => {
  const url = await server.database();
  const story = await beginStory(url);
  await work(story, 12);
  const putBack = await copyRows(server, url);
  await work(story, 8);
  await putBack();
  const wentBackAt = story.clock.now();
  // Until somebody notices, settlements find out: their batch does not follow the store's last one.
  for (const me of story.members) assert.equal(await settleSome(story, me), 0);
  assert.deepEqual(await beatAll(story), [1, 1]);
  await beatAll(story);
  assert.deepEqual(await Promise.all(story.members.map((me) => claimSome(story, me))), [0, 0]);
  for (const site of story.begun.keys()) story.begun.set(site, Math.max(story.begun.get(site)!, wentBackAt));
  assert.ok(
    story.members.every(({ dead }) => dead.length > 0),
    'what was forgotten is listed',
  );
  await work(story, 10);
  await endStory(story);
});

test('postgres: a replica that was left behind takes over from two members at work: nothing is early, lost or there twice', async () => {
  const primary = await startPostgres();
  const direct = await primary.database();
  const replica = await startReplica(primary, direct);
  const way = await openWay(primary.port);
  try {
    const story = await beginStory(Object.assign(new URL(direct), { port: String(way.port) }).href);
    await work(story, 10);
    await replica.caughtUp();
    await replica.leaveBehind();
    await work(story, 9);
    for (const me of story.members) {
      const links = [1, 2].map((n) => link(`late-${me.name}${n}.example/`));
      await me.store.admit(links);
      for (const { url } of links) story.known.add(url);
      assert.ok((await claimSome(story, me)) > 0);
    }
    await primary.kill();
    await replica.promote();
    way.lead(replica.port);
    const wentBackAt = story.clock.now();
    // The crawl is shut: nothing is claimed and nothing settled until both have ended what they had under way.
    const [a, b] = story.members as [At, At];
    assert.equal(await settleSome(story, a), 0);
    assert.equal(await claimSome(story, a), 0);
    await beatAll(story);
    assert.equal(await claimSome(story, a), 0, 'the other has visits under way');
    assert.ok(story.underWay.get(b)!.length > 0);
    assert.equal(await settleSome(story, b), 0);
    await beatAll(story);
    await beatAll(story);
    for (const site of story.begun.keys()) story.begun.set(site, Math.max(story.begun.get(site)!, wentBackAt));
    assert.ok(a.dead.length > 0 && b.dead.length > 0, 'what was forgotten is listed');
    await work(story, 10);
    await endStory(story);
  } finally {
    way.close();
    await replica.remove();
    await primary.remove();
  }
});

test('postgres: a member that was dead when the store went back lists what was forgotten when it opens, and cuts nothing', async () => {
  const url = await server.database();
  const story = await beginStory(url);
  const [a, b] = story.members as [At, At];
  await work(story, 6);
  const putBack = await copyRows(server, url);
  // Links that the other brings are found on pages that are forgotten with them, and come again.
  await work(story, 8, [a]);
  for (const me of story.members) await settleSome(story, me);
  await b.store.close();
  story.underWay.set(b, []);
  const bytes = b.archive.totalBytes();
  await putBack();
  const wentBackAt = story.clock.now();
  await a.store.beat();
  await a.store.beat();
  assert.equal((await a.store.claim(ask())).visits.length, 0, 'the other may live');
  for (let ms = 0; ms <= DEAD_AFTER_MS; ms += BEAT_MS) {
    story.clock.advance(BEAT_MS);
    await a.store.beat();
  }
  for (const site of story.begun.keys()) story.begun.set(site, Math.max(story.begun.get(site)!, wentBackAt));
  await openMember(story, b);
  assert.equal(b.archive.totalBytes(), bytes, 'nothing was cut');
  assert.ok(b.dead.length > 0);
  await work(story, 6);
  await endStory(story);
});

test('postgres: a restart of the server that loses nothing costs the visits under way and a full delay, no more', async () => {
  const own = await startPostgres();
  try {
    const story = await beginStory(await own.database());
    await work(story, 6);
    await own.kill();
    await own.restart();
    const restartedAt = story.clock.now();
    for (const me of story.members) assert.equal(await settleSome(story, me), 0);
    await beatAll(story);
    await beatAll(story);
    for (const site of story.begun.keys()) story.begun.set(site, restartedAt);
    await work(story, 6);
    assert.ok(story.members.every(({ dead }) => dead.length === 0));
    await endStory(story);
  } finally {
    await own.remove();
  }
});

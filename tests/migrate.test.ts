/** A crawl is moved to another number of shards: nothing of it changes, and it can be killed at any moment. */

import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { diskFreeBytes } from '../src/folder/ceilings.ts';
import { keepIdentity, readIdentity } from '../src/folder/folder.ts';
import { lockCrawl } from '../src/folder/lock.ts';
import { finishMove } from '../src/folder/finish-move.ts';
import { StoreFault } from '../src/contract/fault.ts';
import { openSqlite } from '../src/store/sqlite/store.ts';
import { shardsIn } from '../src/store/sqlite/schema.ts';
import type { Census } from '../src/model/census.ts';
import { ALL_SHARDS, ask } from './contract/store-scene.ts';
import { openMade } from './support/made-crawl.ts';
import { createManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { assertSound, claimAll, lookIn, makeMoveScene, wholeOf, type MoveScene } from './support/move-scene.ts';

let scenes: Awaited<ReturnType<typeof makeMoveScene>>;
before(async () => void (scenes = await makeMoveScene()));
after(() => scenes.remove());

const censusOf = (path: string): Promise<Census> => lookIn(path, (crawl) => crawl.census());

const shardCount = (path: string): number => {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return shardsIn(db);
  } finally {
    db.close();
  }
};

const layoutOf = (path: string): unknown[] => {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all();
  } finally {
    db.close();
  }
};

test('from 64 shards to 7, to 300 and back, all of a crawl stays as it was, and verify finds no damage', () =>
  scenes.open(async ({ dir, path, move }) => {
    const was = await wholeOf(path);
    const { now: _, changes: __, ...census } = await censusOf(path);
    assert.ok(census.parked > 0 && census.held > 0 && census.forgotten > 0, 'the scene has some of everything');
    for (const shards of [7, 300, 64]) {
      const moved = await move({ shards });
      assert.equal(moved.kind, 'moved');
      assert.deepEqual(readdirSync(dir).toSorted(), [
        'crawl.db',
        'crawl.db-moved',
        'crawl.json',
        'crawl.lock',
        'seeds.txt',
        'warc',
      ]);
      assert.deepEqual(await wholeOf(path), was);
      assert.deepEqual(layoutOf(path), layoutOf(`${path}-moved`));
      assert.equal(shardCount(path), shards);
      assert.equal(readIdentity(dir).fixed.shards, shards);
      assert.equal(readIdentity(dir).movedFrom, undefined);
      const { now: ___, changes: ____, ...after } = await censusOf(path);
      assert.deepEqual(after, census);
      await assertSound(dir);
      assert.deepEqual(await wholeOf(`${path}-moved`), was, 'the former one is kept as it was');
    }
  }));

test('the links of every site are claimed in the same order as before the move', () =>
  scenes.open(async ({ path, move }) => {
    await move({ shards: 300 });
    const moved = await claimAll(path, 300);
    assert.deepEqual(moved, await claimAll(`${path}-moved`, 64));
    assert.equal(moved['long.example']?.length, 699);
  }));

test('what is known is known after the move: no link is admitted twice, and a new one is', () =>
  scenes.open(async ({ dir, path, move }) => {
    await move({ shards: 7 });
    const { queues, pages } = await wholeOf(path);
    const known = [
      ...Object.values(queues)
        .flat()
        .map(({ link }) => link),
      ...pages,
    ];
    const store = openMade({ dir, fileBytesMax: 30_000 });
    try {
      const linkTo = (url: string, site: string) =>
        ({ url, site, depth: 0, via: '', hops: 0, fallback: false, first: false }) as Parameters<
          typeof store.admit
        >[0][number];
      assert.ok(known.length > 800);
      assert.equal((await store.admit(known.map(({ url, site }) => linkTo(url, site)))).admitted, 0);
      assert.equal((await store.admit([linkTo('http://long.example/new', 'long.example')])).admitted, 1);
    } finally {
      await store.close();
    }
  }));

test('links under way in a crawl that was killed wait again at the head of their queues, a try counted, and their sites a full delay', () =>
  scenes.open(async ({ dir, path, move }) => {
    const store = openMade({ dir, fileBytesMax: 30_000 });
    const { visits } = await store.claim(ask({ shards: ALL_SHARDS, visits: 3, delayMs: 60_000 }));
    // As a kill would leave it: the copy is taken while the store is open.
    const killed = `${dir}-killed`;
    cpSync(dir, killed, { recursive: true });
    await store.close();
    rmSync(dir, { recursive: true });
    renameSync(killed, dir);

    const said: string[] = [];
    const from = Date.now();
    await move({ shards: 7, say: (text) => said.push(text) });
    assert.deepEqual(said, ['the crawl was killed: links that were under way wait again']);
    assert.equal((await censusOf(path)).leased, 0);
    const { sites, queues } = await wholeOf(path);
    for (const { site, link, tries } of visits) {
      assert.deepEqual(queues[site]?.[0], { link: { ...link, first: false }, tries });
      assert.ok(sites.find((one) => one.site === site)!.pace.dueAt >= from + 60_000);
    }
    await assertSound(dir);
  }));

test('where the clock of the store is ahead of this machine, sites wait as long as they would have waited there', () =>
  scenes.open(async ({ path, move }) => {
    const HOUR_MS = 3_600_000;
    const clock = createManualClock(Date.now() + HOUR_MS);
    const store = openSqlite({ path, clock: () => clock, archive: () => openMemoryArchive() });
    await store.steer([{ kind: 'mark', name: 'seeds', value: 10 }]); // the store has recorded that moment
    await store.close();
    const dues = async (): Promise<Map<string, number>> =>
      new Map((await wholeOf(path)).sites.map(({ site, pace }) => [site, pace.dueAt]));
    const was = await dues();
    const begunAt = Date.now();
    await move({ shards: 7 });
    const endedAt = Date.now();
    for (const [site, dueAt] of await dues()) {
      const movedAt = dueAt - (was.get(site)! - clock.now());
      assert.ok(begunAt - 1 <= movedAt && movedAt <= endedAt + 1, `${site}: ${begunAt} ${movedAt} ${endedAt}`);
    }
    const [rules] = (await wholeOf(path)).robots;
    assert.ok(rules!.fetchedAt < 0, 'rules are as old as they were');
  }));

test('what an earlier move left half-written is thrown away', () =>
  scenes.open(async ({ dir, path, move }) => {
    const was = await wholeOf(path);
    cpSync(path, `${path}.new`);
    truncateSync(`${path}.new`, 8_192);
    writeFileSync(`${path}.new-wal`, 'rest');
    await move({ shards: 7 });
    assert.deepEqual(await wholeOf(path), was);
    assert.ok(!existsSync(`${path}.new-wal`));
    await assertSound(dir);
  }));

/** The states that a kill after crawl.json was replaced can leave: the files have their names, or some have not. */
const KILLED_AT: Readonly<Record<string, (path: string) => void>> = {
  'before any file was renamed': (path) => {
    renameSync(path, `${path}.new`);
    renameSync(`${path}-moved`, path);
  },
  'between the two renamings': (path) => renameSync(path, `${path}.new`),
  'after both': () => {},
};

for (const [when, undo] of Object.entries(KILLED_AT)) {
  for (const [who, finish] of Object.entries({
    'the same migrate': async ({ move }: MoveScene): Promise<void> =>
      assert.equal((await move({ shards: 7 })).kind, 'finished'),
    'a resume': async ({ dir }: MoveScene): Promise<void> => void finishMove(dir, readIdentity(dir)),
  })) {
    test(`killed ${when}, ${who} finishes the move`, () =>
      scenes.open(async (scene) => {
        const { dir, path } = scene;
        const was = await wholeOf(path);
        await scene.move({ shards: 7 });
        const moved = readIdentity(dir);
        undo(path);
        keepIdentity(dir, { ...moved, movedFrom: { store: 'sqlite', name: '', shards: 64 } });
        if (existsSync(`${path}.new`))
          await assert.rejects(assertSound(dir), /a move of crawl .* was killed at its end: "gossamer resume/);
        await finish(scene);
        assert.equal(shardCount(path), 7);
        assert.equal(shardCount(`${path}-moved`), 64);
        assert.deepEqual(await wholeOf(path), was);
        assert.deepEqual(readIdentity(dir), moved);
        await assertSound(dir);
      }));
  }
}

test('a move that is stopped leaves the crawl where it is, and can be run again', () =>
  scenes.open(async ({ dir, path, move }) => {
    const was = await wholeOf(path);
    const stop = new AbortController();
    let told = 0;
    const stopped = await move({ shards: 7, stop: stop.signal, onProgress: () => void (++told && stop.abort()) });
    assert.deepEqual([stopped, told], [{ kind: 'stopped' }, 1]);
    assert.equal(shardCount(path), 64);
    await assertSound(dir);
    assert.equal((await move({ shards: 7 })).kind, 'moved');
    assert.deepEqual(await wholeOf(path), was);
  }));

test('a crawl that somebody works on while it is copied is not moved', () =>
  scenes.open(async ({ dir, path, move }) => {
    const work = (): void => {
      const store = openSqlite({
        path,
        clock: () => createManualClock(Date.now()),
        archive: () => openMemoryArchive(),
      });
      store.together([{ verb: 'steer', changes: [{ kind: 'mark', name: 'seeds', value: 10 }] }]);
      void store.close();
    };
    await assert.rejects(move({ shards: 7, onProgress: work }), /somebody worked on the crawl while it was copied/);
    assert.equal(readIdentity(dir).fixed.shards, 64);
    await assertSound(dir);
  }));

test('progress says how much of how much was moved', () =>
  scenes.open(async ({ path, move }) => {
    const { waiting, parked, held } = await censusOf(path);
    const told: object[] = [];
    await move({ shards: 7, onProgress: (progress) => told.push(progress) });
    const pagesTotal = await openPages(path);
    assert.deepEqual(told[0], {
      phase: 'copying',
      links: 0,
      linksTotal: waiting + parked + held,
      pages: 0,
      pagesTotal,
    });
    assert.deepEqual(told.at(-2), {
      phase: 'copying',
      links: waiting + parked + held,
      linksTotal: waiting + parked + held,
      pages: pagesTotal,
      pagesTotal,
    });
    assert.equal((told.at(-1) as { phase: string }).phase, 'finishing');
  }));

const openPages = async (path: string): Promise<number> =>
  Object.values((await censusOf(path)).settled).reduce((sum, n) => sum + n, 0);

test('a move that cannot be is refused with a sentence, and changes nothing', () =>
  scenes.open(async ({ dir, path, move }) => {
    const was = await wholeOf(path);
    const refusals: readonly (readonly [object, RegExp])[] = [
      [{ to: 'sqlite' }, /is in sqlite with 64 shards already: there is nothing to do/],
      [{ to: 'sqlite', shards: 64 }, /there is nothing to do/],
      [{}, /where to is missing: give --to/],
      [{ to: 'mysql://localhost' }, /--to "mysql:\/\/localhost" is not understood: write sqlite, redis:/],
      [{ to: 'sqlite', shards: 0 }, /--shards 0 cannot be: give a whole number from 1 to 1024/],
      [{ to: 'sqlite', shards: 1_025 }, /--shards 1025 cannot be/],
      [
        { to: 'sqlite', shards: 7, from: 'redis://:secret@localhost' },
        /is in sqlite, not in redis:\/\/localhost: omit --from/,
      ],
      [{ to: 'sqlite', shards: 7, name: 'other' }, /--name is for a crawl in Redis or PostgreSQL/],
    ];
    for (const [wanted, sentence] of refusals)
      await assert.rejects(move(wanted), { name: 'UsageError', message: sentence });
    const lock = lockCrawl(dir);
    await assert.rejects(move({ shards: 7 }), /is open in process/);
    lock.release();
    assert.deepEqual(await wholeOf(path), was);
    assert.ok(!existsSync(`${path}.new`));
  }));

test('a disk without room for the copy is told of before anything is written', () =>
  scenes.open(async ({ dir, path, move }) => {
    // a hole takes no room
    truncateSync(path, statSync(path).size + Math.ceil(diskFreeBytes(dir) / 4_096) * 4_096 + 2 ** 30);
    await assert.rejects(move({ shards: 7 }), /has .* free, and the move needs about .*: free some space/);
    assert.ok(!existsSync(`${path}.new`));
  }));

test('a crawl that has not begun is refused', async () =>
  scenes.open(async ({ dir, path, move }) => {
    rmSync(path);
    mkdirSync(join(dir, 'warc'), { recursive: true });
    await assert.rejects(move({ shards: 7 }), /has no store yet: it was stopped before it began/);
  }));

const damages: Readonly<Record<string, readonly [sql: string, sentence: RegExp]>> = {
  'counters that are wrong': [
    "UPDATE meta SET value = replace(value, '\"sites\":', '\"sites\":1') WHERE name = 'tally'",
    /the crawl counts [\d,]+ sites, but 13 came out of its store/,
  ],
  'a queue that is broken': [
    'DELETE FROM block WHERE id = (SELECT max(id) FROM block)',
    /the queue of the site "\S+" is broken: block \d+ is missing/,
  ],
  'a block that cannot be read': [
    "UPDATE block SET links = 'what' WHERE id = (SELECT max(id) FROM block)",
    /the queue of the site "\S+" is broken: block \d+ cannot be read/,
  ],
};

for (const [what, [sql, sentence]] of Object.entries(damages)) {
  test(`a crawl with ${what} is not moved`, () =>
    scenes.open(async ({ dir, path, move }) => {
      const db = new DatabaseSync(path);
      db.exec(sql);
      db.close();
      await assert.rejects(
        move({ shards: 7 }),
        (error: unknown) =>
          error instanceof StoreFault && sentence.test(error.message) && /gossamer verify/.test(error.advice),
      );
      assert.equal(shardCount(path), 64);
      assert.equal(readIdentity(dir).fixed.shards, 64);
    }));
}

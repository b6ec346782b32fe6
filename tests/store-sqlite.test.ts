/** The embedded store keeps the contract of a store, and its own promises about cost, files and layouts. */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Archive } from '../src/archive/archive.ts';
import { StoreFault } from '../src/contract/fault.ts';
import type { Found } from '../src/contract/walk.ts';
import type { ArchiveEnd } from '../src/model/census.ts';
import { DUE_SQL } from '../src/store/sqlite/claim.ts';
import { openSqliteCrawl } from '../src/store/sqlite/crawl.ts';
import { openDatabase } from '../src/store/sqlite/schema.ts';
import { sqlFile } from '../src/store/sqlite/statements.ts';
import { openSqlite, openSqliteStore } from '../src/store/sqlite/store.ts';
import { SITE_STATE } from '../src/store/site-state.ts';
import { storeContract } from './contract/store-contract.ts';
import { longRobots, longRules } from './contract/store-rules.ts';
import { ask, linksOf, settlementOf } from './contract/store-scene.ts';
import { storedCrawlContract } from './contract/stored-crawl.ts';
import { createManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { lookAt, pagesIn, sqlitePlace } from './support/sqlite-place.ts';
import { SQLITE_TAMPER, type SqlitePlace } from './support/sqlite-tamper.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'gossamer-sqlite-'));

const inFolder = async (story: (dir: string, path: string) => Promise<void> | void): Promise<void> => {
  const dir = folder();
  try {
    await story(dir, join(dir, 'crawl.db'));
  } finally {
    rmSync(dir, { recursive: true });
  }
};

storeContract('sqlite', async ({ clock, archive, from }) => {
  const dir = (from as string | null) ?? folder();
  const store = await openSqliteStore({
    ...sqlitePlace(dir),
    clock: () => clock,
    dead: () => assert.fail('nothing is dead here'),
    archive: (settled) => {
      archive.cut(settled);
      return archive;
    },
  });
  return {
    store,
    pages: () => pagesIn(dir),
    // The process that dies closes nothing; its locks and its memory are gone. What is on disk stays.
    kill: () => dir,
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
});

test('sqlite: many origins with the same long rules have one text in the database', () =>
  inFolder(async (_dir, path) => {
    const clock = createManualClock();
    const store = openSqlite({ path, clock: () => clock, archive: () => openMemoryArchive() });
    await store.admit(Array.from({ length: 50 }, (_, i) => linksOf(`s${i}.example`, 1)).flat());
    const { visits } = await store.claim(ask());
    const rules = longRules('same');
    await store.settle(
      visits.map((visit) => settlementOf(visit, { robots: longRobots(`https://${visit.site}`, { rules }) })),
    );
    await store.close();
    const db = new DatabaseSync(path);
    const sized = db.prepare('SELECT count(*) AS texts, sum(length(text)) AS chars FROM rules').get();
    assert.deepEqual({ ...sized }, { texts: 1, chars: rules.length });
    assert.equal(db.prepare('SELECT sum(length(rules)) AS chars FROM robots').get()!.chars, 0);
    db.close();
  }));

storedCrawlContract<SqlitePlace>(
  'sqlite',
  ({ clock, archive }) => {
    const dir = folder();
    const cut = (settled: ArchiveEnd): Archive => {
      archive.cut(settled);
      return archive;
    };
    return {
      dir,
      work: () => openSqliteStore({ ...sqlitePlace(dir), clock: () => clock, dead: () => {}, archive: cut }),
      look: () => openSqliteCrawl(sqlitePlace(dir)),
      remove: () => rmSync(dir, { recursive: true, force: true }),
    };
  },
  SQLITE_TAMPER,
);

const STATEMENTS = readdirSync(new URL('../src/store/sqlite/sql/', import.meta.url)).map((file) =>
  file.replace(/\.sql$/, ''),
);

test('sqlite: every statement in a file says what it does, takes and gives, and can be prepared', () =>
  inFolder((_, path) => {
    const { db } = openDatabase(path);
    assert.ok(STATEMENTS.length > 5);
    for (const name of STATEMENTS) {
      assert.match(
        sqlFile(name),
        /^-- [A-Z][^]*?\.\n(?:--.*\n)*?-- Parameters: [^]*?\.\n(?:--.*\n)*?-- Result: .*\.\n/,
        name,
      );
      if (name !== 'schema') db.prepare(sqlFile(name));
    }
    for (const [state, number] of Object.entries(SITE_STATE))
      assert.match(sqlFile('schema'), new RegExp(`\\b${number} ${state}\\b`));
    db.close();
  }));

const PLANS: readonly [name: string, plan: RegExp][] = [
  ['due', /SEARCH site USING INDEX site_due \(shard=\? AND due_at<\?\)/],
  ['leased', /site USING INDEX site_leased/],
  ['retry-parked', /site USING INDEX site_aside \(state=\?\)/],
  ['in-force', /SEARCH site USING INDEX sqlite_autoindex_site_1 \(name=\?\)/],
];

for (const [name, expected] of PLANS) {
  test(`sqlite: "${name}" reads what it needs from an index, without sorting`, () =>
    inFolder((_, path) => {
      const { db } = openDatabase(path);
      const rows = db.prepare(`EXPLAIN QUERY PLAN ${name === 'due' ? DUE_SQL : sqlFile(name)}`).all();
      db.close();
      const plan = rows.map(({ detail }) => String(detail)).join('\n');
      assert.match(plan, expected);
      assert.doesNotMatch(plan, /TEMP B-TREE/);
    }));
}

const openAt = (dir: string, shards: number) =>
  openSqliteStore({
    ...sqlitePlace(dir, { shards }),
    clock: () => createManualClock(),
    archive: () => openMemoryArchive(),
    dead: () => {},
  });

test('sqlite: a database with another number of shards than its crawl is refused with a sentence', () =>
  inFolder(async (dir, path) => {
    openDatabase(path, 7).db.close();
    await assert.rejects(openAt(dir, 64), /has 7 shards, but crawl\.json says 64/);
    await (await openAt(dir, 7)).close();
  }));

test('sqlite: a database of an unknown layout is refused with a sentence, also for reading', () =>
  inFolder(async (dir, path) => {
    const db = new DatabaseSync(path);
    db.exec('PRAGMA user_version = 99');
    db.close();
    const refusal = /has layout 99, this program knows 5/;
    await assert.rejects(openAt(dir, 64), refusal);
    await lookAt(dir, async (crawl) => {
      await assert.rejects(crawl.census(), refusal);
      await assert.rejects(foundBy(crawl.walk(['self'])), refusal);
      await assert.rejects(crawl.keepNote('a', 'b'), refusal);
    });
  }));

const foundBy = async (found: AsyncIterable<Found>): Promise<Found[]> => {
  const all: Found[] = [];
  for await (const one of found) all.push(one);
  return all;
};

test('sqlite: without a clock the store has its own, which other threads can share', () =>
  inFolder(async (dir) => {
    const before = Date.now();
    const options = { ...sqlitePlace(dir), clock: null, archive: () => openMemoryArchive(), dead: () => {} };
    const store = await openSqliteStore(options);
    assert.ok(store.anchor!.wallMs >= before);
    assert.ok(Math.abs((await store.time()) - Date.now()) < 1_000);
    await store.close();
    const late = openSqlite({
      path: join(dir, 'crawl.db'),
      clock: () => createManualClock(before + 1e9),
      archive: () => openMemoryArchive(),
    });
    await late.admit(linksOf('a.example', 1));
    await late.close();
    const again = await openSqliteStore(options);
    assert.ok((await again.time()) >= before + 1e9, 'time never goes back');
    await again.close();
    assert.ok((await lookAt(dir, (crawl) => crawl.census())).now >= before + 1e9);
  }));

test('sqlite: looking at a crawl that is not there makes nothing, and a note makes it', () =>
  inFolder(async (dir) => {
    const crawl = await openSqliteCrawl(sqlitePlace(dir, { shards: 7 }));
    assert.equal(await crawl.note('identity'), null);
    await assert.rejects(
      crawl.census(),
      (error) => error instanceof StoreFault && /there is no crawl in/.test(error.message),
    );
    await assert.rejects(foundBy(crawl.walk(['self'])), StoreFault);
    assert.deepEqual(readdirSync(dir), []);
    assert.equal(await crawl.keepNote('identity', 'one'), 'one');
    assert.equal(await crawl.keepNote('identity', 'two'), 'one');
    assert.equal(await crawl.note('identity'), 'one');
    await crawl.close();
    await (await openAt(dir, 7)).close();
  }));

test('sqlite: a filling that was given up is no crawl, and another one begins anew', () =>
  inFolder(async (dir, path) => {
    const crawl = await openSqliteCrawl(sqlitePlace(dir));
    const site = {
      kind: 'site',
      site: 'a.example',
      state: 'idle',
      shard: 0,
      waiting: 0,
      pages: 0,
      pace: { dueAt: 0, delayMs: 0, crawlDelayMs: 0, responseMs: 0, failures: 0 },
      leased: null,
    } as const;
    const half = await crawl.fill();
    await half.take([site]);
    assert.equal((await crawl.census()).sites.known, 1, 'what has come so far');
    await half.close();
    assert.ok(existsSync(path));
    assert.equal(await crawl.note('a'), null);
    await assert.rejects(crawl.census(), /there is no crawl in/);
    const whole = await crawl.fill();
    await whole.take([
      site,
      { kind: 'queue', site: 'a.example', links: linksOf('a.example', 2).map((link) => ({ link, tries: 1 })) },
    ]);
    await whole.end();
    assert.equal((await crawl.census()).waiting, 2);
    await assert.rejects(
      crawl.fill(),
      (error) => error instanceof StoreFault && /has a crawl already/.test(error.message),
    );
    await crawl.close();
    const store = await openAt(dir, 64);
    assert.equal((await store.claim(ask())).visits[0]?.tries, 2);
    await store.close();
  }));

test('sqlite: what a move is filling lies beside the crawl, and is written anew by the next', () =>
  inFolder(async (dir, path) => {
    writeFileSync(`${path}.new`, 'half of something');
    const crawl = await openSqliteCrawl(sqlitePlace(dir, { isFresh: true }));
    for (let i = 0; i < 2; i++) await (await crawl.fill()).end();
    assert.equal((await crawl.census()).waiting, 0);
    await crawl.close();
    assert.ok(readFileSync(`${path}.new`).length > 0);
    assert.ok(!existsSync(path));
  }));

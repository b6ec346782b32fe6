/** Members of two versions of the program on one crawl in PostgreSQL. */

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { StoredCrawl } from '../src/contract/stored-crawl.ts';
import type { LookOptions, OpenedStore, StoreOptions } from '../src/store/options.ts';
import { ask, claimOne, DELAY_MS, link, linksOf, settlementOf } from './contract/store-scene.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { lookOptions, withScene, workOptions } from './support/postgres-scene.ts';
import { startPostgres } from './support/postgres-server.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const server = await startPostgres();
const copy = mkdtempSync(join(tmpdir(), 'gossamer-version-'));
after(async () => {
  rmSync(copy, { recursive: true, force: true });
  await server.remove();
});

/** The program as another version has it: claims of that one give no more than two visits. */
cpSync(join(ROOT, 'src'), join(copy, 'src'), { recursive: true });
writeFileSync(join(copy, 'package.json'), readFileSync(join(ROOT, 'package.json')));
symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
const CLAIM = join(copy, 'src/store/postgres/sql/claim.sql');
writeFileSync(CLAIM, readFileSync(CLAIM, 'utf8').replace('room int := _visits;', 'room int := least(_visits, 2);'));
const otherFile = <T>(name: string): Promise<T> =>
  import(pathToFileURL(join(copy, 'src/store/postgres', name)).href) as Promise<T>;
const other = {
  ...(await otherFile<{ openPostgresStore: (options: StoreOptions) => Promise<OpenedStore> }>('store.ts')),
  ...(await otherFile<{ openPostgresCrawl: (options: LookOptions) => Promise<StoredCrawl> }>('crawl.ts')),
};

const FUNCTIONS = `SELECT oid::int, proname AS name, xmin::text FROM pg_proc
  WHERE pronamespace = 'gossamer_here'::regnamespace ORDER BY oid`;

test('postgres: members of two versions work on one crawl, each with its own functions, and none is replaced', async () => {
  await withScene(server, async ({ url, clock, member, query }) => {
    const mine = await member('a');
    await mine.store.admit(Array.from({ length: 12 }, (_, i) => link(`s${i}.example/`)));
    const before = await query(FUNCTIONS);
    const theirs = await other.openPostgresStore(
      workOptions(url, { archive: openMemoryArchive(), clock }, { member: 'b' }),
    );
    try {
      const both = await query(FUNCTIONS);
      assert.deepEqual(both.slice(0, before.length), before, 'those of the first are as they were');
      assert.equal(both.length, 2 * before.length);
      const [few, many] = [await theirs.claim(ask({ visits: 5 })), await mine.store.claim(ask({ visits: 5 }))];
      assert.deepEqual([few.visits.length, many.visits.length], [2, 5]);
      assert.equal((await theirs.settle(few.visits.map((visit) => settlementOf(visit)))).settled, 2);
      assert.equal((await mine.store.settle(many.visits.map((visit) => settlementOf(visit)))).settled, 5);
      await theirs.admit(linksOf('new.example', 2));
      await mine.store.beat();
      assert.equal((await claimOne(mine.store, { visits: 1 })).tries, 1);
      // A second member of either version finds what it needs.
      await (await member('c')).store.beat();
      assert.deepEqual(await query(FUNCTIONS), both);
    } finally {
      await theirs.close();
    }
    clock.advance(DELAY_MS);
    assert.equal((await mine.store.census()).pages, 7);
  });
});

test('postgres: whoever looks at a crawl with another version finds its own functions, too', async () => {
  await withScene(server, async ({ url, member }) => {
    const { store } = await member('a');
    await store.admit(linksOf('x.example', 3));
    const look = await other.openPostgresCrawl(lookOptions(url));
    try {
      assert.equal((await look.census()).waiting, 3);
    } finally {
      await look.close();
    }
    assert.equal((await store.claim(ask())).visits.length, 1);
  });
});

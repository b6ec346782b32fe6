/** The embedded store keeps the contract of a store, and its own promises about cost. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openSqliteReader } from '../src/store/sqlite/reader.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { DUE_SQL } from '../src/store/sqlite/claim.ts';
import { openDatabase } from '../src/store/sqlite/schema.ts';
import { storeContract } from './contract/store-contract.ts';
import { createManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'gossamer-sqlite-'));

storeContract('sqlite', async ({ clock, archive, from }) => {
  const dir = (from as string | null) ?? folder();
  const path = join(dir, 'crawl.db');
  const store = openSqliteStore({
    path,
    clock: () => clock,
    archive: (settled) => {
      archive.cut(settled);
      return archive;
    },
  });
  return {
    store,
    pages: () => {
      const reader = openSqliteReader(path);
      try {
        return [...reader.pages({})];
      } finally {
        reader.close();
      }
    },
    // The process that dies closes nothing; its locks and its memory are gone. What is on disk stays.
    kill: () => dir,
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
});

test('sqlite: the claim reads its sites from the due index, in order, without sorting', () => {
  const dir = folder();
  const db = openDatabase(join(dir, 'crawl.db'));
  const plan = db
    .prepare(`EXPLAIN QUERY PLAN ${DUE_SQL}`)
    .all(0, 0, 1)
    .map((row) => String(row.detail))
    .join('\n');
  db.close();
  rmSync(dir, { recursive: true });
  assert.match(plan, /SEARCH site USING INDEX site_due \(shard=\? AND due_at<\?\)/);
  assert.doesNotMatch(plan, /TEMP B-TREE|SCAN/);
});

test('sqlite: a database with another number of shards than its crawl is refused with a sentence', async () => {
  const dir = folder();
  const path = join(dir, 'crawl.db');
  openDatabase(path, 7).close();
  const open = (shards: number) =>
    openSqliteStore({ path, shards, clock: () => createManualClock(), archive: () => openMemoryArchive() });
  assert.throws(() => open(64), /has 7 shards, but crawl\.json says 64/);
  await open(7).close();
  rmSync(dir, { recursive: true });
});

test('sqlite: a database of an unknown layout is refused with a sentence', () => {
  const dir = folder();
  const path = join(dir, 'crawl.db');
  const db = new DatabaseSync(path);
  db.exec('PRAGMA user_version = 99');
  db.close();
  assert.throws(
    () =>
      openSqliteStore({
        path,
        clock: () => assert.fail('no clock is needed'),
        archive: () => assert.fail('no archive is needed'),
      }),
    /has layout 99, this program knows 3/,
  );
  rmSync(dir, { recursive: true });
});

/** The snapshot of known URLs saves reading the log, and is never believed more than the log. */

import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { StoreFault } from '../src/contract/fault.ts';
import { snapshotPath } from '../src/store/files.ts';
import { openSqlite, type SqliteStore } from '../src/store/sqlite/store.ts';
import { linksOf } from './contract/store-scene.ts';
import { createManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';

interface Place {
  readonly path: string;
  open(from?: number): SqliteStore;
  sql(text: string): void;
}

const inFolder = async (story: (place: Place) => Promise<void>): Promise<void> => {
  const dir = mkdtempSync(join(tmpdir(), 'gossamer-snapshot-'));
  const path = join(dir, 'crawl.db');
  try {
    await story({
      path,
      open: (snapshotFrom = 1) =>
        openSqlite({ path, snapshotFrom, clock: () => createManualClock(), archive: () => openMemoryArchive() }),
      sql: (text) => {
        const db = new DatabaseSync(path);
        db.exec(text);
        db.close();
      },
    });
  } finally {
    rmSync(dir, { recursive: true });
  }
};

/** Opens, admits, closes; answers how many were new. */
const admitted = async (place: Place, count: number, from?: number): Promise<number> => {
  const store = place.open(from);
  try {
    return (await store.admit(linksOf('a.example', count))).admitted;
  } finally {
    await store.close();
  }
};

test('a start reads the snapshot, and of the log only what is newer', () =>
  inFolder(async (place) => {
    assert.equal(await admitted(place, 4_990), 4_990);
    assert.equal(await admitted(place, 5_000), 10);
    assert.ok(existsSync(snapshotPath(place.path)));
    // what was in those rows is now in the snapshot alone
    place.sql('DELETE FROM seen WHERE id < (SELECT max(id) FROM seen)');
    assert.equal(await admitted(place, 5_000), 0);
    assert.equal(await admitted(place, 5_100, Infinity), 100);
    assert.equal(await admitted(place, 5_100, Infinity), 0); // the last hundred are in the log alone
  }));

test('a small crawl writes no snapshot', () =>
  inFolder(async (place) => {
    await admitted(place, 100, 1_000);
    assert.ok(!existsSync(snapshotPath(place.path)));
  }));

const USELESS: readonly [what: string, spoil: (path: string) => void][] = [
  [
    'has a flipped bit',
    (path) => {
      const bytes = readFileSync(path);
      bytes[bytes.length >> 1]! ^= 1;
      writeFileSync(path, bytes);
    },
  ],
  ['is cut', (path) => writeFileSync(path, readFileSync(path).subarray(0, 1_000))],
  ['is gone', (path) => rmSync(path)],
];
for (const [what, spoil] of USELESS) {
  test(`a snapshot that ${what} is not used: the log says all, and a new one is written`, () =>
    inFolder(async (place) => {
      await admitted(place, 5_000);
      const sound = readFileSync(snapshotPath(place.path));
      spoil(snapshotPath(place.path));
      assert.equal(await admitted(place, 5_010), 10);
      assert.notDeepEqual(readFileSync(snapshotPath(place.path)), sound);
      place.sql('DELETE FROM seen');
      assert.equal(await admitted(place, 5_010), 0);
    }));
}

test('a database from a copy does not believe a snapshot that is newer: no link is taken as seen that it does not have', () =>
  inFolder(async (place) => {
    await admitted(place, 1_000);
    copyFileSync(place.path, `${place.path}.copy`);
    await admitted(place, 3_000);
    copyFileSync(`${place.path}.copy`, place.path);
    assert.equal(await admitted(place, 3_000), 2_000);
  }));

test('the archive is synced before a checkpoint, and one that cannot be synced stops the store with nothing done', () =>
  inFolder(async (place) => {
    const archive = openMemoryArchive();
    let syncs = 0;
    let broken = false;
    archive.sync = () => {
      if (broken) throw new Error('the disk is gone');
      syncs++;
    };
    const store = openSqlite({ path: place.path, clock: () => createManualClock(), archive: () => archive });
    await store.admit(linksOf('a.example', 6_000));
    assert.equal(syncs, 0);
    await store.admit(linksOf('b.example', 6_000));
    assert.equal(syncs, 1);
    broken = true;
    await assert.rejects(store.admit(linksOf('c.example', 1)), StoreFault);
    broken = false;
    assert.equal((await store.admit(linksOf('c.example', 1))).admitted, 1);
    await store.close();
  }));

/** A sound crawl that is copied, damaged, checked, repaired and gone on with. */

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readRecords } from '../../src/archive/reader.ts';
import { verifyCrawl, type VerifyReport } from '../../src/care/verify.ts';
import { readDead } from '../../src/archive/dead-list.ts';
import type { WarcPlace } from '../../src/model/page.ts';
import type { Keep } from '../../src/model/settings.ts';
import { makeCrawl, openMade, settleAll } from './made-crawl.ts';

export const FILE_BYTES_MAX = 30_000;
const PAGES = 120;
const WAITING = 40;

/** As the table has it. */
export interface StoredPage extends WarcPlace {
  readonly id: number;
  readonly site: number;
  readonly url: string;
  readonly outcome: string;
}

export interface Scene {
  readonly dir: string;
  /** The archive files, in order. */
  files(): string[];
  path(file: string): string;
  sql(text: string, ...values: (string | number)[]): unknown[];
  /** A page with a record in this file, not the first. */
  pageIn(file: string): StoredPage;
  /** Changes the counters. */
  tally(change: (tally: Record<string, unknown>) => void): void;
  flip(file: string, offset: number): void;
  verify(repair?: boolean): Promise<VerifyReport>;
}

export const makeScene = async (
  keep: Keep = 'all',
): Promise<{ open: <T>(story: (scene: Scene) => Promise<T>) => Promise<T>; remove: () => void }> => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-verify-'));
  await makeCrawl({
    dir: join(home, 'sound'),
    sites: 7,
    pages: PAGES,
    waiting: WAITING,
    keep,
    fileBytesMax: FILE_BYTES_MAX,
  });
  let copies = 0;
  return {
    open: async (story) => {
      const dir = join(home, `copy-${++copies}`);
      cpSync(join(home, 'sound'), dir, { recursive: true });
      return story(sceneOf(dir));
    },
    remove: () => rmSync(home, { recursive: true }),
  };
};

const sceneOf = (dir: string): Scene => {
  const path = (file: string): string => join(dir, 'warc', file);
  const sql: Scene['sql'] = (text, ...values) => {
    const db = new DatabaseSync(join(dir, 'crawl.db'));
    try {
      return db.prepare(text).all(...values);
    } finally {
      db.close();
    }
  };
  return {
    dir,
    path,
    sql,
    files: () => readdirSync(join(dir, 'warc')).toSorted(),
    pageIn: (file) =>
      sql(
        "SELECT * FROM page WHERE warc_file = ? AND digest <> '' ORDER BY warc_offset LIMIT 1 OFFSET 2",
        file,
      )[0] as StoredPage,
    tally: (change) => {
      const [row] = sql("SELECT value FROM meta WHERE name = 'tally'") as [{ value: string }];
      const tally = JSON.parse(row.value) as Record<string, unknown>;
      change(tally);
      sql("UPDATE meta SET value = ? WHERE name = 'tally'", JSON.stringify(tally));
    },
    flip: (file, offset) => {
      const bytes = readFileSync(path(file));
      bytes[offset]! ^= 0x55;
      writeFileSync(path(file), bytes);
    },
    verify: (repair = false) => verifyCrawl({ dirs: [dir], repair, onProgress: () => {} }),
  };
};

/** Everything that a check could change, so that one can see that it did not. */
export const snapshotOf = (dir: string): string =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/crawl\.lock|-shm$|-wal$/.test(name))
    .toSorted()
    .map((name) =>
      statSync(join(dir, name)).isFile() ? `${name} ${readFileSync(join(dir, name)).toString('base64')}` : name,
    )
    .join('\n');

/** What is named, without its file name in front. */
export const namedIn = ({ found }: VerifyReport): string[] => found.named.map(({ says }) => says);

/** Repairs, goes on to the end, and sees that every page has one record and the check is content. */
export const assertRepairs = async (scene: Scene, keep: Keep = 'all'): Promise<VerifyReport> => {
  const report = await scene.verify(true);
  assert.deepEqual([report.after?.named, report.after?.left], [[], []]);
  await assertGoesOn(scene, keep);
  return report;
};

/** Goes on to the end with a crawl that the check has nothing to say against. */
export const assertGoesOn = async (scene: Scene, keep: Keep = 'all'): Promise<void> => {
  assert.deepEqual((await scene.verify()).found.named, []);
  const store = openMade({ dir: scene.dir, fileBytesMax: FILE_BYTES_MAX });
  try {
    await settleAll(store, keep);
  } finally {
    await store.close();
  }
  const last = await scene.verify();
  assert.deepEqual([last.found.named, last.found.left], [[], []]);
  const counts = liveRecords(scene.dir, keep);
  const pages = scene.sql("SELECT url FROM page WHERE outcome = 'fetched'") as { url: string }[];
  assert.deepEqual(
    [...counts].filter(([, count]) => count !== 1),
    [],
    'archived more than once',
  );
  assert.deepEqual(
    pages.filter(({ url }) => !counts.has(url)),
    [],
    'not archived',
  );
  assert.equal(counts.size, pages.length);
};

/** Records of pages by URL, those that are listed as dead left out. */
const liveRecords = (dir: string, keep: Keep): Map<string, number> => {
  const counts = new Map<string, number>();
  const dead = readDead(dir);
  for (const file of readdirSync(join(dir, 'warc')).toSorted()) {
    const path = join(dir, 'warc', file);
    let from = 0;
    const holes = dead.filter((span) => span.file === file && span.bytes > 0);
    for (const hole of [...holes, { offset: statSync(path).size, bytes: 0 }]) {
      for (const { offset, headers } of readRecords(path, from, hole.offset)) {
        if (offset === 0) assert.equal(headers['warc-type'], 'warcinfo');
        if (
          headers['gossamer-kind'] === 'robots' ||
          headers['warc-type'] !== (keep === 'all' ? 'response' : 'conversion')
        )
          continue;
        const url = headers['warc-target-uri'] ?? '';
        counts.set(url, (counts.get(url) ?? 0) + 1);
      }
      from = hole.offset + hole.bytes;
    }
  }
  return counts;
};

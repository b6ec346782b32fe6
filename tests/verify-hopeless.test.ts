/** What a check cannot put right, or may not look at: it says what to do, and changes nothing. */

import assert from 'node:assert/strict';
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { lockCrawl } from '../src/folder/lock.ts';
import { UsageError } from '../src/model/read-settings.ts';
import { makeScene, snapshotOf, type Scene } from './support/verify-scene.ts';

const { open, remove } = await makeScene();
after(remove);

const HOPELESS: readonly [what: string, plant: (scene: Scene) => void, says: RegExp, advice: RegExp][] = [
  [
    'a damaged database page',
    (scene) => {
      const [{ rootpage }] = scene.sql("SELECT rootpage FROM sqlite_schema WHERE name = 'page_of_site'") as [
        { rootpage: number },
      ];
      overwrite(scene, (rootpage - 1) * 4096);
    },
    /^crawl\.db: index page_of_site: page \d+/,
    /restore the store from a copy; without one, start a new crawl/,
  ],
  ['a damaged first database page', (scene) => overwrite(scene, 0), /^crawl\.db cannot be read: /, /restore the store/],
  [
    'a database that is cut',
    (scene) => truncateSync(join(scene.dir, 'crawl.db'), 8192),
    /^crawl\.db/,
    /restore the store/,
  ],
  [
    'a missing database',
    (scene) => rmSync(join(scene.dir, 'crawl.db')),
    /^crawl\.db is missing, though there is an archive$/,
    /restore the store/,
  ],
  [
    'missing counters',
    (scene) => scene.sql("DELETE FROM meta WHERE name = 'tally'"),
    /its counters are missing or cannot be read$/,
    /restore the store/,
  ],
  [
    'a log that is cut',
    (scene) => scene.sql("UPDATE seen SET fingerprints = x'00' WHERE id = 1"),
    /the log of known URLs cannot be read$/,
    /restore the store/,
  ],
  [
    'a page of no site',
    (scene) => scene.sql('UPDATE page SET site = 77 WHERE id = 1'),
    /belongs to site 77, which is not there$/,
    /restore the store/,
  ],
  [
    'an unreadable crawl.json',
    (scene) => writeFileSync(join(scene.dir, 'crawl.json'), '{"format": 1,'),
    /^crawl\.json cannot be read: /,
    /restore crawl\.json from a copy/,
  ],
  [
    'missing seeds',
    (scene) => rmSync(join(scene.dir, 'seeds.txt')),
    /^seeds\.txt is missing$/,
    /restore seeds\.txt from a copy/,
  ],
];

const overwrite = (scene: Scene, at: number): void => {
  const path = join(scene.dir, 'crawl.db');
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xee, at, at + 512));
};

for (const [what, plant, says, advice] of HOPELESS) {
  test(`${what} is named with what to do, and a repair changes nothing`, () =>
    open(async (scene) => {
      plant(scene);
      const before = snapshotOf(scene.dir);
      for (const repair of [false, true]) {
        const { found, repaired } = await scene.verify(repair);
        assert.match(found.named[0]!.says, says);
        assert.match(found.advice.join('\n'), advice);
        assert.equal(repaired, null);
      }
      assert.equal(snapshotOf(scene.dir), before);
    }));
}

test('a crawl that is open elsewhere is not looked at', () =>
  open(async (scene) => {
    const lock = lockCrawl(scene.dir);
    await assert.rejects(
      scene.verify(),
      (error) => error instanceof UsageError && /is open in process \d+; stop it/.test(error.message),
    );
    lock.release();
    assert.equal((await scene.verify()).found.count, 0);
  }));

test('a directory without a crawl is refused and left as it is', () =>
  open(async (scene) => {
    rmSync(join(scene.dir, 'crawl.json'));
    const before = snapshotOf(scene.dir);
    await assert.rejects(
      scene.verify(true),
      (error) => error instanceof UsageError && /there is no crawl in/.test(error.message),
    );
    assert.equal(snapshotOf(scene.dir), before);
  }));

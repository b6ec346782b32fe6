/**
 * `gossamer verify` with the real binary on real crawls: what it prints, how it ends, and what a resume makes of it.
 */

import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { WarcPlace } from '../../src/model/page.ts';
import { archivedIn, assertArchivedOnce } from '../support/archive-check.ts';
import { assertCode, onStage, plainPlan, type ListedPage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

const warcOf = (stage: Stage): string => join(stage.dir, 'warc', readdirSync(join(stage.dir, 'warc'))[0]!);

const placed = async (stage: Stage): Promise<(ListedPage & WarcPlace)[]> =>
  (await stage.pages()).filter((page): page is ListedPage & WarcPlace => page.warc_file !== null);

test('a finished crawl is verified in one line; what is damaged is named, repaired and fetched again', () =>
  onStage(plainPlan(6, 60, 20), async (stage) => {
    assertCode(await stage.crawl(), 0);
    const sound = await stage.gossamer('verify', stage.dir);
    assertCode(sound, 0);
    assert.match(
      sound.stdout,
      /^verified 60 pages, \d+ records in 1 file \(\d+ KiB\), 60 links on 6 sites: no damage\n$/,
    );

    const page = (await placed(stage))[20]!;
    const { warc_file: file, warc_offset: offset } = page;
    const bytes = readFileSync(warcOf(stage));
    bytes[offset + 300]! ^= 1;
    writeFileSync(warcOf(stage), bytes);
    const damaged = await stage.gossamer('verify', stage.dir);
    assertCode(damaged, 1);
    const [line, summary, advice] = damaged.stdout.split('\n') as [string, string, string];
    assert.ok(
      line.startsWith(`damage: ${file} offset ${offset}: a record cannot be read: `) &&
        line.endsWith(`: it belongs to ${page.url}`),
      line,
    );
    assert.match(summary, /: 1 damaged$/);
    assert.equal(advice, `put it right: gossamer verify ${stage.dir} --repair`);
    assert.equal(damaged.stderr, '');

    const before = stage.served.record.requests.length;
    const repaired = await stage.gossamer('verify', stage.dir, '--repair');
    assertCode(repaired, 0);
    assert.match(repaired.stdout, /^repaired:\n {2}1 page waits again\n/m);
    assert.deepEqual(
      (await archivedIn(stage.dir))
        .filter(({ type }) => type === 'metadata')
        .map(({ offset, length }) => ({ offset, length })),
      [{ offset, length: page.warc_group_length }],
    );
    assertCode(await stage.gossamer('verify', stage.dir), 0);
    assert.equal((await stage.status()).waiting, 1);
    assertCode(await stage.resume(), 0);
    assert.deepEqual(
      stage.served.record.requests
        .slice(before)
        .filter(({ kind }) => kind !== 'robots')
        .map(({ path }) => path),
      [new URL(page.url).pathname],
    );
    assertCode(await stage.gossamer('verify', stage.dir), 0);
    const again = (await placed(stage)).at(-1)!;
    assert.equal(again.url, page.url);
    assert.notEqual(again.warc_offset, offset);
  }));

test('a crawl that was killed is sound: what the kill left is no damage', () =>
  onStage(plainPlan(8, 90, 20), async (stage) => {
    const run = stage.startCrawl();
    await until('40 requests were seen', () => stage.served.record.requests.length >= 40);
    const open = await stage.gossamer('verify', stage.dir);
    assertCode(open, 2);
    assert.match(open.stderr, /^gossamer: crawl ".*" is open in process \d+; stop it or choose another --dir\n$/);
    run.send('SIGKILL');
    await run.ended;
    appendFileSync(warcOf(stage), 'what a kill left');
    for (const more of [[], ['--json'], ['--repair']]) {
      const ran = await stage.gossamer('verify', stage.dir, ...more);
      assertCode(ran, 0);
      if (more[0] !== '--json')
        assert.match(
          ran.stdout,
          /^left by a kill: .*\.warc\.gz: .* after its settled end, at \d+; a resume clears it$/m,
        );
      else {
        const { sound, damageCount, left } = JSON.parse(ran.stdout) as {
          sound: boolean;
          damageCount: number;
          left: string[];
        };
        assert.deepEqual([sound, damageCount], [true, 0]);
        assert.ok(left.length >= 1);
      }
    }
    assertCode(await stage.resume(), 0);
    const last = await stage.gossamer('verify', stage.dir);
    assertCode(last, 0);
    assert.doesNotMatch(last.stdout, /left by a kill/);
    assertArchivedOnce(await archivedIn(stage.dir), stage.world.reachable().pages);
  }));

test('a database that is damaged is told in sentences, never by a stack', () =>
  onStage(plainPlan(3, 20, 20), async (stage) => {
    assertCode(await stage.crawl(), 0);
    const path = join(stage.dir, 'crawl.db');
    const bytes = readFileSync(path);
    for (let at = 4096; at < bytes.length; at += 8192) bytes.fill(0x99, at, at + 1_000);
    writeFileSync(path, bytes);
    for (const more of [[], ['--repair']]) {
      const ran = await stage.gossamer('verify', stage.dir, ...more);
      assertCode(ran, 1);
      assert.match(ran.stdout, /^damage: crawl\.db/);
      assert.match(
        ran.stdout,
        /^what to do: restore the store from a copy; without one, start a new crawl from seeds\.txt/m,
      );
      assert.doesNotMatch(ran.stdout + ran.stderr, /^\s+at /m);
      if (more.length > 0) assert.match(ran.stdout, /^nothing was changed/m);
    }
    assert.deepEqual(readFileSync(path), bytes);
  }));

test('a crawl that kept nothing at first and everything later is sound', () =>
  onStage(plainPlan(4, 30, 20), async (stage) => {
    assertCode(await stage.crawl({ keep: 'none', 'max-pages': 12 }), 0);
    assertCode(await stage.resume({ keep: 'all', 'max-pages': 1_000 }), 0);
    const pages = await stage.pages();
    assert.ok(pages.some(({ warc_file }) => !warc_file) && pages.some(({ warc_file }) => warc_file));
    const ran = await stage.gossamer('verify', stage.dir);
    assertCode(ran, 0);
    assert.match(ran.stdout, /^verified 30 pages, .*: no damage\n$/);
  }));

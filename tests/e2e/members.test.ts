/** One crawl, two directories: who took part, and one result out of both. */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { linesOf } from '../support/lines.ts';
import { SHARED_STORES, type SharedStoreName } from '../support/shared-servers.ts';
import { onStage, assertCode, plainPlan, type Status } from '../support/stage.ts';
import { isIn, withTwoMembers } from '../support/two-members.ts';

interface ListedMember {
  readonly member: string;
  readonly host: string | null;
  readonly dir: string | null;
  readonly live: boolean;
  readonly seenAt: string | null;
  readonly settled: number;
  readonly atHand: boolean;
}

const membersIn = (stdout: string): ListedMember[] => (JSON.parse(stdout) as { members: ListedMember[] }).members;

for (const store of Object.keys(SHARED_STORES) as SharedStoreName[]) {
  test(`${store}: two directories give one result, and each figure says whose it is`, () =>
    withTwoMembers(store, async ({ dirs, url, ran, pages, idOf, gossamer }) => {
      const { first, second } = dirs;
      const status = JSON.parse((await ran(0, 'status', first, '--json')).stdout) as Status;
      const files = { first: readdirSync(join(first, 'warc')), second: readdirSync(join(second, 'warc')) };

      const listed = membersIn((await ran(0, 'members', first, '--json')).stdout);
      assert.deepEqual(
        listed.map(({ member }) => member).toSorted(),
        [idOf(first), idOf(second)].toSorted(),
        'both are known',
      );
      assert.equal(
        listed.reduce((sum, { settled }) => sum + settled, 0),
        status.settled,
        'what they settled is what is settled',
      );
      for (const { settled, seenAt, host, atHand } of listed) {
        assert.deepEqual([host, atHand], [hostname(), true], 'both say where they are, and that is this machine');
        assert.ok(settled > 0, 'both worked');
        assert.notEqual(seenAt, null);
      }
      const given = membersIn((await ran(0, 'members', first, second, '--json')).stdout);
      assert.deepEqual(
        given.map(({ live, atHand, dir }) => ({ live, atHand, dir })),
        given.map(({ member }) => ({ live: false, atHand: true, dir: member === idOf(first) ? first : second })),
      );
      const table = (await ran(0, 'members', '--store', url, '--name', 'both')).stdout;
      assert.match(table, new RegExp(`^${idOf(second).slice(0, 8)} .*(ago|live) .*$`, 'm'));
      assert.match(table, /^2 members, /m);

      // One list out of both, the same whichever order they are given in but for the order.
      const all = await pages(first, second);
      assert.equal(all.length, status.settled);
      assert.equal(new Set(all.map((page) => page.url)).size, status.settled, 'no page twice');
      assert.deepEqual(await pages(first, second), all, 'and always in the same order');
      assert.deepEqual(
        (await pages(second, first)).map((page) => page.url).toSorted(),
        all.map((page) => page.url).toSorted(),
      );
      assert.equal((await pages(first, second, '--limit', String(status.settled - 1))).length, status.settled - 1);

      const index = await ran(0, 'export', first, second, '--format', 'cdxj');
      assert.equal(linesOf(index.stdout).length, status.pages);
      const links = await ran(0, 'export', first, second, '--format', 'jsonl', '--links');
      assert.equal(links.stderr, '', 'nothing is missed');
      const found = new Set(linesOf(links.stdout));
      for (const page of all.filter(({ via }) => via !== ''))
        assert.ok(found.has(JSON.stringify({ from: page.via, to: page.url })), page.url);

      // A page is found in whichever directory it is.
      for (const [here, there] of [
        [first, 'second'],
        [second, 'first'],
      ] as const) {
        const page = all.find((one) => isIn(files[there], one) && one.outcome === 'fetched')!;
        const shown = await ran(0, 'show', here, dirs[there], page.url, '--html');
        assert.match(shown.stdout, /<html/);
        const alone = await gossamer('explain', here, page.url);
        const both = await ran(0, 'explain', here, dirs[there], page.url);
        assert.match(both.stdout, /It was crawled on/);
        if (store === 'redis') {
          assertCode(alone, 0);
          assert.match(alone.stdout, /It was settled by another member of this crawl/);
          assert.match(alone.stdout, /settled-elsewhere/);
          assert.match(alone.stdout, new RegExp(`gossamer explain ${here} DIRECTORY `));
        } else assert.match(alone.stdout, /It was crawled on/, 'all rows are in the database');
        const unread = await gossamer('show', here, page.url, '--html');
        if (store === 'redis') assert.match(unread.stdout, /was settled by another member of this crawl/);
        else {
          assertCode(unread, 2);
          assert.match(unread.stderr, /is in the directory of another member of this crawl, or was taken away/);
        }
      }
      if (store === 'redis') {
        const { stderr } = await ran(0, 'pages', first);
        assert.match(stderr, /^\d+ links? settled by 1 other member of this crawl (is|are) not among these: give its/);
      }
    }));
}

test('directories of two crawls, one given twice, and a copy are refused with a sentence', () =>
  onStage(plainPlan(2, 6), async (stage) => {
    assertCode(await stage.crawl(), 0);
    const other = join(stage.home, 'other');
    assertCode(await stage.crawl({ dir: other, 'max-pages': 2 }), 0);
    for (const [words, says] of [
      [[stage.dir, other], /"\S+other" is no directory of the crawl in "\S+crawl"/],
      [[stage.dir, stage.dir], /"\S+crawl" is given twice: give it once/],
    ] as const) {
      for (const command of ['pages', 'verify', 'audit', 'members'] as const) {
        const ran = await stage.gossamer(command, ...words);
        assertCode(ran, 2);
        assert.match(ran.stderr, says, command);
      }
    }
    const alone = membersIn((await stage.gossamer('members', stage.dir, '--json')).stdout);
    assert.deepEqual(
      alone.map(({ settled, atHand, live }) => ({ settled, atHand, live })),
      [{ settled: (await stage.status()).settled, atHand: true, live: false }],
    );
  }));

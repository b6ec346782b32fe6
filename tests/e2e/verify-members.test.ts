/** A crawl of two members is checked as one: who is missing is said, and exactly what is lost is fetched again. */

import assert from 'node:assert/strict';
import { closeSync, cpSync, openSync, readdirSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SHARED_STORES, type SharedStoreName } from '../support/shared-servers.ts';
import type { ListedPage, Status } from '../support/stage.ts';
import { isIn, withTwoMembers, type TwoMembers } from '../support/two-members.ts';
import { until } from '../support/until.ts';

interface Checked {
  readonly sound: boolean;
  readonly pages: number;
  readonly records: number;
  readonly damageByKind: Readonly<Record<string, number>>;
  readonly notGiven: readonly { readonly member: string; readonly settled: number }[];
}

const checkedBy = async ({ ran }: TwoMembers, code: number, ...words: readonly string[]): Promise<Checked> =>
  JSON.parse((await ran(code, 'verify', ...words, '--json')).stdout) as Checked;

const statusOf = async ({ ran, dirs }: TwoMembers): Promise<Status> =>
  JSON.parse((await ran(0, 'status', dirs.first, '--json')).stdout) as Status;

/** What the crawl is, whoever settled its pages; records of robots.txt may be there more than once. */
const assertSame = (now: Status, then: Status): void => {
  const same = ({ settledByOutcome, pages, known, waiting, sites }: Status): object => {
    const some = Object.entries(settledByOutcome).filter(([, n]) => n > 0);
    return { some, pages, known, waiting, sites };
  };
  assert.deepEqual(same(now), same(then));
  const more = now.archivedBytes / then.archivedBytes;
  assert.ok(more > 0.9 && more < 1.2, `${now.archivedBytes} bytes archived, before ${then.archivedBytes}`);
};

const urlsOf = (pages: readonly ListedPage[]): string[] => pages.map(({ url }) => url).toSorted();

/** Changes a byte in the middle of the first record of a page. */
const flip = (dir: string, page: ListedPage): void => {
  const fd = openSync(join(dir, 'warc', page.warc_file!), 'r+');
  const at = page.warc_offset! + Math.floor(page.warc_length! / 2);
  const byte = Buffer.alloc(1);
  readSync(fd, byte, 0, 1, at);
  byte[0]! ^= 0xff;
  writeSync(fd, byte, 0, 1, at);
  closeSync(fd);
};

for (const store of Object.keys(SHARED_STORES) as SharedStoreName[]) {
  test(`${store}: who is not given is named, and what is damaged or gone in one directory is fetched again, nothing else`, () =>
    withTwoMembers(store, async (two) => {
      const { dirs, ran, pages, idOf } = two;
      const { first, second } = dirs;
      const status = await statusOf(two);
      const before = await pages(first, second);
      const filesOf = (dir: string): string[] => readdirSync(join(dir, 'warc'));
      const own = before.filter((page) => isIn(filesOf(second), page));

      const alone = await ran(0, 'verify', first);
      assert.match(
        alone.stdout,
        new RegExp(
          `^not looked at: \\d+ links? settled by the member ${idOf(second).slice(0, 8)} \\(.*\\): give its`,
          'm',
        ),
      );
      assert.match(alone.stdout, /no damage; \d+ links? of 1 member that was not given not looked at$/m);
      const missed = await checkedBy(two, 1, first, '--all');
      assert.deepEqual(missed.damageByKind, { 'member-missing': 1 });
      assert.deepEqual(
        missed.notGiven.map(({ member }) => member),
        [idOf(second)],
      );
      const both = await checkedBy(two, 0, first, second, '--all');
      assert.deepEqual([both.pages, both.notGiven], [status.pages, []]);

      // One record is damaged: its page alone waits again.
      const victim = own.find(({ outcome, depth }) => outcome === 'fetched' && depth > 0)!;
      flip(second, victim);
      assert.equal((await checkedBy(two, 1, first, second)).damageByKind['record-damaged'], 1);
      const rows = join(second, 'pages.db');
      if (store === 'redis') cpSync(rows, `${rows}-before`);
      const repaired = await ran(0, 'verify', first, second, '--repair');
      assert.match(repaired.stdout, /^ {2}1 page waits again$/m);
      assert.match(repaired.stdout, /no damage left of 1$/m);
      const after = await statusOf(two);
      assert.deepEqual(
        [after.waiting, after.settled, after.pages, after.known],
        [1, status.settled - 1, status.pages - 1, status.known],
      );
      assert.deepEqual(urlsOf(await pages(first, second)), urlsOf(before.filter(({ url }) => url !== victim.url)));
      if (store === 'redis') {
        // As a repair leaves it that was killed when the store was put right, and the rows were not.
        renameSync(`${rows}-before`, rows);
        assert.equal((await checkedBy(two, 1, first, second)).damageByKind['link-twice'], 1);
        assert.match(
          (await ran(0, 'verify', first, second, '--repair')).stdout,
          /^ {2}1 row of a page whose link waits again is gone$/m,
        );
        // Whether the other is taken for alive depends on when it was heard last.
        assert.deepEqual({ ...(await statusOf(two)), otherMembersLive: 0 }, { ...after, otherMembersLive: 0 });
      }
      await ran(0, 'resume', first);
      assert.deepEqual(urlsOf(await pages(first, second)), urlsOf(before));
      await ran(0, 'verify', first, second, '--all');

      // What a member that is not given has settled is left alone.
      flip(first, (await pages(first, second)).find((page) => isIn(filesOf(first), page) && page.depth > 0)!);
      assert.match((await ran(0, 'verify', first, '--repair')).stdout, /^ {2}1 page waits again$/m);
      assert.deepEqual(
        [(await statusOf(two)).settled, (await statusOf(two)).known],
        [status.settled - 1, status.known],
      );
      await ran(0, 'resume', first);

      // All files of a member are gone, its directory is not.
      const left = (await pages(first, second)).filter((page) => isIn(filesOf(second), page));
      rmSync(join(second, 'warc'), { recursive: true });
      const gone = await checkedBy(two, 1, first, second);
      assert.equal(gone.damageByKind['record-missing'], left.length);
      const back = await ran(0, 'verify', first, second, '--repair');
      assert.match(back.stdout, new RegExp(`^ {2}${left.length} pages wait again$`, 'm'));
      const waits = await statusOf(two);
      assert.deepEqual([waits.waiting, waits.known], [left.length, status.known]);
      await ran(0, 'resume', second);
      assert.deepEqual(urlsOf(await pages(first, second)), urlsOf(before));
      assertSame(await statusOf(two), status);
      await ran(0, 'verify', first, second, '--all');
    }));

  test(`${store}: a machine that is gone for good is named, and the others fetch again what was lost with it`, () =>
    withTwoMembers(store, async (two) => {
      const { dirs, ran, pages, idOf, gossamer } = two;
      const { first, second } = dirs;
      const status = await statusOf(two);
      const before = await pages(first, second);
      const lost = idOf(second);
      rmSync(second, { recursive: true });

      const missed = await checkedBy(two, 1, first, '--all');
      assert.deepEqual(missed.damageByKind, { 'member-missing': 1 });
      for (const [words, says] of [
        [['--lost', lost], /--lost puts pages back into waiting: give --repair, too/],
        [['--repair', '--lost', 'nobody'], /--lost "nobody" names no member of this crawl/],
        [['--repair', '--lost', idOf(first)], /is not lost, its directory is given/],
      ] as const)
        assert.match((await ran(2, 'verify', first, ...words)).stderr, says);

      // Its last word may be some seconds old only: then it may still be at work.
      await until('the lost member counts as dead', async () => {
        const { code, stdout, stderr } = await gossamer('verify', first, '--repair', '--lost', lost.slice(0, 8));
        if (code !== 0) assert.match(stderr, /is not lost, it is at work/);
        else
          assert.match(stdout, store === 'redis' ? /URLs that were lost are not known any more/ : /pages wait again/);
        return code === 0;
      });
      const after = await statusOf(two);
      assert.ok(after.pages < status.pages);
      await ran(0, 'verify', first, '--all');
      await ran(0, 'resume', first);
      assert.deepEqual(urlsOf(await pages(first)), urlsOf(before), 'all of it was found again');
      assertSame(await statusOf(two), status);
      await ran(0, 'verify', first, '--all');
    }));
}

test('redis: rows of a member that are gone are damage, and what they told of is found again', () =>
  withTwoMembers('redis', async (two) => {
    const { dirs, ran, pages } = two;
    const { first, second } = dirs;
    const status = await statusOf(two);
    const before = await pages(first, second);
    rmSync(join(second, 'pages.db'));
    const alone = await checkedBy(two, 1, second);
    assert.equal(alone.damageByKind['rows-missing'], 1);
    assert.match((await ran(1, 'verify', second, '--repair')).stdout, /give the directories of all members/);
    assert.deepEqual(await statusOf(two), status, 'and nothing was changed');
    assert.match(
      (await ran(0, 'verify', first, second, '--repair')).stdout,
      /^ {2}\d+ URLs that were lost are not known any more, so that they can be found again$/m,
    );
    await ran(0, 'resume', first);
    await ran(0, 'resume', second);
    assert.deepEqual(urlsOf(await pages(first, second)), urlsOf(before));
    assertSame(await statusOf(two), status);
    await ran(0, 'verify', first, second, '--all');
  }));

/** A crawl of several members is judged over all their ledgers; what only one that is not given could prove is left. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROBOTS, FIRST, page, inFolder, SOMEBODY, audit, assertFound } from './support/audit-scene.ts';
import { digestOf, plantCrawl } from './support/planted-crawl.ts';

/** The audit needs no store; there is none at this address. */
const ELSEWHERE = { store: 'redis://store.example', name: 'planted' };

test('a site that two processes visit is judged over both of their ledgers', () =>
  inFolder(async (home) => {
    const dirs = [join(home, 'one'), join(home, 'two')] as const;
    await plantCrawl(dirs[0], {
      robots: [ROBOTS],
      requests: [...FIRST, page(10_000, '/b', { tookMs: 6_000 })],
      settings: ELSEWHERE,
      member: 'one',
    });
    await plantCrawl(dirs[1], {
      requests: [page(4_999, '/a'), page(15_995, '/c')],
      settings: ELSEWHERE,
      member: 'two',
    });
    assertFound(await audit(dirs), ['gap']); // clocks of two machines may be some milliseconds apart: no overlap
    const alone = await audit([dirs[1]], null, SOMEBODY);
    assertFound(alone, [], { 'other-member': 2 });
    assert.match(
      alone.remarks.join(),
      /the store could not be asked who else takes part in this crawl \(it does not answer\): only the requests of what is given are judged/,
    );
  }));

test('what a member that is not given may have read cannot be judged, and is no violation', () =>
  inFolder(async (home) => {
    const dirs = ['one', 'two', 'three'].map((name) => join(home, name));
    const other = 'User-agent: *\nDisallow: /other\n';
    const day = 24 * 3_600_000;
    // Two read a robots.txt each, one later than the other; what the third requests is under the rules of the second.
    await plantCrawl(dirs[0]!, { robots: [ROBOTS], requests: FIRST, settings: ELSEWHERE, member: 'one' });
    await plantCrawl(dirs[1]!, {
      robots: [{ ...ROBOTS, at: day + 60_000, text: other }],
      requests: [{ ...FIRST[0]!, at: day + 60_000 }],
      settings: ELSEWHERE,
      member: 'two',
    });
    await plantCrawl(dirs[2]!, {
      requests: [page(day + 70_000, '/a', { rules: digestOf(other) }), page(2 * day, '/b', { rules: digestOf(other) })],
      settings: ELSEWHERE,
      member: 'three',
    });
    assertFound(await audit(dirs), []);
    assertFound(await audit([dirs[0]!, dirs[2]!], null, SOMEBODY), [], { 'other-member': 2 });
    assertFound(await audit([dirs[2]!]), ['no-robots', 'no-robots']);
    assertFound(await audit([dirs[2]!], null, SOMEBODY), [], { 'other-member': 2 });
  }));

test('a process that stood still notes an end long after its lease: another may visit the site before that, but not within the time a request may take', () =>
  inFolder(async (home) => {
    const settings = { ...ELSEWHERE, timeoutMs: 30_000 };
    const dirs = (name: string): readonly [string, string] => [join(home, name, 'one'), join(home, name, 'two')];
    for (const [name, at, found] of [
      ['after', 35_000, []],
      ['within', 34_980, ['overlap']],
    ] as const) {
      const [one, two] = dirs(name);
      await plantCrawl(one, {
        robots: [ROBOTS],
        requests: [...FIRST, page(5_000, '/asleep', { tookMs: 400_000 })],
        settings,
        member: 'one',
      });
      await plantCrawl(two, { requests: [page(at, '/a')], settings, member: 'two' });
      assertFound(await audit([one, two]), found);
    }
    await plantCrawl(join(home, 'alone'), {
      robots: [ROBOTS],
      requests: [...FIRST, page(5_000, '/asleep', { tookMs: 400_000 }), page(40_000, '/a')],
      settings,
    });
    assertFound(await audit([join(home, 'alone')]), ['overlap']); // nobody else had its site
  }));

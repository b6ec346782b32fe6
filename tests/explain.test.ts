/** Why a URL was not crawled, or when it will be: every reason, on a store that is open. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPEN_REASONS } from '../src/results/explain/reasons.ts';
import type { RobotsRecord } from '../src/model/robots.ts';
import { asideOf } from '../src/visit/trouble.ts';
import { ask, claimOne, DELAY_MS, link, linksOf, paceAfter, settlementOf } from './contract/store-scene.ts';
import { HOUR_MS, onReadingScene, robotsRead, type ReadingScene } from './support/reading-scene.ts';

import { assertReason, explained, settleNext } from './support/explain-scene.ts';

test('what cannot be a link of any crawl is not known, and is told by its name', () =>
  onReadingScene(async ({ explain }) => {
    assertReason(await explain('http://[half'), 'not-a-url', /cannot be read as a URL/);
    for (const url of ['ftp://a.example/', 'mailto:me@a.example', 'javascript:void(0)'])
      assertReason(await explain(url), 'not-http', /scheme is neither http nor https/);
    assertReason(await explain(`https://a.example/${'x'.repeat(3_000)}`), 'too-long', /more than 2,000 characters/);
    assert.equal((await explain('ftp://a.example/')).state, 'unknown');
  }));

test('an address without a scheme is looked for by both', () =>
  onReadingScene(async ({ store, explain }) => {
    await store.admit([link('a.example/'), link('b.example/x', { url: 'http://b.example:8080/x' as never })]);
    assert.deepEqual(
      [(await explain('a.example')).url, (await explain('b.example:8080/x')).url],
      ['https://a.example/', 'http://b.example:8080/x'],
    );
    assert.equal((await explain('c.example')).url, 'https://c.example/');
  }));

test('a link that the scope refuses is told by the rule, and an excluded one by the line of the exclude file', () =>
  onReadingScene(async ({ explain, file }) => {
    file('seeds.txt', 'a.example\nhttps://www.b.example/start\n');
    file('exclude.txt', 'x.example\nld.a.example\nold.a.example\n');
    assertReason(
      await explain('https://very.old.a.example/page'),
      'excluded',
      /line 3 of .*exclude\.txt excludes old\.a\.example/,
    );
    assert.equal((await explain('https://a.example/page')).reason, 'unknown');
    assert.equal(
      (await explain('https://notold.a.example/')).reason,
      'unknown',
      'a name that only ends alike is another',
    );
    assertReason(
      await explain('https://c.example/', { scope: 'site' }),
      'out-of-scope',
      /--scope is site, and no seed is at home there/,
    );
    assert.equal((await explain('https://b.example/', { scope: 'site' })).reason, 'unknown');
    assertReason(await explain('https://b.example/', { scope: 'host' }), 'out-of-scope', /--scope is host/);
    assert.equal((await explain('https://www.b.example/other', { scope: 'host' })).reason, 'unknown');
    const patterns = { exclude: ['*/nothing', '/p[a-z]ge/'], include: ['*/a*', 'c.example'] };
    assertReason(await explain('https://a.example/page', patterns), 'excluded', /--exclude \/p\[a-z\]ge\/ matches it/);
    assertReason(
      await explain('https://a.example/b', patterns),
      'not-included',
      /no --include matches it: \*\/a\*, c\.example/,
    );
    assert.equal((await explain('https://a.example/ab', patterns)).reason, 'unknown');
    assertReason(await explain('https://a.example/big.zip'), 'not-text', /its ending names a file/);
    assertReason(await explain('https://a.example/1/1/1/1/1/'), 'trap', /repeats itself/);
    assertReason(await explain('https://a.example:5432/'), 'blocked-port', /port 5432 is that of PostgreSQL/);
    assertReason(await explain('https://a.example/', { maxDepth: 0 }), 'too-deep', /at depth 1, and --max-depth is 0/);
    assert.ok(
      (await explain('https://a.example/', { maxDepth: 3 })).notes.some((note) => note.includes('more than 3 steps')),
    );
  }));

test('a link that waits and is no longer wanted is judged by its own depth', () =>
  onReadingScene(async ({ store, explain, dir }) => {
    await store.admit([link('a.example/deep', { depth: 3 })]);
    const { state } = assertReason(
      await explain('https://a.example/deep', { maxDepth: 2 }),
      'too-deep',
      /It waits, but will not be crawled: it is at depth 3, and --max-depth is 2/,
    );
    assert.equal(state, 'waiting');
    assert.equal((await explain('https://a.example/deep', { maxDepth: 3 })).reason, 'waiting');
    assert.deepEqual((await explain('https://a.example/deep', { maxDepth: 2 })).advice, [
      `gossamer resume ${dir} --max-depth 3`,
    ]);
  }));

test('an unknown link is told as such, with what may have kept it away and what it may be taken for', () =>
  onReadingScene(async ({ store, explain, dir }) => {
    await store.admit([...linksOf('a.example', 5), link('a.example/dir/')]);
    const unknown = assertReason(
      await explain('https://z.example/'),
      'unknown',
      /not known to this crawl: no page that was crawled links to it/,
    );
    assert.ok(unknown.notes.includes('nothing of its site is known either'));
    assert.ok(unknown.notes.some((note) => note.startsWith('6 links still wait')));
    const full = await explain('https://a.example/6', { maxWaitingPerSite: 6 });
    assert.ok(full.notes.some((note) => /has 6 links waiting, all that --max-waiting-per-site allows/.test(note)));
    assert.ok(
      !(await explain('https://a.example/6', { maxWaitingPerSite: 7 })).notes.some((note) =>
        note.includes('--max-waiting-per-site'),
      ),
    );
    assert.deepEqual((await explain('https://a.example/6')).advice, []);
    assert.deepEqual(
      (await explain('http://www.a.example/1')).advice,
      [`gossamer explain ${dir} https://a.example/1`],
      'without www',
    );
    assert.deepEqual((await explain('http://a.example/dir')).advice, [
      `gossamer explain ${dir} https://a.example/dir/`,
    ]);
    assert.ok(
      (await explain('https://a.example/6', { hooks: './mine.js' })).notes.some((note) => note.includes('./mine.js')),
    );
  }));

test('a waiting link is told its place in the line and when its turn comes, at the pace of its site', () =>
  onReadingScene(async ({ store, explain, clock, dir }) => {
    await store.admit(linksOf('a.example', 4));
    const fresh = assertReason(
      await explain('https://a.example/3'),
      'waiting',
      /may be visited now, and then every 5s. 2 links are before it; its turn comes in about 10s/,
    );
    assert.equal(fresh.visitAt, clock.now() + 2 * DELAY_MS);
    const visit = await claimOne(store);
    assertReason(await explain('https://a.example/1'), 'under-visit', /being visited now, for the first time/);
    assert.match((await explain('https://a.example/1', {}, false)).answer, /was being visited when the crawl ended/);
    assert.equal(
      (await explain('https://a.example/2')).state,
      'waiting',
      'also while another link of its site is under visit',
    );
    await store.settle([
      settlementOf(visit, {
        pace: paceAfter(visit, { dueAt: clock.now() + 20_000, delayMs: 20_000, crawlDelayMs: 20_000 }),
      }),
    ]);
    const next = assertReason(
      await explain('https://a.example/2'),
      'waiting',
      /may be visited in 20s \(2026-01-01 00:00:20 UTC\), and then every 20s. It is the next in the queue\.$/,
    );
    assert.equal(next.visitAt, clock.now() + 20_000);
    assert.ok(next.notes.includes('its Crawl-delay sets the pace'));
    assert.equal((await explain('https://a.example/4')).visitAt, clock.now() + 3 * 20_000);
    const stopped = await explain('https://a.example/4', {}, false);
    assert.deepEqual([next.advice, stopped.advice], [[], [`gossamer resume ${dir}`]]);
    assert.match(
      stopped.answer,
      /^It waits, and the crawl is not running\. When it is resumed, its site .* 2 links are before it; its turn comes about 1m later\.$/,
    );
  }));

test('a link whose site is in trouble is told the failures, and the time of the next try', () =>
  onReadingScene(async (scene) => {
    const { store, clock, explain } = scene;
    await store.admit(linksOf('a.example', 2));
    const visit = await claimOne(store);
    await store.settle([
      settlementOf(visit, { fate: 'retry', pace: paceAfter(visit, { failures: 2, dueAt: clock.now() + 40_000 }) }),
    ]);
    const trouble = assertReason(
      await explain('https://a.example/1'),
      'in-trouble',
      /its site a\.example, where pages failed 2 times in a row, is visited again in 40s .*\. 1 link is before it/,
    );
    assert.equal(trouble.visitAt, clock.now() + 40_000 + DELAY_MS);
  }));

const ORIGIN = 'https://old.a.example';

/** The record of an origin in trouble, and a visit that puts its link aside. */
const putAside = async (
  { store, clock }: ReadingScene,
  changes: Partial<RobotsRecord> & { readonly isNews?: boolean } = {},
): Promise<void> => {
  const visit = await claimOne(store);
  const { isNews = true, ...changed } = changes;
  const record: RobotsRecord = {
    origin: ORIGIN,
    fetchedAt: clock.now(),
    expiresAt: clock.now() + 60_000,
    verdict: 'trouble',
    rules: '503',
    crawlDelayMs: null,
    failures: 1,
    ...changed,
  };
  await store.settle([
    settlementOf(visit, { fate: 'returned', page: null, robots: record, to: asideOf(visit, record, isNews) }),
  ]);
};

test('a link whose origin is in trouble is told so, and one of another origin of its site is not', () =>
  onReadingScene(async (scene) => {
    const { store, explain } = scene;
    await store.admit([link('old.a.example/1', { site: 'a.example' }), ...linksOf('a.example', 2)]);
    await putAside(scene);
    const own = assertReason(
      await explain(`${ORIGIN}/1`),
      'in-trouble',
      /https:\/\/old\.a\.example, which failed once, is asked again in 1m .*; at 6 failures it is parked/,
    );
    assert.deepEqual([own.state, own.view?.site?.waiting, own.robots], ['waiting', 1, null]);
    assert.deepEqual(own.notes, [
      'https://old.a.example was last asked on 2026-01-01 00:00:00 UTC: it answered 503; until it answers, no page there is requested, and other origins of its site go on',
    ]);
    assertReason(await explain('https://a.example/2'), 'waiting', /its site a\.example may be visited/);
  }));

test('a parked link is told the failures of its origin, their cause, and the command that brings it back', () =>
  onReadingScene(async (scene) => {
    const { store, explain, dir } = scene;
    await store.admit([
      link('old.a.example/1', { site: 'a.example' }),
      link('old.a.example/2', { site: 'a.example' }),
      ...linksOf('a.example', 2),
    ]);
    await putAside(scene, { verdict: 'parked', rules: 'refused', failures: 6, expiresAt: 0 });
    const parked = assertReason(
      await explain(`${ORIGIN}/1`),
      'parked',
      /https:\/\/old\.a\.example failed 6 times in a row, and --park-after is 6\. The last time, the connection was refused/,
    );
    assert.deepEqual([parked.state, parked.visitAt], ['parked', null]);
    assert.deepEqual(parked.advice, [`gossamer resume ${dir} --retry-parked`]);
    const behind = await explain(`${ORIGIN}/2`);
    assert.deepEqual([behind.state, behind.reason], ['waiting', 'parked'], 'it is not put aside yet, but will be');
    await store.steer([{ kind: 'retry-parked' }]);
    assert.equal((await explain(`${ORIGIN}/1`)).state, 'waiting');
  }));

test('a link of a host that does not exist is told so', () =>
  onReadingScene(async (scene) => {
    const { store, explain } = scene;
    await store.admit([link('old.a.example/1', { site: 'a.example' })]);
    await putAside(scene, { verdict: 'parked', rules: 'no-name', failures: 1, expiresAt: 0 });
    assertReason(
      await explain(`${ORIGIN}/1`),
      'parked',
      /https:\/\/old\.a\.example cannot be asked, because the host name does not exist, or has no address/,
    );
  }));

test('a link over the budget of its site is held, also before the site is claimed again', () =>
  onReadingScene(async (scene) => {
    const { store, clock, explain, dir } = scene;
    await store.admit(linksOf('a.example', 3));
    await settleNext(scene);
    const budget = { maxPagesPerSite: 1 };
    assert.equal(
      assertReason(await explain('https://a.example/2', budget), 'held', /has 1 page, and --max-pages-per-site is 1/)
        .state,
      'waiting',
    );
    clock.advance(DELAY_MS);
    await store.claim(ask({ sitePagesMax: { all: 1 } }));
    const held = assertReason(await explain('https://a.example/2', budget), 'held', /It is held/);
    assert.deepEqual([held.state, held.advice], ['held', [`gossamer resume ${dir} --max-pages-per-site 2`]]);
    assert.ok(
      (await explain('https://a.example/9', budget)).notes.includes(
        'its site is held, so 2 of its links are not visited for now, and one of those pages may link to it',
      ),
    );
    assert.equal((await explain('https://a.example/2')).reason, 'held', 'until a resume lets it wait again');
    scene.file('exclude.txt', 'a.example\n');
    assertReason(
      await explain('https://a.example/2'),
      'excluded',
      /^It is held, and will not be crawled in any case: line 1 of/,
    );
  }));

test('a link over the budget of a rule is told which rule that is', () =>
  onReadingScene(async (scene) => {
    const { store, explain, dir } = scene;
    await store.admit(linksOf('a.example', 3));
    await settleNext(scene);
    const settings = { maxPagesPerSite: 5, sites: [{ name: 'a.example', maxPages: 1 }] };
    const { advice } = assertReason(
      await explain('https://a.example/2', settings),
      'held',
      /has 1 page, and max-pages of the rule for a\.example is 1\./,
    );
    assert.deepEqual(advice, [`gossamer resume ${dir} --config FILE`]);
    const lifted = { maxPagesPerSite: 1, sites: [{ name: 'a.example', maxPages: null }] };
    assert.equal((await explain('https://a.example/2', lifted)).reason, 'waiting');
  }));

test('the rule that sets the delay of a waiting link is named', () =>
  onReadingScene(async (scene) => {
    const { store, explain } = scene;
    await store.admit(linksOf('a.example', 2));
    const sites = [{ name: 'a.example', delayMs: 70_000 }];
    const { notes } = assertReason(await explain('https://a.example/2', { sites }), 'waiting', /then every 1m 10s\./);
    assert.ok(notes.includes('the rule for a.example sets its delay to 1m 10s, instead of --delay'), notes.join('\n'));
    const own = [{ name: 'a.example', delayMs: 0, own: true, robots: 'ignore' as const }];
    const quick = assertReason(await explain('https://a.example/2', { sites: own }), 'waiting', /then every 0ms\./);
    assert.ok(quick.notes.includes('the rule for a.example disregards its robots.txt'), quick.notes.join('\n'));
  }));

test('a link that waits in a crawl at its --max-pages is told so', () =>
  onReadingScene(async (scene) => {
    await scene.store.admit(linksOf('a.example', 2));
    await settleNext(scene);
    const { advice } = assertReason(
      await scene.explain('https://a.example/2', { maxPages: 1 }),
      'max-pages',
      /has all the pages it may have: --max-pages is 1/,
    );
    assert.deepEqual(advice, [`gossamer resume ${scene.dir} --max-pages 2`]);
    assert.equal((await scene.explain('https://a.example/2', { maxPages: 2 })).reason, 'waiting');
  }));

const ROBOTS = '# our rules\nUser-agent: *\n\nDisallow: /private\nAllow: /private/open\n';

test('a link that robots.txt forbids is told the line, by the rules of its own origin', () =>
  onReadingScene(async (scene) => {
    const { store, clock, explain } = scene;
    await store.admit([
      link('a.example/'),
      link('a.example/private/1'),
      link('a.example/private/open'),
      link('b.a.example/private/2', { site: 'a.example' }),
    ]);
    await settleNext(scene, { robots: robotsRead('https://a.example', ROBOTS, clock.now()) });
    const denied = assertReason(
      await explain('https://a.example/private/1'),
      'robots-denied',
      /waits, but will not be crawled, .* https:\/\/a\.example forbids it \(line 4: Disallow: \/private\)\./,
    );
    assert.deepEqual(denied.robots, {
      origin: 'https://a.example',
      allowed: false,
      rule: 'line 4: Disallow: /private',
      line: 4,
      fetchedAt: clock.now(),
      stale: false,
    });
    const open = await explain('https://a.example/private/open');
    assert.deepEqual(
      [denied.advice, (await explain('https://a.example/private/1', {}, false)).advice],
      [[], []],
      'no resume brings it',
    );
    assert.deepEqual([open.reason, open.robots?.line], ['waiting', 5]);
    const elsewhere = await explain('https://b.a.example/private/2');
    assert.deepEqual([elsewhere.reason, elsewhere.robots], ['waiting', null]);
    assert.equal((await explain('https://a.example/private/9')).robots?.line, 4, 'also for a link that is not known');
    clock.advance(25 * HOUR_MS);
    const stale = await explain('https://a.example/private/1');
    assert.deepEqual(
      [stale.reason, stale.robots?.stale],
      ['waiting', true],
      'rules a day old are asked for again first',
    );
  }));

test('rules over the ceiling forbid the origin', () =>
  onReadingScene(async (scene) => {
    const { store, clock, explain } = scene;
    await store.admit(linksOf('a.example', 2));
    await settleNext(scene, { robots: { ...robotsRead('https://a.example', '', clock.now()), verdict: 'too-large' } });
    assertReason(await explain('https://a.example/2'), 'robots-too-large', /rules over the ceiling/);
  }));

test('every reason has been explained here', () => {
  assert.deepEqual(
    Object.keys(OPEN_REASONS).filter((reason) => !explained.has(reason)),
    ['settled-elsewhere'], // takes two members: e2e/members
  );
});

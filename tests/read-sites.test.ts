/** Sites and links of a store that is open, as people read them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RULES_AT_ONCE, siteRows } from '../src/cli/site-rows.ts';
import { writeIdentity } from '../src/folder/folder.ts';
import { SITE_SORTS, SITES_SORTED_MAX, type SiteQuery, type SiteSort, type SiteView } from '../src/contract/views.ts';
import type { Link } from '../src/model/link.ts';
import { completeSettings } from '../src/model/read-settings.ts';
import {
  ask,
  claimBySite,
  claimOne,
  DELAY_MS,
  link,
  linksOf,
  paceAfter,
  pageOf,
  settlementOf,
} from './contract/store-scene.ts';
import { runBinary } from './support/binary.ts';
import { HOUR_MS, onReadingScene, robotsRead, type ReadingScene } from './support/reading-scene.ts';

const viewsOf = async ({ crawl }: ReadingScene, query: SiteQuery): Promise<SiteView[]> => {
  const views: SiteView[] = [];
  for await (const view of crawl.sites(query)) views.push(view);
  return views;
};

const namesOf = async (scene: ReadingScene, query: SiteQuery): Promise<string[]> =>
  (await viewsOf(scene, query)).map(({ site }) => site);

/** Five sites that differ in everything a list can be sorted by. */
const fill = async ({ store, clock }: ReadingScene): Promise<void> => {
  await store.admit([
    ...linksOf('busy.example', 2),
    ...linksOf('idle.example', 1),
    ...linksOf('many.example', 6),
    ...linksOf('slow.example', 3),
    ...linksOf('ill.example', 2),
  ]);
  const visits = await claimBySite(store);
  const settle = async (site: string, changes: Parameters<typeof settlementOf>[1]): Promise<void> =>
    void (await store.settle([settlementOf(visits.get(site)!, changes)]));
  await settle('idle.example', {});
  await settle('many.example', {
    pace: paceAfter(visits.get('many.example')!, { dueAt: clock.now() + 1_000, delayMs: 1_000 }),
  });
  await settle('slow.example', {
    pace: paceAfter(visits.get('slow.example')!, { dueAt: clock.now() + 60_000, delayMs: 60_000 }),
  });
  await settle('ill.example', {
    fate: 'retry',
    parked: true,
    pace: paceAfter(visits.get('ill.example')!, { failures: 6, delayMs: 0 }),
  });
};

test('sites are listed as they were found, or in any order asked for', () =>
  onReadingScene(async (scene) => {
    await fill(scene);
    assert.deepEqual(await namesOf(scene, {}), [
      'busy.example',
      'idle.example',
      'many.example',
      'slow.example',
      'ill.example',
    ]);
    const sorted: Record<SiteSort, readonly string[]> = {
      waiting: ['many.example', 'slow.example', 'ill.example', 'busy.example', 'idle.example'],
      pages: ['idle.example', 'many.example', 'slow.example', 'busy.example', 'ill.example'],
      failures: ['ill.example', 'busy.example', 'idle.example', 'many.example', 'slow.example'],
      next: ['many.example', 'busy.example', 'slow.example', 'idle.example', 'ill.example'],
      name: ['busy.example', 'idle.example', 'ill.example', 'many.example', 'slow.example'],
      delay: ['slow.example', 'busy.example', 'idle.example', 'many.example', 'ill.example'],
    };
    for (const sort of Object.keys(SITE_SORTS) as SiteSort[])
      assert.deepEqual(await namesOf(scene, { sort }), sorted[sort], sort);
    assert.deepEqual(await namesOf(scene, { sort: 'waiting', limit: 2 }), sorted.waiting.slice(0, 2));
    assert.deepEqual(await namesOf(scene, { limit: 2 }), ['busy.example', 'idle.example']);
  }));

test('sites are searched by a part of their name, taken as it is', () =>
  onReadingScene(async (scene) => {
    await fill(scene);
    assert.deepEqual(await namesOf(scene, { search: 'i' }), ['idle.example', 'ill.example']);
    assert.deepEqual(await namesOf(scene, { search: 'i', sort: 'waiting', limit: 1 }), ['ill.example']);
    assert.deepEqual(await namesOf(scene, { search: '%' }), []);
  }));

test('a site tells its state and the link that is visited next', () =>
  onReadingScene(async (scene) => {
    await fill(scene);
    assert.deepEqual(
      (await viewsOf(scene, {})).map(({ site, state, waiting, pages, failures, delayMs, leased, next }) => ({
        site,
        state,
        waiting,
        pages,
        failures,
        delayMs,
        leased,
        next,
      })),
      [
        {
          site: 'busy.example',
          state: 'leased',
          waiting: 1,
          pages: 0,
          failures: 0,
          delayMs: DELAY_MS,
          leased: 'https://busy.example/1',
          next: 'https://busy.example/1',
        },
        {
          site: 'idle.example',
          state: 'idle',
          waiting: 0,
          pages: 1,
          failures: 0,
          delayMs: DELAY_MS,
          leased: '',
          next: 'https://idle.example/1',
        },
        {
          site: 'many.example',
          state: 'waiting',
          waiting: 5,
          pages: 1,
          failures: 0,
          delayMs: 1_000,
          leased: '',
          next: 'https://many.example/2',
        },
        {
          site: 'slow.example',
          state: 'waiting',
          waiting: 2,
          pages: 1,
          failures: 0,
          delayMs: 60_000,
          leased: '',
          next: 'https://slow.example/2',
        },
        {
          site: 'ill.example',
          state: 'parked',
          waiting: 2,
          pages: 0,
          failures: 6,
          delayMs: 0,
          leased: '',
          next: 'https://ill.example/2',
        },
      ],
    );
    const { site } = await scene.crawl.link('https://ill.example/1', 'ill.example');
    assert.deepEqual([site], await viewsOf(scene, { search: 'ill' }));
  }));

test('the table says what each site is doing, when it is visited next, and how old its rules are', () =>
  onReadingScene(async (scene) => {
    await fill(scene);
    const { store, clock, dir } = scene;
    writeIdentity(dir, completeSettings({ email: 'test@example.org' }, 2));
    clock.advance(1_000);
    const visit = await claimOne(store); // of many.example
    const tomorrow = Date.now() + 24 * HOUR_MS;
    await store.settle([
      settlementOf(visit, {
        pace: paceAfter(visit, { dueAt: tomorrow }),
        robots: robotsRead('https://many.example', 'User-agent: *\nDisallow: /', clock.now()),
      }),
    ]);
    const ran = await runBinary(['sites', dir]);
    assert.equal(ran.code, 0, ran.stderr);
    const rows = ran.stdout.split('\n').map((line) => line.split(/ {2,}/));
    assert.deepEqual(
      rows.slice(1, 6).map((cells) => cells.slice(0, 7)),
      [
        ['many.example', 'waiting', '4', '2', '0', '5s', rows[1]?.[6]],
        ['slow.example', 'waiting', '2', '1', '0', '1m', 'due now'],
        ['ill.example', 'parked', '2', '0', '6', '-', '-'],
        ['busy.example', 'leased', '1', '0', '0', '5s', 'under way'],
        ['idle.example', 'idle', '0', '1', '0', '5s', '-'],
      ],
    );
    assert.match(rows[1]?.[6] ?? '', /^in (?:1d|23h \d+m|24h)$/);
    assert.match(
      rows[1]?.[7] ?? '',
      /^forbids all, stale, \d+d(?: \d+h)? old$/,
      'the clock of this crawl began long ago',
    );
    assert.equal(rows[2]?.[7], 'not read yet');
  }));

test('a list of more sites than are read at once has each of them once, also when some come in between', () =>
  onReadingScene(async (scene) => {
    const { store, crawl } = scene;
    const many = (from: number): Link[] => Array.from({ length: 2_100 }, (_, n) => link(`s${from + n}.example/`));
    await store.admit(many(0));
    const names: string[] = [];
    for await (const { site } of crawl.sites({})) {
      if (names.push(site) === 1_500) await store.admit(many(2_100));
    }
    assert.deepEqual(
      names,
      Array.from({ length: 4_200 }, (_, n) => `s${n}.example`),
    );
    assert.deepEqual(await namesOf(scene, { limit: 1_001 }), names.slice(0, 1_001));
    assert.ok(4_200 < SITES_SORTED_MAX);
    assert.equal((await namesOf(scene, { sort: 'name' })).length, 4_200);
  }));

test('a list asks for the rules of many sites at once, and each site gets its own', () =>
  onReadingScene(async ({ store, crawl, clock }) => {
    const names = Array.from({ length: 2 * RULES_AT_ONCE + 30 }, (_, n) => `s${n}.example`);
    await store.admit(names.flatMap((name) => linksOf(name, 2)));
    const { visits } = await store.claim(ask({ visits: names.length }));
    const forbids = (site: string): boolean => Number(site.slice(1).split('.')[0]) % 3 === 0;
    await store.settle(
      visits
        .filter(({ site }) => site !== 's7.example')
        .map((visit) =>
          settlementOf(visit, {
            robots: robotsRead(
              `https://${visit.site}`,
              `User-agent: *\nDisallow: ${forbids(visit.site) ? '/' : ''}`,
              clock.now(),
            ),
          }),
        ),
    );
    const asked: number[] = [];
    const far = {
      ...crawl,
      robots: (origins: readonly string[]) => (asked.push(origins.length), crawl.robots(origins)),
    };
    const rows: [string, string | undefined][] = [];
    for await (const { view, robots } of siteRows(far, {})) rows.push([view.site, robots?.state]);
    assert.deepEqual(
      rows,
      names.map((name) => [
        name,
        name === 's7.example' ? 'not-read-yet' : forbids(name) ? 'forbids-all' : 'allows-all',
      ]),
    );
    assert.deepEqual(asked, [RULES_AT_ONCE, RULES_AT_ONCE, 30]);
  }));

test('the rules of an origin are read as they were stored', () =>
  onReadingScene(async ({ store, crawl, clock }) => {
    await store.admit(linksOf('a.example', 1));
    const robots = robotsRead('https://a.example', 'User-agent: *\nDisallow: /x\nCrawl-delay: 2', clock.now());
    const visit = await claimOne(store);
    await store.settle([settlementOf(visit, { robots, page: pageOf(visit) })]);
    assert.deepEqual(await crawl.robots(['http://a.example', 'https://a.example']), [null, robots]);
  }));

test('the place of a link in its queue is the order in which links are claimed, whatever was put first or taken in between', () =>
  onReadingScene(async ({ store, crawl, clock }) => {
    const visitOne = async (fate: 'settled' | 'retry' | 'returned'): Promise<string> => {
      const visit = await claimOne(store);
      await store.settle([settlementOf(visit, { fate })]);
      clock.advance(DELAY_MS);
      return visit.link.url;
    };
    await store.admit(linksOf('a.example', 300)); // several blocks
    for (let n = 0; n < 140; n += 1) await visitOne('settled');
    assert.equal((await crawl.link('https://a.example/142', 'a.example')).open?.ahead, 1, 'the head is half read');
    await store.admit([link('a.example/first', { first: true, depth: 2, via: 'https://b.example/' })]);
    await visitOne('retry');
    await visitOne('returned');
    await store.admit([link('a.example/first-too', { first: true })]);
    await store.admit(linksOf('a.example', 303));

    const known = Array.from({ length: 303 }, (_, n) => `https://a.example/${n + 1}`).concat(
      'https://a.example/first',
      'https://a.example/first-too',
    );
    const places = new Map<string, number>();
    for (const url of known) {
      const { state, open } = await crawl.link(url, 'a.example');
      if (state === 'waiting') places.set(url, open!.ahead);
    }
    assert.deepEqual((await crawl.link('https://a.example/first', 'a.example')).open, {
      link: { ...link('a.example/first'), depth: 2, via: 'https://b.example/' },
      tries: 1,
      ahead: places.size - 4,
    });
    const waiting = async (): Promise<number> => (await crawl.link('', 'a.example')).site?.waiting ?? 0;
    assert.equal(places.size, await waiting());
    const claimed: string[] = [];
    while ((await waiting()) > 0) claimed.push(await visitOne('settled'));
    assert.deepEqual(
      [...places].toSorted(([, a], [, b]) => a - b).map(([url]) => url),
      claimed,
    );
    assert.deepEqual(
      claimed.map((url) => places.get(url)),
      claimed.map((_, n) => n),
    );
    assert.deepEqual((await store.claim(ask())).visits, []);
  }));

test('a link that only begins or ends like one in the queue is another', () =>
  onReadingScene(async ({ store, crawl }) => {
    await store.admit([link('a.example/abc')]);
    for (const url of ['https://a.example/ab', 'https://a.example/abcd', 'a.example/abc', 'https://a.example/']) {
      assert.equal((await crawl.link(url, 'a.example')).state, 'unknown', url);
    }
    assert.equal((await crawl.link('https://a.example/abc', 'a.example')).state, 'waiting');
  }));

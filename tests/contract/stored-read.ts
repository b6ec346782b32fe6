/** What is read of a stored crawl: its census, one link, the rules of origins. */

import assert from 'node:assert/strict';

import { knownTotal } from '../../src/model/census.ts';
import type { CanonicalUrl } from '../../src/model/link.ts';
import type { LinkView } from '../../src/contract/views.ts';
import {
  ask,
  claimOne,
  DELAY_MS,
  EMPTY_CENSUS,
  link,
  linksOf,
  pageOf,
  paceAfter,
  recordsOf,
  settlementOf,
} from './store-scene.ts';
import {
  FAR_FUTURE,
  holdFrom,
  linksFromAfar,
  LONG,
  makeEverything,
  park,
  robotsOf,
  visitSite,
} from './stored-everything.ts';
import { countsOf, type StoredBehaviour } from './stored-scene.ts';

export const readContract = (it: StoredBehaviour): void => {
  censusContract(it);
  linkContract(it);
  robotsContract(it);
};

const censusContract = (it: StoredBehaviour): void => {
  it('the census of a crawl that nobody worked on yet is all zero', async ({ look }) => {
    const { now, changes: _, settled, ...census } = await (await look()).census();
    assert.ok(now > 0);
    assert.deepEqual(
      Object.values(settled).filter((count) => count > 0),
      [],
    );
    assert.deepEqual(census, EMPTY_CENSUS);
  });

  it('the census that is looked at is the one that the store tells', async (scene) => {
    await makeEverything(scene);
    await scene.store.admit(linksOf('leased.example', 3));
    await claimOne(scene.store, { visits: 1 });
    const census = await (await scene.look()).census();
    assert.deepEqual(countsOf(census), countsOf(await scene.store.census()));
    assert.deepEqual(
      [census.leased, census.parked, census.held, census.forgotten, census.pages, census.sites],
      [1, 2, 1, 3, 10, { known: 9, parked: 2, held: 1 }],
    );
    assert.deepEqual([census.archive, census.archivedBytes], [scene.archive.end(), scene.archive.totalBytes()]);
    assert.equal(knownTotal(census), LONG + 1 + 6 + 6 + 7 + 3 + 1 + 4 + 2 + 3);
  });

  it('a census is of the moment it is asked for, whoever changes the crawl meanwhile', async ({ store, look }) => {
    const crawl = await look();
    const before = await crawl.census();
    await store.admit(linksOf('a.example', 2));
    const { waiting, changes } = await crawl.census();
    assert.equal(waiting, 2);
    assert.ok(changes > before.changes);
    assert.equal((await crawl.census()).changes, changes);
  });

  it('a census counts the sites that are due, or tells which is next', async (scene) => {
    const { store, clock, look } = scene;
    await store.admit([...linksOf('a.example', 2), ...linksOf('b.example', 2), ...linksOf('c.example', 1)]);
    const crawl = await look();
    const { sitesDue, next } = await crawl.census();
    assert.deepEqual([sitesDue, next], [3, null]);
    const { visits } = await store.claim(ask());
    await store.settle(
      visits.map((visit) => {
        const dueAt = visit.site === 'b.example' ? FAR_FUTURE : FAR_FUTURE + 1;
        return settlementOf(visit, { pace: paceAfter(visit, { dueAt, failures: 2 }) });
      }),
    );
    clock.advance(DELAY_MS);
    const later = await crawl.census();
    assert.deepEqual([later.sitesDue, later.next], [0, { site: 'b.example', dueAt: FAR_FUTURE, failures: 2 }]);
  });

  it('the time of a census is never before the last moment that the store recorded', async ({ store, clock, look }) => {
    clock.advance(FAR_FUTURE - clock.now());
    await store.admit(linksOf('a.example', 1));
    await store.settle([settlementOf(await claimOne(store))]);
    assert.ok((await (await look()).census()).now >= clock.now());
  });
};

const linkContract = (it: StoredBehaviour): void => {
  it('a link that is settled has its page, as it was settled and with its place', async ({ store, look, archive }) => {
    await store.admit([link('a.example/a?b="c"', { via: 'https://v.example/{}', depth: 2 }), link('a.example/2')]);
    const visit = await claimOne(store);
    const page = pageOf(visit, {
      title: '{"},\\ ü 🕸\n\t',
      status: null,
      redirect: 'https://z.example/',
      bytes: 2 ** 40,
    });
    await store.settle([settlementOf(visit, { page, records: recordsOf('text', 'robots;') })]);
    const view = await (await look()).link(visit.link.url, 'a.example');
    const place = { warc_file: archive.end().file, warc_offset: 7, warc_length: 14, warc_group_length: 24 };
    assert.deepEqual([view.state, view.page, view.open], ['settled', { ...page, ...place }, null]);
    assert.deepEqual([view.site?.site, view.site?.pages, view.site?.waiting], ['a.example', 1, 1]);
    assert.equal(new TextDecoder().decode(archive.read(place)), 'response text;');
  });

  it('a link under visit is leased, with its tries; the others of its site wait', async ({ store, look }) => {
    await store.admit([link('a.example/1', { depth: 3, hops: 2, fallback: true, via: 'https://v.example/' })]);
    await store.admit([link('a.example/2', { sitemap: 'named' })]);
    const visit = await claimOne(store);
    const crawl = await look();
    const leased = await crawl.link(visit.link.url, 'a.example');
    assert.deepEqual(
      [leased.state, leased.open, leased.page, leased.lookedAt],
      ['leased', { link: visit.link, tries: 1, ahead: 0 }, null, 0],
    );
    assert.equal(leased.site?.leased, visit.link.url);
    const other = await crawl.link('https://a.example/2', 'a.example');
    assert.deepEqual(
      [other.state, other.open, other.lookedAt, other.site?.state],
      ['waiting', { link: link('a.example/2', { sitemap: 'named' }), tries: 0, ahead: 0 }, 1, 'leased'],
    );
  });

  it('a link of a parked or a held site is parked or held', async (scene) => {
    await scene.store.admit(linksOf('p.example', 3));
    await park(scene, 'p.example');
    await scene.store.admit(linksOf('h.example', 2));
    await visitSite(scene, 'h.example');
    await holdFrom(scene, 1);
    const crawl = await scene.look();
    const parked = await crawl.link('https://p.example/3', 'p.example');
    assert.deepEqual(
      [parked.state, parked.open, parked.lookedAt, parked.site?.state],
      ['parked', { link: link('p.example/3'), tries: 0, ahead: 1 }, 2, 'parked'],
    );
    const held = await crawl.link('https://h.example/2', 'h.example');
    assert.deepEqual([held.state, held.open?.ahead, held.lookedAt, held.site?.state], ['held', 0, 1, 'held']);
  });

  it('a waiting link is found wherever it stands in a long queue, with the number of links before it', async (scene) => {
    const links = linksFromAfar('a.example', LONG);
    await scene.store.admit(links);
    const crawl = await scene.look();
    for (const ahead of [0, 1, 63, 64, 127, 128, LONG / 2, LONG - 2, LONG - 1]) {
      const { state, open, lookedAt } = await crawl.link(links[ahead]!.url, 'a.example');
      assert.deepEqual([state, open, lookedAt], ['waiting', { link: links[ahead], tries: 0, ahead }, ahead + 1]);
    }
  });

  it('the place of a link is the order of claims, whatever was put first, tried again or given back', async (scene) => {
    const { store, look } = scene;
    const visit = (fate: 'settled' | 'retry' | 'returned') => visitSite(scene, 'a.example', () => ({ fate }));
    await store.admit(linksOf('a.example', 150));
    for (let i = 0; i < 70; i++) await visit('settled');
    await store.admit([link('a.example/first', { first: true, depth: 2, via: 'https://b.example/' })]);
    await visit('retry');
    await visit('returned');
    await visit('retry');
    await store.admit([link('a.example/x', { first: true }), link('a.example/y', { first: true })]);
    await store.admit(linksOf('a.example', 153));
    const expected = ['x', 'y', ...range(72, 150), 'first', '71', '151', '152', '153'];
    const crawl = await look();
    const places = await Promise.all(
      expected.map(async (path) => (await crawl.link(`https://a.example/${path}`, 'a.example')).open?.ahead),
    );
    assert.deepEqual(places, [...expected.keys()]);
    const first = await crawl.link('https://a.example/first', 'a.example');
    assert.deepEqual(first.open, {
      link: link('a.example/first', { depth: 2, via: 'https://b.example/' }),
      tries: 1,
      ahead: expected.indexOf('first'),
    });
    const claimed: string[] = [];
    for (const _ of expected) claimed.push((await visit('settled')).link.url.slice('https://a.example/'.length));
    assert.deepEqual(claimed, expected);
  });

  it('a link that was never admitted is unknown, and its whole queue was looked through', async ({ store, look }) => {
    await store.admit([link('a.example/abc'), link('a.example/other'), link('b.example/1')]);
    const crawl = await look();
    const unknown = { state: 'unknown', page: null, open: null } as const;
    for (const url of [
      'https://a.example/ab',
      'https://a.example/abcd',
      'http://a.example/abc',
      'https://a.example/',
    ]) {
      const { site, ...view } = await crawl.link(url, 'a.example');
      assert.deepEqual(view, { ...unknown, lookedAt: 2 }, url);
      assert.equal(site?.site, 'a.example');
    }
    const nowhere: LinkView = { ...unknown, site: null, lookedAt: 0 };
    assert.deepEqual(await crawl.link('https://nowhere.example/', 'nowhere.example'), nowhere);
  });

  it('a link that was forgotten because its queue was full is unknown', async ({ store, look }) => {
    await store.admit(linksOf('a.example', 3), 2);
    assert.equal((await (await look()).link('https://a.example/3', 'a.example')).state, 'unknown');
  });

  it('a link is looked at as it is now: it waits, is leased, waits again and is settled', async (scene) => {
    const { store, clock, look } = scene;
    await store.admit([link('a.example/1'), link('a.example/2')]);
    const crawl = await look();
    const now = async (): Promise<unknown[]> => {
      const { state, open, lookedAt } = await crawl.link('https://a.example/1', 'a.example');
      return [state, open?.tries, open?.ahead, lookedAt];
    };
    assert.deepEqual(await now(), ['waiting', 0, 0, 1]);
    const visit = await claimOne(store);
    assert.deepEqual(await now(), ['leased', 1, 0, 0]);
    await store.settle([settlementOf(visit, { fate: 'retry' })]);
    assert.deepEqual(await now(), ['waiting', 1, 1, 2]);
    clock.advance(DELAY_MS);
    await visitSite(scene, 'a.example');
    await visitSite(scene, 'a.example');
    assert.equal((await now())[0], 'settled');
  });
};

const range = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, i) => String(from + i));

const robotsContract = (it: StoredBehaviour): void => {
  it('the rules of origins are read as they were stored, in the order asked for', async (scene) => {
    const { store, look } = scene;
    const plain = link('a.example/2', { url: 'http://a.example/2' as CanonicalUrl });
    await store.admit([link('a.example/1'), plain, link('b.example/1')]);
    const [stale, secure] = [
      robotsOf('https://a.example'),
      robotsOf('https://a.example', { rules: '', verdict: 'all' }),
    ];
    const trouble = robotsOf('http://a.example', { verdict: 'trouble', rules: '503', crawlDelayMs: null });
    const other = robotsOf('https://b.example', { verdict: 'too-large', rules: '', expiresAt: FAR_FUTURE });
    await visitSite(scene, 'a.example', () => ({ fate: 'returned', robots: stale }));
    await visitSite(scene, 'a.example', () => ({ robots: secure }));
    await visitSite(scene, 'a.example', () => ({ robots: trouble }));
    await visitSite(scene, 'b.example', () => ({ robots: other }));
    const crawl = await look();
    const origins = [
      'https://b.example',
      'https://c.example',
      'http://a.example',
      'http://b.example',
      'https://a.example',
    ];
    assert.deepEqual(await crawl.robots(origins), [other, null, trouble, null, secure]);
    assert.deepEqual(await crawl.robots(['https://a.example', 'https://a.example']), [secure, secure]);
    assert.deepEqual(await crawl.robots([]), []);
  });
};

/** How a store hands out visits. */

import assert from 'node:assert/strict';

import { shardOf } from '../../src/url/shard.ts';
import {
  ALL_SHARDS,
  ask,
  claimBySite,
  claimNothing,
  claimOne,
  DELAY_MS,
  link,
  linksOf,
  pageOf,
  paceAfter,
  settlementOf,
  sitesInShard,
} from './store-scene.ts';
import type { Behaviour } from './store-scene.ts';

export const claimContract = (it: Behaviour): void => {
  it('a claim gives one link of each site that is due', async ({ store, clock }) => {
    await store.admit([...linksOf('a.example', 3), ...linksOf('b.example', 3)]);
    const visits = await claimBySite(store);
    assert.deepEqual([...visits.keys()].sort(), ['a.example', 'b.example']);
    for (const visit of visits.values()) {
      assert.equal(visit.link.url, `https://${visit.site}/1`);
      assert.equal(visit.tries, 1);
      assert.equal(visit.claimedAt, clock.now());
      assert.equal(visit.robots, null);
    }
    const census = await store.census();
    assert.deepEqual([census.leased, census.waiting], [2, 4]);
  });

  it('a site under lease is not handed out again, even after its delay and to another holder', async (scene) => {
    const { store, clock } = scene;
    await store.admit(linksOf('a.example', 3));
    await claimOne(store);
    clock.advance(1_000 * DELAY_MS);
    assert.deepEqual((await store.claim(ask())).visits, []);
    assert.deepEqual((await store.claim(ask({ holder: 'fetch-2' }))).visits, []);
  });

  it('claims at the same time never share a site, and no two leases share a number', async ({ store }) => {
    await store.admit(Array.from({ length: 60 }, (_, i) => link(`s${i}.example/1`)));
    const holders = ['fetch-1', 'fetch-2', 'fetch-3', 'fetch-4'];
    const claims = await Promise.all(holders.map((holder) => store.claim(ask({ holder, visits: 20 }))));
    const visits = claims.flatMap((claimed) => claimed.visits);
    assert.equal(visits.length, 60);
    assert.equal(new Set(visits.map((visit) => visit.site)).size, 60);
    assert.equal(new Set(visits.map((visit) => visit.lease)).size, 60);
  });

  it('a site is due at the moment its clock says, not before', async ({ store, clock }) => {
    await store.admit(linksOf('a.example', 2));
    const visit = await claimOne(store);
    await store.settle([settlementOf(visit, { pace: paceAfter(visit, { dueAt: clock.now() + 1_234 }) })]);
    clock.advance(1_233);
    assert.deepEqual((await store.claim(ask())).visits, []);
    assert.equal((await store.census()).sitesDue, 0);
    clock.advance(1);
    assert.equal((await store.census()).sitesDue, 1);
    assert.equal((await claimOne(store)).link.url, 'https://a.example/2');
  });

  it('a visit carries the pace its site had before the claim', async ({ store, clock }) => {
    await store.admit(linksOf('a.example', 2));
    const visit = await claimOne(store);
    const pace = { dueAt: clock.now() + 9_000, delayMs: 8_000, crawlDelayMs: 7_000, responseMs: 61, failures: 4 };
    await store.settle([settlementOf(visit, { pace })]);
    clock.advance(20_000);
    const again = await claimOne(store);
    assert.deepEqual(again.pace, pace);
    assert.equal(again.claimedAt, clock.now());
  });

  it('only sites of the shards that were asked for are given', async ({ store }) => {
    const names = Array.from({ length: 100 }, (_, i) => `s${i}.example`);
    await store.admit(names.map((name) => link(`${name}/1`)));
    const shards = ALL_SHARDS.filter((shard) => shard % 3 === 1);
    const wanted = names.filter((name) => shards.includes(shardOf(name)));
    assert.ok(wanted.length > 0 && wanted.length < names.length);
    assert.deepEqual([...(await claimBySite(store, { shards })).keys()].sort(), wanted.sort());
    await claimNothing(store, { shards: [] });
    assert.equal((await claimBySite(store)).size, names.length - wanted.length);
  });

  it('within a shard the site that is due longest goes first', async ({ store, clock }) => {
    const sites = sitesInShard(5, 4);
    await store.admit(sites.flatMap((site) => linksOf(site, 2)));
    const visits = await claimBySite(store);
    const dueAfterMs = [300, 100, 400, 200];
    const settlements = sites.map((site, i) => {
      const visit = visits.get(site);
      assert.ok(visit);
      return settlementOf(visit, { pace: paceAfter(visit, { dueAt: clock.now() + (dueAfterMs[i] ?? 0) }) });
    });
    await store.settle(settlements);
    clock.advance(1_000);
    const order = [sites[1], sites[3], sites[0], sites[2]];
    const early = await store.claim(ask({ visits: 3 }));
    assert.deepEqual(
      early.visits.map((visit) => visit.site),
      order.slice(0, 3),
    );
    assert.deepEqual(
      (await store.claim(ask())).visits.map((visit) => visit.site),
      order.slice(3),
    );
  });

  it('no more visits are given than were asked for', async ({ store }) => {
    await store.admit(Array.from({ length: 9 }, (_, i) => link(`s${i}.example/1`)));
    assert.equal((await store.claim(ask({ visits: 0 }))).visits.length, 0);
    assert.equal((await store.claim(ask({ visits: 4 }))).visits.length, 4);
    assert.equal((await store.claim(ask({ visits: 4 }))).visits.length, 4);
    assert.equal((await store.claim(ask({ visits: 4 }))).visits.length, 1);
    assert.equal((await store.census()).leased, 9);
  });

  it('a claim says when the next site of its shards is due', async ({ store, clock }) => {
    const [early = '', late = ''] = sitesInShard(7, 2);
    const [elsewhere = ''] = sitesInShard(8, 1);
    assert.equal((await store.claim(ask())).nextDueAt, null);
    await store.admit([early, late, elsewhere].flatMap((site) => linksOf(site, 2)));
    const some = await store.claim(ask({ shards: [7], visits: 1 }));
    assert.ok(some.nextDueAt !== null && some.nextDueAt <= clock.now(), 'a site that is due already is the next one');
    const visits = [...some.visits, ...(await store.claim(ask())).visits];
    const dueAt = new Map([
      [early, clock.now() + 3_000],
      [late, clock.now() + 4_000],
      [elsewhere, clock.now() + 50],
    ]);
    await store.settle(
      visits.map((visit) => settlementOf(visit, { pace: paceAfter(visit, { dueAt: dueAt.get(visit.site) ?? 0 }) })),
    );
    assert.equal((await store.claim(ask({ shards: [7] }))).nextDueAt, dueAt.get(early));
    assert.equal((await store.claim(ask())).nextDueAt, dueAt.get(elsewhere));
    clock.advance(3_000);
    assert.equal((await store.claim(ask({ shards: [7] }))).nextDueAt, dueAt.get(late));
  });

  it('a site with nothing left to visit is no next site', async ({ store }) => {
    await store.admit([link('a.example/1')]);
    await store.settle([settlementOf(await claimOne(store))]);
    await claimNothing(store);
    assert.equal((await store.census()).next, null);
  });

  it('the page limit is exact, leases under way included', async ({ store, clock }) => {
    await store.admit(Array.from({ length: 20 }, (_, i) => link(`s${i}.example/1`)));
    const first = await store.claim(ask({ pagesMax: 5, visits: 3 }));
    assert.equal(first.visits.length, 3);
    const second = await store.claim(ask({ pagesMax: 5, holder: 'fetch-2' }));
    assert.equal(second.visits.length, 2);
    assert.equal((await store.claim(ask({ pagesMax: 5 }))).visits.length, 0);
    // Two of them turn out to be no pages: they leave room for two others.
    const [denied, failed, ...answered] = [...first.visits, ...second.visits];
    assert.ok(denied && failed);
    await store.settle([
      settlementOf(denied, { page: pageOf(denied, { outcome: 'robots-denied', status: null }) }),
      settlementOf(failed, { page: pageOf(failed, { outcome: 'failed-timeout', status: null }) }),
      ...answered.map((visit) => settlementOf(visit)),
    ]);
    clock.advance(DELAY_MS);
    const third = await store.claim(ask({ pagesMax: 5 }));
    assert.equal(third.visits.length, 2);
    await store.settle(third.visits.map((visit) => settlementOf(visit)));
    assert.equal((await store.claim(ask({ pagesMax: 5 }))).visits.length, 0);
    assert.equal((await store.census()).pages, 5);
    assert.equal((await store.claim(ask({ pagesMax: 4 }))).visits.length, 0, 'a limit already passed leaves no room');
  });

  it('a site that reached its own page limit is held instead of visited', async ({ store, clock }) => {
    await store.admit([...linksOf('a.example', 4), ...linksOf('b.example', 2)]);
    for (let round = 0; round < 2; round++) {
      const { visits } = await store.claim(ask({ sitePagesMax: { all: 2 } }));
      assert.equal(visits.length, 2);
      await store.settle(
        visits.map((visit) => {
          const answered = visit.site === 'a.example' || round > 0;
          return settlementOf(visit, { page: pageOf(visit, { outcome: answered ? 'fetched' : 'robots-denied' }) });
        }),
      );
      clock.advance(DELAY_MS);
    }
    await store.admit([link('b.example/3')]);
    const third = await claimOne(store, { sitePagesMax: { all: 2 } });
    assert.equal(third.site, 'b.example', 'only pages count towards the limit');
    const census = await store.census();
    assert.deepEqual([census.waiting, census.leased, census.held, census.sites.held], [0, 1, 2, 1]);
    await claimNothing(store);
  });

  it('a site with a budget of its own is held by that one, whatever holds for the others', async ({ store, clock }) => {
    await store.admit(['a.example', 'b.example', 'c.example'].flatMap((site) => linksOf(site, 4)));
    const sitePagesMax = { all: 2, sites: { 'a.example': 1, 'b.example': null, 'never.example': 7 } };
    const visited: string[][] = [];
    for (let round = 0; round < 4; round++) {
      const { visits } = await store.claim(ask({ sitePagesMax }));
      visited.push(visits.map(({ site }) => site).toSorted());
      await store.settle(visits.map((visit) => settlementOf(visit)));
      clock.advance(DELAY_MS);
    }
    assert.deepEqual(visited, [
      ['a.example', 'b.example', 'c.example'],
      ['b.example', 'c.example'],
      ['b.example'],
      ['b.example'],
    ]);
    const census = await store.census();
    assert.deepEqual([census.pages, census.waiting, census.held, census.sites.held], [7, 0, 5, 2]);
  });
};

/** How a store takes in links. */

import assert from 'node:assert/strict';

import type { Admitted } from '../../src/contract/store.ts';
import {
  ask,
  claimBySite,
  claimNothing,
  claimOne,
  DELAY_MS,
  link,
  linksOf,
  paceAfter,
  settlementOf,
  visitAll,
} from './store-scene.ts';
import type { Behaviour } from './store-scene.ts';

const admittedAs = (admitted: number, seen: number): Admitted => ({ admitted, seen, forgotten: 0, full: [] });

export const admitContract = (it: Behaviour): void => {
  it('a link is admitted once, within a batch and over batches', async ({ store }) => {
    const twice = [link('a.example/1'), link('a.example/2'), link('a.example/1')];
    assert.deepEqual(await store.admit(twice), admittedAs(2, 1));
    assert.deepEqual(await store.admit([link('a.example/2'), link('b.example/1')]), admittedAs(1, 1));
    assert.equal((await store.census()).waiting, 3);
  });

  it('a link that is leased or settled is not admitted again', async ({ store }) => {
    await store.admit([link('a.example/1')]);
    const visit = await claimOne(store);
    assert.deepEqual(await store.admit([link('a.example/1')]), admittedAs(0, 1));
    await store.settle([settlementOf(visit)]);
    assert.deepEqual(await store.admit([link('a.example/1')]), admittedAs(0, 1));
    assert.equal((await store.census()).waiting, 0);
  });

  it('an empty batch is answered and changes nothing', async ({ store }) => {
    const before = await store.census();
    assert.deepEqual(await store.admit([]), admittedAs(0, 0));
    assert.deepEqual(await store.census(), before);
  });

  it('the links of a site are visited in the order they were admitted', async (scene) => {
    await scene.store.admit([link('a.example/1'), link('a.example/2')]);
    await scene.store.admit([link('a.example/3'), link('a.example/2'), link('a.example/4')]);
    assert.deepEqual(await visitAll(scene), ['/1', '/2', '/3', '/4']);
  });

  it('a link marked first goes to the head of its queue, and several of a batch keep their order', async (scene) => {
    await scene.store.admit(linksOf('a.example', 2));
    await scene.store.admit([
      link('a.example/x', { first: true }),
      link('a.example/3'),
      link('a.example/y', { first: true }),
    ]);
    await scene.store.admit([link('a.example/z', { first: true })]);
    assert.deepEqual(await visitAll(scene), ['/z', '/x', '/y', '/1', '/2', '/3']);
  });

  it('a visit brings back what its link was admitted with', async ({ store }) => {
    const given = link('a.example/caf%C3%A9?q=1', { depth: 7, via: 'https://b.example/"\'', hops: 3, fallback: true });
    await store.admit([given]);
    const { first: _, ...known } = (await claimOne(store)).link;
    const { first: __, ...expected } = given;
    assert.deepEqual(known, expected);
  });

  it('a sitemap stays one while it waits, is given back, is tried again and is freed', async ({ store, clock }) => {
    for (const sitemap of ['named', 'listed'] as const) {
      await store.admit([link(`${sitemap}.example/s.xml.gz`, { sitemap })]);
      for (const fate of ['returned', 'retry', 'freed', 'settled'] as const) {
        clock.advance(2 * DELAY_MS);
        const visit = await claimOne(store);
        assert.equal(visit.link.sitemap, sitemap);
        if (fate === 'freed') await store.steer([{ kind: 'free', holder: null, counted: true }]);
        else await store.settle([settlementOf(visit, { fate })]);
      }
    }
  });

  it('a new site may be visited at once', async ({ store, clock }) => {
    await store.admit([link('a.example/1')]);
    assert.equal((await store.census()).sitesDue, 1);
    const visit = await claimOne(store);
    assert.equal(visit.pace.dueAt, clock.now());
    assert.equal(visit.pace.failures, 0);
  });

  it('admitting never makes a site due that waits', async ({ store, clock }) => {
    await store.admit([link('a.example/1')]);
    const visit = await claimOne(store);
    await store.settle([settlementOf(visit, { pace: paceAfter(visit, { dueAt: clock.now() + 70_000 }) })]);
    await store.admit([link('a.example/2'), link('a.example/3', { first: true })]);
    clock.advance(69_999);
    assert.deepEqual((await store.claim(ask())).visits, []);
    clock.advance(1);
    assert.equal((await claimOne(store)).link.url, 'https://a.example/3');
  });

  it('admitting never hands out a site that is leased', async ({ store, clock }) => {
    await store.admit([link('a.example/1')]);
    await claimOne(store);
    await store.admit([link('a.example/2'), link('a.example/3', { first: true })]);
    clock.advance(100 * DELAY_MS);
    assert.deepEqual((await store.claim(ask())).visits, []);
    const census = await store.census();
    assert.deepEqual([census.leased, census.waiting, census.sitesDue], [1, 2, 0]);
  });

  it('a link to a parked site is parked, one to a held site is held', async ({ store, clock }) => {
    await store.admit([...linksOf('p.example', 2), ...linksOf('h.example', 2)]);
    const visits = await claimBySite(store);
    await store.settle(
      [...visits.values()].map((visit) => settlementOf(visit, { parked: visit.site === 'p.example' })),
    );
    clock.advance(DELAY_MS);
    await claimNothing(store, { sitePagesMax: { all: 1 } });
    await store.admit([link('p.example/3'), link('p.example/4', { first: true }), link('h.example/3')]);
    const census = await store.census();
    assert.deepEqual([census.waiting, census.parked, census.held], [0, 3, 2]);
    assert.deepEqual(census.sites, { known: 2, parked: 1, held: 1 });
    assert.deepEqual((await store.claim(ask())).visits, []);
  });

  it('a site whose queue is full takes no more: what comes is counted and forgotten', async (scene) => {
    const { store } = scene;
    assert.deepEqual(await store.admit([...linksOf('a.example', 5), link('b.example/1')], 3), {
      admitted: 4,
      seen: 0,
      forgotten: 2,
      full: ['a.example'],
    });
    assert.deepEqual(await store.admit([link('a.example/1'), link('a.example/4')], 3), {
      admitted: 0,
      seen: 1,
      forgotten: 1,
      full: ['a.example'],
    });
    const census = await store.census();
    assert.deepEqual([census.waiting, census.forgotten], [4, 3]);
    assert.deepEqual((await visitAll(scene)).sort(), ['/1', '/1', '/2', '/3']);
  });

  it('a link that was forgotten can come again when there is room, also after a crash', async (scene) => {
    await scene.store.admit(linksOf('a.example', 4), 2);
    await scene.crash();
    await scene.store.settle([settlementOf(await claimOne(scene.store))]);
    assert.deepEqual(await scene.store.admit([link('a.example/2'), link('a.example/4'), link('a.example/3')], 2), {
      admitted: 1,
      seen: 1,
      forgotten: 1,
      full: ['a.example'],
    });
    scene.clock.advance(DELAY_MS);
    assert.deepEqual(await visitAll(scene), ['/2', '/4']);
    assert.equal((await scene.store.census()).forgotten, 3);
  });

  it('a link that goes first is taken by a full queue too, and a retry or a return finds its place', async (scene) => {
    const { store } = scene;
    await store.admit(linksOf('a.example', 2), 2);
    const visit = await claimOne(store);
    assert.equal((await store.admit([link('a.example/3')], 2)).admitted, 1);
    assert.equal((await store.admit([link('a.example/x', { first: true })], 2)).admitted, 1);
    await store.settle([settlementOf(visit, { fate: 'retry' })]);
    scene.clock.advance(DELAY_MS);
    assert.deepEqual(await visitAll(scene), ['/x', '/2', '/3', '/1']);
  });

  it('a parked or held site that is full takes no more either', async ({ store, clock }) => {
    await store.admit([...linksOf('p.example', 2), ...linksOf('h.example', 2)]);
    const visits = await claimBySite(store);
    await store.settle(
      [...visits.values()].map((visit) => settlementOf(visit, { parked: visit.site === 'p.example' })),
    );
    clock.advance(DELAY_MS);
    await store.claim(ask({ sitePagesMax: { all: 1 } }));
    assert.equal((await store.admit([link('p.example/3'), link('h.example/3')], 1)).forgotten, 2);
    const census = await store.census();
    assert.deepEqual([census.parked, census.held, census.forgotten], [1, 1, 2]);
  });
};

/** How a store takes in links. */

import assert from 'node:assert/strict';

import { ask, claimBySite, claimOne, DELAY_MS, link, linksOf, paceAfter, settlementOf, walkLine } from './store-scene.ts';
import type { Behaviour } from './store-scene.ts';

export const admitContract = (it: Behaviour): void => {
  it('a link is admitted once, within a batch and over batches', async ({ store }) => {
    const twice = [link('a.example/1'), link('a.example/2'), link('a.example/1')];
    assert.deepEqual(await store.admit(twice), { admitted: 2, seen: 1 });
    assert.deepEqual(await store.admit([link('a.example/2'), link('b.example/1')]), { admitted: 1, seen: 1 });
    assert.equal((await store.census()).waiting, 3);
  });

  it('a link that is leased or settled is not admitted again', async ({ store }) => {
    await store.admit([link('a.example/1')]);
    const visit = await claimOne(store);
    assert.deepEqual(await store.admit([link('a.example/1')]), { admitted: 0, seen: 1 });
    await store.settle([settlementOf(visit)]);
    assert.deepEqual(await store.admit([link('a.example/1')]), { admitted: 0, seen: 1 });
    assert.equal((await store.census()).waiting, 0);
  });

  it('an empty batch is answered and changes nothing', async ({ store }) => {
    const before = await store.census();
    assert.deepEqual(await store.admit([]), { admitted: 0, seen: 0 });
    assert.deepEqual(await store.census(), before);
  });

  it('the links of a site are visited in the order they were admitted', async (scene) => {
    await scene.store.admit([link('a.example/1'), link('a.example/2')]);
    await scene.store.admit([link('a.example/3'), link('a.example/2'), link('a.example/4')]);
    assert.deepEqual(await walkLine(scene), ['/1', '/2', '/3', '/4']);
  });

  it('a link marked first goes to the head of its line, and several of a batch keep their order', async (scene) => {
    await scene.store.admit(linksOf('a.example', 2));
    await scene.store.admit([
      link('a.example/x', { first: true }),
      link('a.example/3'),
      link('a.example/y', { first: true }),
    ]);
    await scene.store.admit([link('a.example/z', { first: true })]);
    assert.deepEqual(await walkLine(scene), ['/z', '/x', '/y', '/1', '/2', '/3']);
  });

  it('a visit brings back what its link was admitted with', async ({ store }) => {
    const given = link('a.example/caf%C3%A9?q=1', { depth: 7, via: 'https://b.example/"\'', hops: 3, fallback: true });
    await store.admit([given]);
    const { first: _, ...known } = (await claimOne(store)).link;
    const { first: __, ...expected } = given;
    assert.deepEqual(known, expected);
  });

  it('a new site may be called at once', async ({ store, clock }) => {
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
    await store.settle([...visits.values()].map((visit) => settlementOf(visit, { parked: visit.site === 'p.example' })));
    clock.advance(DELAY_MS);
    assert.deepEqual(await store.claim(ask({ sitePagesMax: 1 })), { visits: [], nextDueAt: null });
    await store.admit([link('p.example/3'), link('p.example/4', { first: true }), link('h.example/3')]);
    const census = await store.census();
    assert.deepEqual([census.waiting, census.parked, census.held], [0, 3, 2]);
    assert.deepEqual(census.sites, { known: 2, parked: 1, held: 1 });
    assert.deepEqual((await store.claim(ask())).visits, []);
  });
};

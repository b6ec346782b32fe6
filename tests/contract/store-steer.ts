/** How a store is steered, counts, and ends. */

import assert from 'node:assert/strict';

import { CLAIMS_MAX, type Store } from '../../src/contract/store.ts';
import { knownTotal } from '../../src/model/census.ts';
import {
  ask,
  claimBySite,
  claimOne,
  DELAY_MS,
  EMPTY_CENSUS,
  link,
  linksOf,
  pageOf,
  paceAfter,
  settlementOf,
} from './store-scene.ts';
import type { Behaviour } from './store-scene.ts';

export const steerContract = (it: Behaviour): void => {
  it('a freed link is back at the head of its queue, and its site waits a full delay from then', async (scene) => {
    const { store, clock } = scene;
    await store.admit(linksOf('a.example', 2));
    await claimOne(store);
    clock.advance(DELAY_MS - 1);
    await store.steer([{ kind: 'free', holder: null, counted: true }]);
    const { next, leased, waiting } = await store.census();
    assert.deepEqual([next?.site, next?.dueAt, leased, waiting], ['a.example', clock.now() + DELAY_MS, 0, 2]);
    clock.advance(DELAY_MS - 1);
    assert.deepEqual((await store.claim(ask())).visits, []);
    clock.advance(1);
    const again = await claimOne(store);
    assert.deepEqual([again.link.url, again.tries], ['https://a.example/1', 2]);
  });

  it('a freed site waits the delay in force for it, not the default one', async ({ store, clock }) => {
    await store.admit(linksOf('a.example', 2));
    const visit = await claimOne(store);
    await store.settle([settlementOf(visit, { pace: paceAfter(visit, { delayMs: 9 * DELAY_MS, failures: 2 }) })]);
    clock.advance(DELAY_MS);
    await claimOne(store);
    await store.steer([{ kind: 'free', holder: null, counted: true }]);
    const { next } = await store.census();
    assert.deepEqual(next, { site: 'a.example', dueAt: clock.now() + 9 * DELAY_MS, failures: 2 });
  });

  it('freeing without counting takes the claim back', async ({ store, clock }) => {
    await store.admit(linksOf('a.example', 2));
    for (let i = 0; i < CLAIMS_MAX + 2; i++) {
      const visit = await claimOne(store);
      assert.deepEqual([visit.link.url, visit.tries], ['https://a.example/1', 1]);
      await store.steer([{ kind: 'free', holder: 'fetch-1', counted: false }]);
      assert.equal((await store.census()).next?.dueAt, clock.now() + DELAY_MS);
      clock.advance(DELAY_MS);
    }
  });

  it('a last claim that is taken back does not give the link up', async ({ store, clock, pages }) => {
    await store.admit(linksOf('a.example', 1));
    for (let i = 1; i <= CLAIMS_MAX; i++) {
      await claimOne(store);
      await store.steer([{ kind: 'free', holder: null, counted: i < CLAIMS_MAX }]);
      clock.advance(DELAY_MS);
    }
    assert.deepEqual(await pages(), []);
    assert.equal((await claimOne(store)).tries, CLAIMS_MAX);
  });

  it('only the leases of the holder that died are freed', async ({ store }) => {
    await store.admit([link('a.example/1'), link('b.example/1'), link('c.example/1')]);
    const mine = await claimOne(store, { holder: 'fetch-1', visits: 1 });
    const theirs = (await store.claim(ask({ holder: 'fetch-2' }))).visits;
    await store.steer([{ kind: 'free', holder: 'fetch-2', counted: true }]);
    const census = await store.census();
    assert.deepEqual([census.leased, census.waiting], [1, 2]);
    const done = await store.settle([mine, ...theirs].map((visit) => settlementOf(visit)));
    assert.deepEqual(done, { settled: 1, refused: 2, refusedAt: [1, 2] });
  });

  it('a link that the crawl did not survive too often is given up', async ({ store, clock, pages }) => {
    await store.admit([link('a.example/1', { depth: 3, via: 'https://b.example/' }), link('a.example/2')]);
    for (let i = 1; i <= CLAIMS_MAX; i++) {
      assert.deepEqual(await pages(), []);
      const visit = await claimOne(store);
      assert.deepEqual([visit.link.url, visit.tries], ['https://a.example/1', i]);
      await store.steer([{ kind: 'free', holder: null, counted: true }]);
      assert.equal((await store.census()).next?.dueAt, clock.now() + DELAY_MS);
      clock.advance(DELAY_MS);
    }
    const [row, ...others] = await pages();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [row?.url, row?.site, row?.outcome, row?.status, row?.tries, row?.depth, row?.via, row?.warc_file],
      ['https://a.example/1', 'a.example', 'gave-up', null, CLAIMS_MAX, 3, 'https://b.example/', null],
    );
    const census = await store.census();
    assert.deepEqual([census.settled['gave-up'], census.pages, census.waiting, census.leased], [1, 0, 1, 0]);
    assert.equal((await claimOne(store)).link.url, 'https://a.example/2');
  });

  it('parked sites wait again when they are to be retried, with no failures', async ({ store, clock }) => {
    await store.admit([...linksOf('a.example', 2), ...linksOf('b.example', 2)]);
    const visits = await claimBySite(store);
    await store.settle(
      [...visits.values()].map((visit) =>
        settlementOf(visit, {
          fate: 'retry',
          parked: visit.site === 'a.example',
          pace: paceAfter(visit, { failures: 6 }),
        }),
      ),
    );
    await store.steer([{ kind: 'retry-parked' }]);
    const census = await store.census();
    assert.deepEqual([census.waiting, census.parked, census.sites.parked], [4, 0, 0]);
    clock.advance(DELAY_MS);
    const again = await claimBySite(store);
    assert.equal(again.get('a.example')?.pace.failures, 0);
    assert.equal(again.get('b.example')?.pace.failures, 6, 'a site that was not parked keeps its failures');
    assert.equal(again.get('a.example')?.link.url, 'https://a.example/2');
    await store.admit([link('a.example/3')]);
    assert.equal((await store.census()).parked, 0);
  });

  it('held sites wait again when their budget is raised above what they have, or lifted', async ({ store, clock }) => {
    await store.admit([...linksOf('a.example', 5), ...linksOf('b.example', 5)]);
    for (let round = 0; round < 3; round++) {
      const { visits } = await store.claim(ask());
      await store.settle(
        visits.map((visit) => {
          const answered = visit.site === 'a.example' || round === 0;
          return settlementOf(visit, { page: pageOf(visit, { outcome: answered ? 'fetched' : 'failed-reset' }) });
        }),
      );
      clock.advance(DELAY_MS);
    }
    assert.deepEqual((await store.claim(ask({ sitePagesMax: { all: 1 } }))).visits, []);
    assert.equal((await store.census()).held, 4);
    await store.steer([{ kind: 'release-held', sitePagesMax: { all: 1 } }]);
    assert.equal((await store.census()).held, 4, 'no site is below this budget');
    await store.steer([{ kind: 'release-held', sitePagesMax: { all: 3 } }]);
    const some = await store.census();
    assert.deepEqual([some.waiting, some.held, some.sites.held, some.sitesDue], [2, 2, 1, 1]);
    assert.equal((await claimOne(store, { sitePagesMax: { all: 3 } })).site, 'b.example');
    await store.steer([{ kind: 'release-held', sitePagesMax: { all: null } }]);
    const all = await store.census();
    assert.deepEqual([all.held, all.sites.held], [0, 0]);
    assert.equal((await claimOne(store)).link.url, 'https://a.example/4');
  });

  it('a held site is brought back by its own budget, and not by that of the others', async ({ store, clock }) => {
    await store.admit(['a.example', 'b.example', 'c.example'].flatMap((site) => linksOf(site, 4)));
    await store.settle((await store.claim(ask())).visits.map((visit) => settlementOf(visit)));
    clock.advance(DELAY_MS);
    assert.deepEqual((await store.claim(ask({ sitePagesMax: { all: 1 } }))).visits, []);
    assert.equal((await store.census()).sites.held, 3);
    await store.steer([{ kind: 'release-held', sitePagesMax: { all: 1, sites: { 'a.example': 2 } } }]);
    assert.deepEqual([(await store.census()).sites.held, (await store.census()).waiting], [2, 3]);
    await store.steer([{ kind: 'release-held', sitePagesMax: { all: null, sites: { 'b.example': 1 } } }]);
    assert.deepEqual([(await store.census()).sites.held, (await store.census()).waiting], [1, 6]);
    await store.steer([{ kind: 'release-held', sitePagesMax: { all: 1, sites: { 'b.example': null } } }]);
    assert.deepEqual([(await store.census()).sites.held, (await store.census()).waiting], [0, 9]);
  });

  it('marks are remembered, the last value of each name', async (scene) => {
    await scene.store.steer([
      { kind: 'mark', name: 'seeds', value: 1_000 },
      { kind: 'mark', name: 'other', value: 2 ** 40 },
      { kind: 'mark', name: 'seeds', value: 2_000 },
    ]);
    assert.deepEqual((await scene.store.census()).marks, { seeds: 2_000, other: 2 ** 40 });
    await scene.crash();
    assert.deepEqual((await scene.store.census()).marks, { seeds: 2_000, other: 2 ** 40 });
  });

  it('the census of an empty crawl is all zero', async ({ store, clock }) => {
    const { changes: _, settled, ...census } = await store.census();
    assert.deepEqual(
      Object.values(settled).filter((count) => count > 0),
      [],
    );
    assert.deepEqual(census, { ...EMPTY_CENSUS, now: clock.now() });
  });

  it('changes grow with every call that changed something, and only then', async ({ store, clock }) => {
    let last = (await store.census()).changes;
    const expect = async (grown: boolean, what: string): Promise<void> => {
      const { changes } = await store.census();
      assert.equal(changes > last, grown, `${what}: ${last} -> ${changes}`);
      last = changes;
    };
    await store.admit(linksOf('a.example', 3));
    await expect(true, 'new links');
    await store.admit(linksOf('a.example', 3));
    await expect(false, 'links that were seen');
    const visit = await claimOne(store);
    await expect(true, 'a claim');
    await store.claim(ask());
    await expect(false, 'a claim of nothing');
    await store.settle([settlementOf(visit, { fate: 'returned' })]);
    await expect(true, 'a settlement');
    await store.settle([settlementOf(visit)]);
    await expect(false, 'a refused settlement');
    clock.advance(DELAY_MS);
    await expect(false, 'time');
    await claimOne(store);
    await expect(true, 'a second claim');
    await store.steer([{ kind: 'free', holder: null, counted: true }]);
    await expect(true, 'a freed lease');
    clock.advance(DELAY_MS);
    await store.claim(ask({ sitePagesMax: { all: 0 } }));
    await expect(true, 'a site held');
    await store.steer([{ kind: 'mark', name: 'seeds', value: 1 }]);
    await expect(true, 'a mark');
    assert.equal(knownTotal(await store.census()), 3);
  });

  it('after it is closed, every verb is refused', async (scene) => {
    const { store } = scene;
    await store.admit(linksOf('a.example', 3));
    const visit = await claimOne(store);
    await store.close();
    const verbs: ((closed: Store) => Promise<unknown>)[] = [
      (closed) => closed.admit([link('a.example/9')]),
      (closed) => closed.claim(ask()),
      (closed) => closed.settle([settlementOf(visit)]),
      (closed) => closed.steer([{ kind: 'mark', name: 'seeds', value: 1 }]),
      (closed) => closed.census(),
    ];
    for (const verb of verbs) await assert.rejects(verb(store));
    await scene.crash();
    const census = await scene.store.census();
    assert.deepEqual([census.waiting, census.leased, census.marks], [3, 0, {}], 'what was answered is kept');
  });
};

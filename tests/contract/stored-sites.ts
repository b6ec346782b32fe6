/** Sites of a stored crawl as people list them. */

import assert from 'node:assert/strict';

import { SITE_SORTS, SITES_SORTED_MAX, type SiteSort, type SiteView } from '../../src/contract/views.ts';
import type { Settlement } from '../../src/model/settlement.ts';
import type { Visit } from '../../src/model/visit.ts';
import {
  claimBySite,
  DELAY_MS,
  link,
  linksOf,
  paceAfter,
  settlementOf,
  sitesInShard,
  type Scene,
} from './store-scene.ts';
import { holdFrom, visitSite } from './stored-everything.ts';
import { sitesIn, type StoredBehaviour } from './stored-scene.ts';

/** All in one shard: which of several shards a store gives first is known roughly, where it keeps them apart. */
const [BUSY, IDLE, MANY, SLOW, ILL] = sitesInShard(5, 5) as [string, string, string, string, string];

/** Five sites that differ in everything a list can be sorted by. */
const makeFive = async ({ store, clock }: Scene): Promise<number> => {
  for (const [site, count] of [
    [BUSY, 2],
    [IDLE, 1],
    [MANY, 6],
    [SLOW, 3],
    [ILL, 2],
  ] as const)
    await store.admit(linksOf(site, count));
  const visits = await claimBySite(store);
  const settle = async (site: string, changes: (visit: Visit) => Partial<Settlement>): Promise<void> => {
    const visit = visits.get(site)!;
    await store.settle([settlementOf(visit, changes(visit))]);
  };
  const now = clock.now();
  await settle(IDLE, () => ({}));
  await settle(MANY, (visit) => ({ pace: paceAfter(visit, { dueAt: now + 1_000, delayMs: 1_000 }) }));
  await settle(SLOW, (visit) => ({ pace: paceAfter(visit, { dueAt: now + 60_000, delayMs: 60_000.5 }) }));
  await settle(ILL, (visit) => ({
    fate: 'retry',
    parked: true,
    pace: paceAfter(visit, { failures: 6, delayMs: 0, crawlDelayMs: 2_500 }),
  }));
  return now;
};

export const sitesContract = (it: StoredBehaviour): void => {
  it('sites are listed as they were found', async (scene) => {
    await makeFive(scene);
    assert.deepEqual(
      (await sitesIn(await scene.look())).map(({ site }) => site),
      [BUSY, IDLE, MANY, SLOW, ILL],
    );
  });

  const sorted: Record<SiteSort, readonly string[]> = {
    waiting: [MANY, SLOW, ILL, BUSY, IDLE],
    pages: [IDLE, MANY, SLOW, BUSY, ILL],
    failures: [ILL, BUSY, IDLE, MANY, SLOW],
    next: [MANY, BUSY, SLOW, IDLE, ILL],
    name: [BUSY, IDLE, MANY, SLOW, ILL].toSorted(),
    delay: [SLOW, BUSY, IDLE, MANY, ILL],
  };
  for (const sort of Object.keys(SITE_SORTS) as SiteSort[]) {
    it(`a list of sites sorted by ${sort} has ${SITE_SORTS[sort]}, and equal ones as they were found`, async (scene) => {
      await makeFive(scene);
      const crawl = await scene.look();
      const names = (views: readonly SiteView[]): string[] => views.map(({ site }) => site);
      assert.deepEqual(names(await sitesIn(crawl, { sort })), sorted[sort]);
      assert.deepEqual(names(await sitesIn(crawl, { sort, limit: 2 })), sorted[sort].slice(0, 2));
      assert.deepEqual(names(await sitesIn(crawl, { sort, limit: 9 })), sorted[sort]);
      assert.deepEqual(names(await sitesIn(crawl, { sort, limit: 0 })), []);
    });
  }

  it('sites are searched by a part of their name, taken as it is', async ({ store, look }) => {
    for (const name of ['one.example', 'two.example', 'onetwo.example']) await store.admit(linksOf(name, name.length));
    const crawl = await look();
    const found = async (query: Parameters<typeof sitesIn>[1]): Promise<string[]> =>
      (await sitesIn(crawl, query)).map(({ site }) => site);
    assert.deepEqual((await found({ search: 'one' })).toSorted(), ['one.example', 'onetwo.example']);
    assert.deepEqual(await found({ search: 'two.ex', sort: 'name' }), ['onetwo.example', 'two.example']);
    assert.deepEqual(await found({ search: 'two', sort: 'waiting', limit: 1 }), ['onetwo.example']);
    assert.equal((await found({ search: 'one', limit: 1 })).length, 1);
    assert.equal((await found({ search: '' })).length, 3);
    for (const none of ['%', '_', '*', 'ONE', '.exampl_', "'", '\\'])
      assert.deepEqual(await found({ search: none }), []);
  });

  it('a site tells its state, its clock, and the link that it is visited for next', async (scene) => {
    const now = await makeFive(scene);
    const view = { crawlDelayMs: 0, failures: 0, leased: '' };
    const expected: SiteView[] = [
      {
        ...view,
        site: BUSY,
        state: 'leased',
        waiting: 1,
        pages: 0,
        dueAt: now + DELAY_MS,
        delayMs: DELAY_MS,
        leased: `https://${BUSY}/1`,
        next: `https://${BUSY}/1`,
      },
      {
        ...view,
        site: IDLE,
        state: 'idle',
        waiting: 0,
        pages: 1,
        dueAt: now + DELAY_MS,
        delayMs: DELAY_MS,
        next: `https://${IDLE}/1`,
      },
      {
        ...view,
        site: MANY,
        state: 'waiting',
        waiting: 5,
        pages: 1,
        dueAt: now + 1_000,
        delayMs: 1_000,
        next: `https://${MANY}/2`,
      },
      {
        ...view,
        site: SLOW,
        state: 'waiting',
        waiting: 2,
        pages: 1,
        dueAt: now + 60_000,
        delayMs: 60_000.5,
        next: `https://${SLOW}/2`,
      },
      {
        ...view,
        site: ILL,
        state: 'parked',
        waiting: 2,
        pages: 0,
        dueAt: now + DELAY_MS,
        delayMs: 0,
        crawlDelayMs: 2_500,
        failures: 6,
        next: `https://${ILL}/2`,
      },
    ];
    const crawl = await scene.look();
    assert.deepEqual(await sitesIn(crawl), expected);
    for (const one of expected) assert.deepEqual((await crawl.link(one.next, one.site)).site, one);
  });

  it('a new site and a held site tell their state, too', async (scene) => {
    await scene.store.admit(linksOf('held.example', 2));
    await visitSite(scene, 'held.example');
    await holdFrom(scene, 1);
    scene.clock.advance(1);
    await scene.store.admit(linksOf('new.example', 1));
    const crawl = await scene.look();
    const [held, fresh] = await sitesIn(crawl, { sort: 'name' });
    assert.deepEqual([held?.state, held?.waiting, held?.next], ['held', 1, 'https://held.example/2']);
    assert.deepEqual(
      [fresh?.state, fresh?.waiting, fresh?.pages, fresh?.dueAt, fresh?.failures],
      ['waiting', 1, 0, scene.clock.now(), 0],
    );
    assert.ok(held!.dueAt < fresh!.dueAt);
    assert.deepEqual(await sitesIn(crawl, { sort: 'next' }), [fresh, held], 'nobody visits a held site');
  });

  it('a list of many sites has each of them once, also when others come in between', async ({ store, look }) => {
    const names = (from: number): string[] => Array.from({ length: 2_100 }, (_, i) => `s${from + i}.example`);
    await store.admit(names(0).map((name) => link(`${name}/`)));
    const crawl = await look();
    const seen: string[] = [];
    for await (const { site } of crawl.sites({})) {
      if (seen.push(site) === 1_500) await store.admit(names(2_100).map((name) => link(`${name}/`)));
    }
    assert.equal(new Set(seen).size, seen.length, 'none twice');
    const missing = new Set(names(0)).difference(new Set(seen));
    assert.deepEqual([...missing], [], 'those that were there from the beginning are all listed');
    assert.equal((await sitesIn(crawl, { limit: 1_001 })).length, 1_001);
  });

  it('a list can be given up in the middle, and others can be read meanwhile', async ({ store, look }) => {
    await store.admit(Array.from({ length: 1_500 }, (_, i) => link(`s${i}.example/`)));
    const crawl = await look();
    for await (const { site } of crawl.sites({})) {
      assert.deepEqual(await crawl.robots([`https://${site}`]), [null]);
      assert.equal((await crawl.link(`https://${site}/`, site)).state, 'waiting');
      break;
    }
    assert.equal((await crawl.census()).sites.known, 1_500);
  });

  it(`a sorted list has ${SITES_SORTED_MAX} sites at the most`, async ({ store, look }) => {
    await store.admit(Array.from({ length: SITES_SORTED_MAX + 5 }, (_, i) => link(`s${i}.example/`)));
    const crawl = await look();
    assert.equal((await sitesIn(crawl, { sort: 'name' })).length, SITES_SORTED_MAX);
    assert.equal((await sitesIn(crawl, { sort: 'waiting', limit: SITES_SORTED_MAX + 1 })).length, SITES_SORTED_MAX);
    assert.equal((await sitesIn(crawl)).length, SITES_SORTED_MAX + 5);
  });
};

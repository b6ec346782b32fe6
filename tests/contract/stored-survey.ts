/** The survey of a stored crawl finds no fault where there is none. */

import assert from 'node:assert/strict';

import { knownTotal } from '../../src/model/census.ts';
import { ask, claimBySite, claimOne, DELAY_MS, link, linksOf, pageOf, recordsOf, settlementOf } from './store-scene.ts';
import type { Scene } from './store-scene.ts';
import { holdFrom, linksFromAfar, LONG, makeEverything, park, visitSite } from './stored-everything.ts';
import { countsOf, soundSurveyOf, surveyOf, type StoredBehaviour } from './stored-scene.ts';

/** Each makes a crawl in which links are in some of their states, and gives how many links and sites it has. */
const MIXTURES: readonly [what: string, make: (scene: Scene) => Promise<readonly [links: number, sites: number]>][] = [
  ['nothing in it', async () => [0, 0]],
  [
    'waiting links',
    async ({ store }) => {
      await store.admit([...linksOf('a.example', 3), ...linksOf('b.example', 70)]);
      return [73, 2];
    },
  ],
  [
    'leased links, some of sites without another one',
    async ({ store }) => {
      await store.admit([...linksOf('a.example', 3), ...linksOf('b.example', 1)]);
      await store.claim(ask());
      return [4, 2];
    },
  ],
  [
    'settled links only',
    async (scene) => {
      await scene.store.admit(linksOf('a.example', 2));
      await visitSite(scene, 'a.example', () => ({ records: recordsOf('one') }));
      await visitSite(scene, 'a.example');
      return [2, 1];
    },
  ],
  [
    'parked sites, with links, without, and with a link that came later',
    async (scene) => {
      await scene.store.admit([...linksOf('a.example', 3), link('b.example/1'), link('c.example/1')]);
      for (const site of ['a.example', 'b.example', 'c.example']) await park(scene, site);
      await scene.store.admit([link('c.example/2'), link('a.example/first', { first: true })]);
      return [7, 3];
    },
  ],
  [
    'held sites, one of which got links later, and one that was released',
    async (scene) => {
      await scene.store.admit([...linksOf('a.example', 3), ...linksOf('b.example', 4)]);
      await visitSite(scene, 'a.example');
      await visitSite(scene, 'b.example');
      await holdFrom(scene, 1);
      await scene.store.steer([{ kind: 'release-held', sitePagesMax: { all: null } }]);
      await visitSite(scene, 'a.example');
      await holdFrom(scene, 2);
      await scene.store.admit([link('a.example/first', { first: true }), link('a.example/last')]);
      return [9, 2];
    },
  ],
  [
    'links that were tried again, given back, freed and given up',
    async (scene) => {
      const { store, clock } = scene;
      await store.admit([...linksOf('a.example', 5), link('b.example/1')]);
      await visitSite(scene, 'a.example', () => ({ fate: 'retry' }));
      await visitSite(scene, 'a.example', () => ({ fate: 'returned' }));
      for (let i = 0; i < 9; i++) {
        await store.claim(ask());
        await store.steer([{ kind: 'free', holder: null, counted: true }]);
        clock.advance(DELAY_MS);
      }
      return [6, 2];
    },
  ],
  [
    'links that were forgotten, and queues that are full',
    async ({ store }) => {
      await store.admit([...linksOf('a.example', 9), ...linksOf('b.example', 1)], 4);
      await store.admit([link('a.example/first', { first: true })], 4);
      return [6, 2];
    },
  ],
  [
    'a long queue, begun and with links put first',
    async (scene) => {
      await scene.store.admit(linksFromAfar('a.example', LONG));
      for (let i = 0; i < 70; i++) await visitSite(scene, 'a.example');
      await scene.store.admit([link('a.example/first', { first: true })]);
      return [LONG + 1, 1];
    },
  ],
  [
    'a lease from before a crash',
    async (scene) => {
      await scene.store.admit([...linksOf('a.example', 2), ...linksOf('b.example', 2)]);
      await scene.store.claim(ask());
      await scene.crash();
      scene.clock.advance(DELAY_MS);
      await claimOne(scene.store, { visits: 1 });
      return [4, 2];
    },
  ],
  [
    'some of everything, and leases',
    async (scene) => {
      await makeEverything(scene);
      await scene.store.claim(ask());
      return [LONG + 30, 8];
    },
  ],
];

export const surveyContract = (it: StoredBehaviour): void => {
  for (const [what, make] of MIXTURES) {
    it(`a survey finds no fault in a crawl with ${what}`, async (scene) => {
      const [links, sites] = await make(scene);
      const expected = await scene.store.census();
      await scene.stop();
      const survey = await soundSurveyOf(await scene.look());
      assert.deepEqual([survey.links, survey.sites, survey.inOrder], [links, sites, true]);
      assert.deepEqual(countsOf(survey.census), countsOf(expected));
      assert.equal(knownTotal(survey.census), links);
      assert.deepEqual(survey.tally.archive, scene.archive.end());
    });
  }

  it('a survey changes nothing: the crawl goes on as if there had been none', async (scene) => {
    await scene.store.admit(linksOf('a.example', 3));
    await visitSite(scene, 'a.example');
    const before = await scene.store.census();
    await soundSurveyOf(await scene.look());
    assert.deepEqual(await scene.store.census(), before);
    assert.equal((await claimOne(scene.store)).link.url, 'https://a.example/2');
  });

  it('a survey tells how far it has come, every thousand links', async ({ store, stop, look }) => {
    await store.admit(linksOf('a.example', 2_500));
    await stop();
    const told: [number, number][] = [];
    await surveyOf(await look(), { onProgress: (done, total) => void told.push([done, total]) });
    assert.deepEqual(told, [
      [1_000, 2_500],
      [2_000, 2_500],
    ]);
  });

  it('an answer without a record is a fault where every answer must have one', async ({ store, stop, look }) => {
    await store.admit([link('a.example/1'), link('b.example/1'), link('c.example/1')]);
    const visits = await claimBySite(store);
    const [a, b, c] = ['a.example', 'b.example', 'c.example'].map((site) => visits.get(site)!);
    await store.settle([
      settlementOf(a!, { records: recordsOf('a') }),
      settlementOf(b!),
      settlementOf(c!, { page: pageOf(c!, { outcome: 'failed-dns', status: null }) }),
    ]);
    await stop();
    const crawl = await look();
    await soundSurveyOf(crawl);
    const { faults } = await surveyOf(crawl, { needsPlace: true });
    assert.deepEqual(
      faults.map((fault) => fault.kind === 'page' && [fault.url, fault.says]),
      [['https://b.example/1', 'its outcome is fetched, but it has no record']],
    );
  });

  it('a record of a page that no server answered is a fault', async ({ store, stop, look }) => {
    await store.admit([link('a.example/1')]);
    const visit = await claimOne(store);
    const page = pageOf(visit, { outcome: 'robots-denied', status: null });
    await store.settle([settlementOf(visit, { page, records: recordsOf('a') })]);
    await stop();
    const { faults } = await surveyOf(await look());
    assert.deepEqual(
      faults.map((fault) => fault.kind === 'page' && [fault.url, fault.says]),
      [['https://a.example/1', 'its outcome is robots-denied, but it has a record']],
    );
  });
};

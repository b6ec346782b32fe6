/** How a link goes from the queue of its site to that of an origin in trouble, and back. */

import assert from 'node:assert/strict';
import type { Destination } from '../../src/model/settlement.ts';
import type { Visit } from '../../src/model/visit.ts';
import { originQueue, refusedQueue } from '../../src/url/side-queue.ts';
import { shardOf } from '../../src/url/shard.ts';
import {
  ask,
  claimBySite,
  claimOne,
  DELAY_MS,
  linksOf,
  paceAfter,
  settlementOf,
  type Behaviour,
} from './store-scene.ts';

const SITE = 'a.example';
const QUEUE = originQueue(SITE, 'https://a.example');

const aside = (visit: Visit, changes: Partial<Destination> = {}): ReturnType<typeof settlementOf> =>
  settlementOf(visit, {
    fate: 'returned',
    page: null,
    pace: paceAfter(visit, { dueAt: visit.claimedAt }),
    to: {
      queue: QUEUE,
      first: false,
      pace: paceAfter(visit, { dueAt: visit.claimedAt + 60_000, failures: 1 }),
      parked: false,
      isNews: true,
      ...changes,
    },
  });

const back = (visit: Visit, changes: Partial<Destination> = {}): ReturnType<typeof settlementOf> =>
  aside(visit, { queue: SITE, first: true, isNews: false, ...changes });

export const moveContract = (it: Behaviour): void => {
  it('a link that is set aside waits under its origin, and its site goes on with the next', async ({
    store,
    clock,
  }) => {
    await store.admit(linksOf(SITE, 3));
    await store.settle([aside(await claimOne(store))]);
    const census = await store.census();
    assert.deepEqual([census.waiting, census.leased, census.sites], [3, 0, { known: 1, parked: 0, held: 0 }]);
    const next = await claimOne(store);
    assert.deepEqual([next.site, next.link.url], [SITE, 'https://a.example/2']);
    await store.settle([settlementOf(next)]);
    clock.advance(59_999);
    assert.deepEqual([...(await claimBySite(store)).keys()], [SITE], 'its origin is not due yet');
    clock.advance(1);
    const visit = await claimOne(store);
    assert.deepEqual([visit.site, visit.link.url, visit.tries], [QUEUE, 'https://a.example/1', 1]);
    assert.equal(visit.pace.failures, 1);
  });

  it('the queue of an origin is in the shard of its site', async ({ store, clock }) => {
    await store.admit(linksOf(SITE, 1));
    await store.settle([aside(await claimOne(store))]);
    clock.advance(60_000);
    const other = (shardOf(SITE) + 1) % 64;
    assert.deepEqual((await store.claim(ask({ shards: [other] }))).visits, []);
    assert.equal((await claimOne(store, { shards: [shardOf(SITE)] })).site, QUEUE);
  });

  it('links come back to the head of their site, uncounted, and the clock of the site stays', async (scene) => {
    const { store, clock } = scene;
    await store.admit(linksOf(SITE, 3));
    await store.settle([aside(await claimOne(store))]);
    clock.advance(60_000);
    const visits = await claimBySite(store);
    const [of, probe] = [visits.get(SITE)!, visits.get(QUEUE)!];
    // In one batch, and while the site is under visit.
    await store.settle([back(probe)]);
    await store.settle([settlementOf(of, { pace: paceAfter(of, { dueAt: clock.now() + 1_234 }) })]);
    assert.equal((await store.census()).waiting, 2);
    clock.advance(1_233);
    assert.deepEqual((await store.claim(ask())).visits, []);
    clock.advance(1);
    const next = await claimOne(store);
    assert.deepEqual([next.site, next.link.url, next.tries], [SITE, 'https://a.example/1', 1]);
  });

  it('both queues may end their leases in one batch', async ({ store, clock }) => {
    await store.admit(linksOf(SITE, 4));
    await store.settle([aside(await claimOne(store))]);
    clock.advance(60_000);
    const visits = await claimBySite(store);
    const [of, probe] = [visits.get(SITE)!, visits.get(QUEUE)!];
    assert.deepEqual(await store.settle([aside(of, { isNews: false }), back(probe)]), { settled: 2, refused: 0 });
    const census = await store.census();
    assert.deepEqual([census.waiting, census.leased], [4, 0]);
    clock.advance(60_000);
    const again = await claimBySite(store);
    assert.equal(again.get(SITE)?.link.url, 'https://a.example/1');
    assert.equal(again.get(QUEUE)?.link.url, 'https://a.example/2');
  });

  it('an origin that is parked keeps its links, those that come later too, and gives them back when asked', async (scene) => {
    const { store, clock } = scene;
    await store.admit(linksOf(SITE, 4));
    await store.settle([aside(await claimOne(store), { parked: true })]);
    clock.advance(DELAY_MS);
    await store.settle([aside(await claimOne(store), { parked: true, isNews: false })]);
    const parked = await store.census();
    assert.deepEqual([parked.waiting, parked.parked, parked.sites], [2, 2, { known: 1, parked: 1, held: 0 }]);
    clock.advance(1_000_000);
    assert.deepEqual([...(await claimBySite(store)).keys()], [SITE], 'the site is not parked with it');
    await store.steer([{ kind: 'retry-parked' }]);
    const census = await store.census();
    assert.deepEqual([census.waiting, census.parked, census.sites.parked], [3, 0, 0]);
    clock.advance(DELAY_MS);
    const visit = (await claimBySite(store)).get(QUEUE);
    assert.deepEqual([visit?.link.url, visit?.pace.failures], ['https://a.example/1', 0]);
  });

  it('links that a scope refused are held until another scope is asked for, and no budget brings them back', async (scene) => {
    const { store, clock } = scene;
    const refused = (scope: string) => ({ queue: refusedQueue(SITE, scope), held: true, isNews: true });
    await store.admit(linksOf(SITE, 4));
    for (const scope of ['0a', '0a', '0b']) {
      await store.settle([aside(await claimOne(store), refused(scope))]);
      clock.advance(DELAY_MS);
    }
    const held = await store.census();
    assert.deepEqual([held.waiting, held.held, held.sites], [1, 3, { known: 1, parked: 0, held: 0 }]);
    clock.advance(1_000_000);
    await store.steer([{ kind: 'release-held', sitePagesMax: { all: null } }, { kind: 'retry-parked' }]);
    assert.deepEqual([...(await claimBySite(store)).keys()], [SITE]);
    await store.steer([
      { kind: 'free', holder: null, counted: false },
      { kind: 'release-refused', scope: '0b' },
    ]);
    const census = await store.census();
    assert.deepEqual([census.waiting, census.held, census.sites.held], [3, 1, 0]);
    clock.advance(1_000_000);
    const visit = (await claimBySite(store)).get(refusedQueue(SITE, '0a'))!;
    assert.equal(visit.link.url, 'https://a.example/1');
    // One that is still not wanted is held under the scope of now, while others of its queue are on their way.
    await store.settle([back(visit)]);
    const left = await store.census();
    assert.deepEqual([left.waiting, left.leased, left.held], [2, 1, 1]);
  });

  it('news changes a queue that is there: when it is due, and whether it is parked', async ({ store, clock }) => {
    await store.admit(linksOf(SITE, 5));
    const settleNext = async (changes: Partial<Destination>): Promise<void> => {
      clock.advance(DELAY_MS);
      const visit = (await claimBySite(store)).get(SITE)!;
      await store.settle([aside(visit, changes)]);
    };
    await settleNext({});
    await settleNext({ parked: true });
    assert.deepEqual([(await store.census()).waiting, (await store.census()).parked], [3, 2]);
    await settleNext({
      pace: { dueAt: clock.now() + 2 * DELAY_MS, delayMs: 0, crawlDelayMs: 0, responseMs: 0, failures: 7 },
    });
    const census = await store.census();
    assert.deepEqual([census.waiting, census.parked, census.sites.parked], [5, 0, 0]);
    clock.advance(2 * DELAY_MS);
    assert.equal((await claimBySite(store)).get(QUEUE)?.pace.failures, 7);
  });

  it('a link that goes to a held site is held', async ({ store, clock }) => {
    await store.admit(linksOf(SITE, 4));
    await store.settle([aside(await claimOne(store))]);
    await store.settle([settlementOf(await claimOne(store))]);
    clock.advance(60_000);
    const visits = await claimBySite(store, { sitePagesMax: { all: 1 } });
    assert.deepEqual([...visits.keys()], [QUEUE]);
    await store.settle([back(visits.get(QUEUE)!)]);
    const census = await store.census();
    assert.deepEqual([census.waiting, census.held, census.sites.held], [0, 3, 1]);
  });

  it('links that are set aside are there after a crash', async (scene) => {
    await scene.store.admit(linksOf(SITE, 3));
    await scene.store.settle([aside(await claimOne(scene.store))]);
    await scene.crash();
    scene.clock.advance(60_000);
    const visits = await claimBySite(scene.store);
    assert.equal(visits.get(QUEUE)?.link.url, 'https://a.example/1');
    await scene.crash();
    assert.equal((await scene.store.census()).waiting, 3);
  });
};

/** A crawl that is moved: walked out of one place, filled into another, and the same there. */

import assert from 'node:assert/strict';

import type { Store } from '../../src/contract/store.ts';
import type { Visit } from '../../src/model/visit.ts';
import { shardOf } from '../../src/url/shard.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import { runAtRandom, takeStep } from './store-random.ts';
import { ask, claimOne, DELAY_MS, link, settlementOf } from './store-scene.ts';
import { fillWith, makeSource, piecesOf, queueOf, siteOf, TALLY, wholeIn } from './stored-pieces.ts';
import { countsOf, pagesIn, soundSurveyOf, type StoredBehaviour } from './stored-scene.ts';

export const fillContract = (it: StoredBehaviour): void => {
  for (const [atOnce, says] of [
    [1, 'one by one'],
    [7, 'some at a time'],
    [Infinity, 'all at once'],
  ] as const) {
    it(`a crawl that is filled ${says} is the same crawl`, async (scene) => {
      const source = await makeSource(scene);
      const pieces = await piecesOf(source);
      const place = await scene.empty();
      await fillWith(await place.look(), pieces, atOnce);
      const moved = await place.look();
      assert.deepEqual(await wholeIn(moved), await wholeIn(source));
      const census = await moved.census();
      assert.deepEqual({ ...countsOf(census), changes: 0 }, { ...countsOf(await source.census()), changes: 0 });
      assert.ok(census.changes >= 1);
      assert.deepEqual(await pagesIn(moved), await pagesIn(source));
      assert.equal(await moved.note('identity'), '{"ü":"🕸"}\n');
      const { links, tally } = await soundSurveyOf(moved);
      assert.deepEqual([links, tally.archive], [(await soundSurveyOf(source)).links, scene.archive.end()]);
    });
  }

  it('a crawl that was filled goes on as it would have where it was', async (scene) => {
    const source = await makeSource(scene);
    const place = await scene.empty();
    await fillWith(await place.look(), await piecesOf(source));
    await scene.crash(); // it is opened again
    const store = await place.work();
    const visited = await goOnAlike([scene.store, store], scene.clock);
    assert.equal(visited.filter((site) => site === 'long.example').length, ROUNDS);
    assert.ok(visited.includes('parked.example') && visited.includes('held.example'));
    const [here, there] = [await scene.store.census(), await store.census()];
    assert.deepEqual({ ...countsOf(there), changes: 0 }, { ...countsOf(here), changes: 0 });
  });

  it('a crawl that was filled knows all its URLs, and takes new links as before', async (scene) => {
    const pieces = await piecesOf(await makeSource(scene));
    const place = await scene.empty();
    await fillWith(await place.look(), pieces);
    const store = await place.work();
    const known = pieces.flatMap((piece) =>
      piece.kind === 'queue'
        ? piece.links.map((waiting) => waiting.link)
        : piece.kind === 'pages'
          ? piece.pages.map(({ url, site }) => ({ ...link('x.example/'), url, site }))
          : [],
    );
    assert.equal(known.length, (await store.admit(known)).seen);
    await store.admit([link('parked.example/new'), link('held.example/new'), link('zz.example/'), link('aa.example/')]);
    const { parked, held } = await store.census();
    assert.deepEqual([parked, held], [3, 2]);
    await soundSurveyOf(await place.look());
  });

  it('pages, links and leases that come after a move come after those that were there', async (scene) => {
    const pieces = await piecesOf(await makeSource(scene));
    const place = await scene.empty();
    await fillWith(await place.look(), pieces);
    const store = await place.work();
    const crawl = await place.look();
    const { end } = await crawl.pagesAfter(0, { limit: 0 });
    await store.admit([link('read.example/new')]);
    const { open } = await crawl.link('https://read.example/new', 'read.example');
    assert.deepEqual([open?.ahead, (await crawl.link('https://read.example/2', 'read.example')).open?.ahead], [5, 0]);
    const { visits } = await store.claim(ask({ shards: [shardOf('read.example')] }));
    const visit = visits.find(({ site }) => site === 'read.example')!;
    assert.equal(visit.link.url, 'https://read.example/2');
    await store.settle([settlementOf(visit)]);
    assert.deepEqual(
      (await crawl.pagesAfter(end, {})).pages.map(({ url }) => url),
      [visit.link.url],
    );
  });

  it('no site of a crawl that was filled is visited before its clock allows', async ({ clock, empty }) => {
    const place = await empty();
    const now = clock.now();
    const pace = { dueAt: now + 7_000.5, delayMs: 9_000.5, crawlDelayMs: 0, responseMs: 1.5, failures: 2 };
    await fillWith(await place.look(), [
      siteOf('a.example', { pace, pages: 0 }),
      queueOf('a.example', '1', '2'),
      TALLY,
    ]);
    const store = await place.work();
    clock.advance(7_000);
    const { visits, nextDueAt } = await store.claim(ask());
    assert.deepEqual([visits, nextDueAt], [[], now + 7_000.5]);
    clock.advance(1);
    const visit = await claimOne(store);
    assert.deepEqual([visit.link.url, visit.tries, visit.pace], ['https://a.example/1', 3, pace]);
  });

  it('a crawl that random verbs made is the same crawl where it was moved to', (scene) =>
    runAtRandom(scene, async (run) => {
      for (let step = 0; step < 300; step++) await takeStep(run);
      await scene.store.steer([{ kind: 'free', holder: null, counted: false }]);
      await scene.stop();
      const source = await scene.look();
      const place = await scene.empty();
      await fillWith(await place.look(), await piecesOf(source), 13);
      const moved = await place.look();
      assert.deepEqual(await wholeIn(moved), await wholeIn(source));
      assert.equal((await soundSurveyOf(moved)).links, run.model.seen.size);
    }));
};

const ROUNDS = 40;

/** All that there is to visit now, in the order of names, but for the numbers of leases. */
const claimAll = async (store: Store): Promise<{ visits: readonly Visit[]; claimed: readonly object[] }> => {
  const { visits } = await store.claim(ask());
  const claimed = visits.toSorted((a, b) => (a.site < b.site ? -1 : 1)).map(({ lease: _, ...visit }) => visit);
  return { visits, claimed };
};

/** Everything is set free and visited in both crawls at the same moments; gives the sites visited. */
const goOnAlike = async (stores: readonly [Store, Store], clock: ManualClock): Promise<string[]> => {
  for (const store of stores)
    await store.steer([{ kind: 'retry-parked' }, { kind: 'release-held', sitePagesMax: { all: null } }]);
  const sites: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    clock.advance(2 * DELAY_MS);
    const [here, there] = [await claimAll(stores[0]), await claimAll(stores[1])];
    assert.deepEqual(there.claimed, here.claimed);
    sites.push(...here.visits.map(({ site }) => site));
    const fate = round % 5 === 4 ? 'retry' : 'settled';
    await stores[0].settle(here.visits.map((visit) => settlementOf(visit, { fate })));
    await stores[1].settle(there.visits.map((visit) => settlementOf(visit, { fate })));
  }
  return sites;
};

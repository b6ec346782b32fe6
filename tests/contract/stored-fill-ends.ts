/** How a filling ends: whole, given up, dead, or refused because a crawl is there. */

import assert from 'node:assert/strict';

import { StoreFault } from '../../src/contract/fault.ts';
import type { Store } from '../../src/contract/store.ts';
import { robotsOf } from './stored-everything.ts';
import {
  fillWith,
  isFault,
  makeSource,
  pageAt,
  piecesOf,
  queueOf,
  SITE,
  siteOf,
  TALLY,
  wholeIn,
} from './stored-pieces.ts';
import { countsOf, soundSurveyOf, type StoredBehaviour } from './stored-scene.ts';

export const fillEndsContract = (it: StoredBehaviour): void => {
  it('a place that has a crawl is not filled, and nothing there changes', async (scene) => {
    const source = await makeSource(scene);
    const before = await wholeIn(source);
    await assert.rejects(source.fill(), isFault(/already/));
    await assert.rejects((await scene.look()).fill(), isFault(/already/));
    assert.deepEqual(await wholeIn(source), before);
    await scene.crash();
    assert.deepEqual(countsOf(await scene.store.census()), countsOf(await source.census()));
  });

  it('a crawl that was filled is a whole crawl: it is not filled again', async ({ empty }) => {
    const place = await empty();
    const crawl = await place.look();
    await fillWith(crawl, [SITE, queueOf('a.example', '1'), TALLY]);
    await assert.rejects(crawl.fill(), isFault(/already/));
    await assert.rejects((await place.look()).fill(), isFault(/already/));
    assert.equal((await (await place.look()).census()).waiting, 1);
  });

  it('a filling that was given up leaves nothing, and can begin again', async (scene) => {
    const source = await makeSource(scene);
    const pieces = await piecesOf(source);
    const place = await scene.empty();
    const crawl = await place.look();
    const given = await crawl.fill();
    await given.take([
      siteOf('left.example'),
      queueOf('left.example', '1', '2'),
      { kind: 'robots', records: [robotsOf('https://left.example')] },
      { kind: 'pages', pages: [pageAt('left.example/3', 1)] },
      { ...TALLY, notes: { left: 'x' }, marks: { left: 1 }, forgotten: 5 },
    ]);
    await given.close();
    assert.equal(await (await place.look()).note('left'), null);
    await fillWith(crawl, pieces);
    const moved = await place.look();
    assert.deepEqual(await wholeIn(moved), await wholeIn(source));
    await soundSurveyOf(moved);
  });

  it('what a filling left that died is removed by the next one', async ({ empty }) => {
    const place = await empty();
    const died = await place.look();
    await (await died.fill()).take([
      siteOf('left.example'),
      queueOf('left.example', '1', '2'),
      { ...TALLY, notes: { left: 'x' }, marks: { left: 1 } },
    ]);
    await died.close(); // and the filling is never closed
    const crawl = await place.look();
    await fillWith(crawl, [SITE, queueOf('a.example', '1'), TALLY]);
    const whole = await wholeIn(await place.look());
    assert.deepEqual([Object.keys(whole.sites), whole.tally, whole.seen.length], [['a.example'], TALLY, 1]);
    await soundSurveyOf(await place.look());
  });

  it('what is not whole is nobody’s crawl: it is refused, or there is nothing', async ({ empty }) => {
    const place = await empty();
    const died = await place.look();
    await (await died.fill()).take([SITE, queueOf('a.example', '1'), { ...TALLY, notes: { identity: 'x' } }]);
    await died.close();
    assert.equal(await (await place.look()).note('identity'), null);
    const store: Store | StoreFault = await place.work().catch((error: unknown) => {
      assert.ok(error instanceof StoreFault, String(error));
      return error;
    });
    if (!(store instanceof StoreFault)) assert.equal((await store.census()).sites.known, 0);
  });

  it('the time of a place that is being filled can be asked for', async ({ empty }) => {
    const crawl = await (await empty()).look();
    const filling = await crawl.fill();
    assert.ok((await crawl.census()).now > 0);
    await filling.close();
  });
};

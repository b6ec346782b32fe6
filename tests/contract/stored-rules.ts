/** Long robots rules in a stored crawl: whole, wherever they are read. */

import assert from 'node:assert/strict';

import { digestOf } from '../../src/model/long-rules.ts';
import { claimOne, linksOf } from './store-scene.ts';
import { longRobots, longRules } from './store-rules.ts';
import { visitSite } from './stored-everything.ts';
import { fillWith, piecesOf } from './stored-pieces.ts';
import { soundSurveyOf, type StoredBehaviour } from './stored-scene.ts';

export const storedRulesContract = (it: StoredBehaviour): void => {
  it('long rules are read and walked as they were stored, and a crawl that is filled with them has them', async (scene) => {
    const { store, look, stop, empty } = scene;
    await store.admit([...linksOf('a.example', 2), ...linksOf('b.example', 2)]);
    const records = [longRobots('https://a.example'), longRobots('https://b.example', { rules: longRules('b') })];
    await visitSite(scene, 'a.example', () => ({ robots: records[0]! }));
    await visitSite(scene, 'b.example', () => ({ robots: records[1]! }));
    await stop();
    const crawl = await look();
    const origins = ['https://b.example', 'https://c.example', 'https://a.example'];
    assert.deepEqual(await crawl.robots(origins), [records[1], null, records[0]]);
    const pieces = await piecesOf(crawl);
    const walked = pieces.flatMap((one) => (one.kind === 'robots' ? one.records : []));
    assert.deepEqual(
      walked.toSorted((a, b) => (a.origin < b.origin ? -1 : 1)),
      records,
    );
    await soundSurveyOf(crawl);

    const second = await empty();
    const target = await second.look();
    await fillWith(target, pieces);
    assert.deepEqual(await target.robots(origins), [records[1], null, records[0]]);
    const moved = await second.work();
    scene.clock.advance(1_000_000);
    const visit = await claimOne(moved, { visits: 1 });
    const digest = digestOf(visit.robots!);
    assert.equal(await moved.rules(digest!, visit.site), records[visit.site === 'a.example' ? 0 : 1]!.rules);
  });
};

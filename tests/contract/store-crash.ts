/** What of a store is left after it was killed. */

import assert from 'node:assert/strict';

import { CLAIMS_MAX } from '../../src/contract/store.ts';
import { knownTotal } from '../../src/model/census.ts';
import {
  ask,
  claimBySite,
  claimOne,
  DELAY_MS,
  link,
  linksOf,
  recordsOf,
  settlementOf,
  visitAll,
} from './store-scene.ts';
import type { Behaviour } from './store-scene.ts';

export const crashContract = (it: Behaviour): void => {
  it('after a crash nothing is leased, and sites whose request may have left wait a full delay', async (scene) => {
    await scene.store.admit([...linksOf('a.example', 2), ...linksOf('b.example', 2)]);
    const { site: leased } = await claimOne(scene.store, { visits: 1 });
    scene.clock.advance(3 * DELAY_MS);
    await scene.crash();
    const census = await scene.store.census();
    assert.deepEqual([census.leased, census.waiting, census.sitesDue], [0, 4, 1]);
    const other = await claimOne(scene.store);
    assert.notEqual(other.site, leased);
    assert.equal((await scene.store.census()).next?.dueAt, scene.clock.now() + DELAY_MS);
    scene.clock.advance(DELAY_MS);
    const again = await claimOne(scene.store);
    assert.deepEqual([again.site, again.link.url, again.tries], [leased, `https://${leased}/1`, 2]);
  });

  it('a crash keeps the clocks of sites that were not under visit', async (scene) => {
    await scene.store.admit(linksOf('a.example', 2));
    const visit = await claimOne(scene.store);
    const pace = {
      dueAt: scene.clock.now() + 70_000,
      delayMs: 8_000,
      crawlDelayMs: 8_000,
      responseMs: 12.5,
      failures: 3,
    };
    await scene.store.settle([settlementOf(visit, { pace })]);
    await scene.crash();
    scene.clock.advance(69_999);
    assert.deepEqual((await scene.store.claim(ask())).visits, []);
    scene.clock.advance(1);
    assert.deepEqual((await claimOne(scene.store)).pace, pace);
  });

  it('everything that was answered is there after a crash', async (scene) => {
    await scene.store.admit(Array.from({ length: 50 }, (_, i) => linksOf(`s${i}.example`, 3)).flat());
    const { visits } = await scene.store.claim(ask({ visits: 30 }));
    await scene.store.settle(
      visits.map((visit, i) =>
        settlementOf(visit, {
          records: recordsOf(visit.site),
          parked: i < 5,
          fate: i % 7 === 6 ? 'retry' : 'settled',
        }),
      ),
    );
    const before = await scene.store.census();
    const rows = await scene.pages();
    await scene.crash();
    const { changes: _, ...after } = await scene.store.census();
    const { changes: __, ...expected } = before;
    assert.deepEqual(after, expected);
    assert.deepEqual(await scene.pages(), rows);
    assert.deepEqual(await scene.store.admit(linksOf('s7.example', 4)), {
      admitted: 1,
      seen: 3,
      forgotten: 0,
      full: [],
    });
  });

  it('what was not answered is there whole or not at all', async (scene) => {
    await scene.store.admit(linksOf('a.example', 1));
    const visit = await claimOne(scene.store);
    const ignore = (): void => {};
    void scene.store.admit(linksOf('b.example', 5)).catch(ignore);
    void scene.store.settle([settlementOf(visit, { records: recordsOf('a') })]).catch(ignore);
    await scene.crash();
    const census = await scene.store.census();
    const rows = await scene.pages();
    assert.ok([1, 6].includes(knownTotal(census)), `${knownTotal(census)} links`);
    assert.equal(census.settled.fetched ?? 0, rows.length);
    assert.deepEqual(census.archive, scene.archive.end());
    assert.equal(census.archivedBytes, rows.length * recordsOf('a').bytes.length);
  });

  it('the tail of the archive that was not settled is cut', async (scene) => {
    const tail = (): void => void scene.archive.append([1, 2, 3, 4].map(() => new Uint8Array(900)));
    tail();
    await scene.crash();
    assert.deepEqual(scene.archive.end(), { file: '', bytes: 0 });
    await scene.store.admit(linksOf('a.example', 2));
    await scene.store.settle([settlementOf(await claimOne(scene.store), { records: recordsOf('one') })]);
    const { archive } = await scene.store.census();
    tail();
    await scene.crash();
    assert.deepEqual(scene.archive.end(), archive);
    assert.deepEqual((await scene.store.census()).archive, archive);
    scene.clock.advance(DELAY_MS);
    await scene.store.settle([settlementOf(await claimOne(scene.store), { records: recordsOf('two') })]);
    const texts = (await scene.pages()).map((row) => new TextDecoder().decode(scene.archive.read(row)));
    assert.deepEqual(texts, ['response one;', 'response two;']);
  });

  it('leases from before a crash are refused', async (scene) => {
    await scene.store.admit([...linksOf('a.example', 1), ...linksOf('b.example', 1)]);
    const before = [...(await claimBySite(scene.store)).values()];
    await scene.crash();
    scene.clock.advance(DELAY_MS);
    const again = await claimOne(scene.store, { visits: 1 });
    // A process numbers its own leases: the next one may come to the same number.
    const old = before.filter(({ site, lease }) => site !== again.site || lease !== again.lease);
    for (const visit of old)
      assert.deepEqual(await scene.store.settle([settlementOf(visit)]), { settled: 0, refused: 1, refusedAt: [0] });
    assert.deepEqual(await scene.store.settle([settlementOf(again)]), { settled: 1, refused: 0 });
  });

  it('a link that kills the crawl each time it is visited is given up', async (scene) => {
    await scene.store.admit(linksOf('a.example', 2));
    for (let i = 0; i < CLAIMS_MAX; i++) {
      assert.equal((await claimOne(scene.store)).link.url, 'https://a.example/1');
      await scene.crash();
      scene.clock.advance(DELAY_MS);
    }
    assert.deepEqual(
      (await scene.pages()).map((row) => [row.url, row.outcome]),
      [['https://a.example/1', 'gave-up']],
    );
    assert.equal((await claimOne(scene.store)).link.url, 'https://a.example/2');
  });

  it('the order of a queue, retries and firsts included, survives a crash', async (scene) => {
    await scene.store.admit(linksOf('a.example', 3));
    const visit = await claimOne(scene.store);
    await scene.store.settle([settlementOf(visit, { fate: 'retry' })]);
    await scene.store.admit([link('a.example/x', { first: true }), link('a.example/4')]);
    await scene.crash();
    scene.clock.advance(DELAY_MS);
    assert.deepEqual(await visitAll(scene), ['/x', '/2', '/3', '/1', '/4']);
  });

  it('parked and held sites stay so over a crash', async (scene) => {
    await scene.store.admit([...linksOf('p.example', 3), ...linksOf('h.example', 3)]);
    const visits = await claimBySite(scene.store);
    await scene.store.settle(
      [...visits.values()].map((visit) => settlementOf(visit, { parked: visit.site === 'p.example' })),
    );
    scene.clock.advance(DELAY_MS);
    await scene.store.claim(ask({ sitePagesMax: { all: 1 } }));
    await scene.crash();
    const census = await scene.store.census();
    assert.deepEqual(
      [census.waiting, census.parked, census.held, census.sites.parked, census.sites.held],
      [0, 2, 2, 1, 1],
    );
    assert.deepEqual((await scene.store.claim(ask())).visits, []);
  });
};

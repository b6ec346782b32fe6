/** Members of a crawl in PostgreSQL that die, or are not heard for too long. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { BEAT_MS, DEAD_AFTER_MS, LAPSED_AFTER_MS } from '../src/model/pulse.ts';
import { ask, claimOne, DELAY_MS, link, linksOf, recordsOf, settlementOf } from './contract/store-scene.ts';
import { soundSurveyOf } from './contract/stored-scene.ts';
import { withScene, type Member } from './support/postgres-scene.ts';
import { startPostgres } from './support/postgres-server.ts';
import { until } from './support/until.ts';
import type { ManualClock } from './support/manual-clock.ts';

const server = await startPostgres();
after(() => server.remove());

const LEASE_MS = 600_000;
const REFUSED = { settled: 0, refused: 1, refusedAt: [0] };

/** Lets time pass while these members are heard every second. */
const pass = async (clock: ManualClock, ms: number, members: readonly Member[]): Promise<void> => {
  for (let passed = 0; passed < ms; passed += BEAT_MS) {
    clock.advance(Math.min(BEAT_MS, ms - passed));
    for (const { store } of members) await store.beat();
  }
};

test('postgres: the leases of a member that died are freed when it was not heard for 15 s, and its sites wait a full delay from then', async () => {
  await withScene(server, async ({ clock, member, crawl }) => {
    const [a, b] = [await member('a'), await member('b')];
    await a.store.admit(linksOf('x.example', 2));
    const lost = await claimOne(a.store, { leaseMs: LEASE_MS });
    await pass(clock, DEAD_AFTER_MS - 1, [b]);
    assert.equal((await b.store.census()).leased, 1);
    clock.advance(1);
    await b.store.beat();
    assert.equal((await b.store.census()).leased, 0);
    const freedAt = clock.now();
    await pass(clock, DELAY_MS - 1, [b]);
    assert.deepEqual((await b.store.claim(ask({ leaseMs: LEASE_MS }))).visits, []);
    await pass(clock, 1, [b]);
    const again = await claimOne(b.store, { leaseMs: LEASE_MS });
    assert.deepEqual(
      [again.link.url, again.tries, again.claimedAt],
      [lost.link.url, 2, freedAt + DELAY_MS],
      'its claim counts: the page may be what killed it',
    );
    await soundSurveyOf(await crawl());
  });
});

test('postgres: a member that was taken for dead and comes back has no leases, and takes part again', async () => {
  await withScene(server, async ({ clock, member, crawl }) => {
    const [a, b] = [await member('a'), await member('b')];
    await a.store.admit([...linksOf('x.example', 2), ...linksOf('y.example', 2)]);
    const { visits } = await a.store.claim(ask({ leaseMs: LEASE_MS }));
    assert.equal(visits.length, 2);
    await pass(clock, DEAD_AFTER_MS + DELAY_MS, [b]);
    const taken = await b.store.claim(ask({ leaseMs: LEASE_MS, visits: 1 }));
    assert.deepEqual(await a.store.beat(), { entry: 0, term: 1 });
    assert.deepEqual((await a.store.claim(ask({ leaseMs: LEASE_MS }))).visits, [], 'its old visits have not ended');
    for (const visit of visits)
      assert.deepEqual(await a.store.settle([settlementOf(visit, { records: recordsOf('late') })]), REFUSED);
    assert.equal(a.archive.totalBytes(), 0);
    assert.equal((await b.store.settle(taken.visits.map((visit) => settlementOf(visit)))).settled, 1);
    await a.store.beat();

    await pass(clock, DELAY_MS, [a, b]);
    const mine = await a.store.claim(ask({ leaseMs: LEASE_MS }));
    assert.equal(mine.term, 1);
    assert.equal((await a.store.settle(mine.visits.map((visit) => settlementOf(visit)))).settled, 2);
    await soundSurveyOf(await crawl());
  });
});

test('postgres: a member that was not heard for ten seconds voids its leases itself, uncounted, and claims when its visits have ended', async () => {
  await withScene(server, async ({ clock, member, crawl }) => {
    const { store } = await member('a');
    await store.admit(linksOf('x.example', 2));
    await store.beat();
    const visit = await claimOne(store, { leaseMs: LEASE_MS });
    clock.advance(LAPSED_AFTER_MS);
    assert.equal((await store.beat()).term, 0, 'ten seconds are not too long');
    clock.advance(LAPSED_AFTER_MS + 1);
    assert.equal((await store.beat()).term, 1);
    assert.equal((await store.census()).leased, 1, 'while a visit is under way its site is kept from others');
    assert.deepEqual((await store.claim(ask())).visits, []);
    assert.deepEqual(await store.settle([settlementOf(visit)]), REFUSED);
    await store.beat();
    assert.equal((await store.census()).leased, 0);
    clock.advance(DELAY_MS - 1);
    assert.deepEqual((await store.claim(ask())).visits, []);
    clock.advance(1);
    const again = await claimOne(store);
    assert.deepEqual([again.link.url, again.tries], [visit.link.url, 1]);
    await soundSurveyOf(await crawl());
  });
});

test('postgres: the dead are freed once, however many notice, and a member that is heard is not', async () => {
  await withScene(server, async ({ clock, member, query }) => {
    const [a, b, c] = [await member('a'), await member('b'), await member('c')];
    await a.store.admit([link('x.example/'), link('y.example/')]);
    await claimOne(a.store, { visits: 1, leaseMs: LEASE_MS });
    await claimOne(b.store, { visits: 1, leaseMs: LEASE_MS });
    for (let i = 0; i < 20; i++) {
      clock.advance(BEAT_MS);
      await Promise.all([b.store.beat(), c.store.beat()]);
    }
    const { leased, waiting } = await c.store.census();
    assert.deepEqual([leased, waiting], [1, 1]);
    assert.deepEqual(await query('SELECT name, freed FROM gossamer_here.member ORDER BY name'), [
      { name: 'a', freed: true },
      { name: 'b', freed: false },
      { name: 'c', freed: false },
    ]);
  });
});

/** Calls of the functions of the crawl that its members made so far. */
const CALLS = `SELECT coalesce(sum(calls), 0)::int AS n FROM pg_stat_user_functions WHERE funcname LIKE 'claim_%'`;

test('postgres: a member that finds nothing due does not ask again while its beats say that nothing changed', async () => {
  const counting = await startPostgres({ track_functions: 'pl' });
  try {
    await withScene(counting, async ({ clock, member, query }) => {
      const [a, b] = [await member('a'), await member('b')];
      await b.store.beat();
      assert.deepEqual((await b.store.claim(ask())).visits, []);
      for (let i = 0; i < 10; i++) {
        clock.advance(BEAT_MS);
        await b.store.beat();
        for (let n = 0; n < 4; n++) assert.deepEqual((await b.store.claim(ask())).visits, []);
      }
      await b.store.close(); // what a connection counted is told when it ends
      await a.store.close();
      await until('the server has counted', async () => Number((await query(CALLS))[0]!.n) > 0);
      assert.deepEqual(await query(CALLS), [{ n: 1 }]);
    });
  } finally {
    await counting.remove();
  }
});

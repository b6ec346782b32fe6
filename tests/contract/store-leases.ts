/** On stores that processes share, a lease ends by the store's time. */

import assert from 'node:assert/strict';

import { TRIES_MAX } from '../../src/contract/store.ts';
import { ask, claimOne, DELAY_MS, link, settlementOf, type Behaviour } from './store-scene.ts';

const LEASE_MS = 60_000;

export const leaseContract = (it: Behaviour): void => {
  it('a lease that ran out is given to another, a full delay later, its try counted', async ({ store, clock }) => {
    await store.admit([link('a.example/')]);
    const first = await claimOne(store, { leaseMs: LEASE_MS });
    assert.equal(first.leaseUntil, clock.now() + LEASE_MS);
    clock.advance(LEASE_MS - 1);
    assert.equal((await store.claim(ask({ leaseMs: LEASE_MS }))).visits.length, 0);
    clock.advance(DELAY_MS);
    assert.equal((await store.claim(ask({ leaseMs: LEASE_MS }))).visits.length, 0);
    clock.advance(1);
    const second = await claimOne(store, { leaseMs: LEASE_MS, holder: 'another' });
    assert.equal(second.tries, 2);
    assert.notEqual(second.lease, first.lease);
    assert.ok(second.tries < TRIES_MAX);
  });

  it('a settlement whose lease ran out is refused, whether or not another has the site', async ({
    store,
    clock,
    archive,
  }) => {
    await store.admit([link('a.example/')]);
    const first = await claimOne(store, { leaseMs: LEASE_MS });
    clock.advance(LEASE_MS);
    assert.deepEqual(await store.settle([settlementOf(first)]), { settled: 0, refused: 1, refusedAt: [0] });
    clock.advance(DELAY_MS);
    const second = await claimOne(store, { leaseMs: LEASE_MS });
    assert.deepEqual(await store.settle([settlementOf(first)]), { settled: 0, refused: 1, refusedAt: [0] });
    assert.deepEqual(await store.settle([settlementOf(second)]), { settled: 1, refused: 0 });
    assert.equal(archive.totalBytes(), 0);
  });
};

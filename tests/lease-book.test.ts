/** The leases of a process are numbered by itself, and void when a new term begins. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLeaseBook } from '../src/store/shared/lease-book.ts';

test('no number is taken twice, in no term', () => {
  const book = createLeaseBook();
  const first = book.take(10);
  book.lapse();
  assert.equal(book.take(1), first + 10);
  assert.equal(book.take(1), first + 11);
});

test('every term has a run of its own, which no other process has', () => {
  const [one, two] = [createLeaseBook(), createLeaseBook()];
  const runs = [one.run(), two.run()];
  one.lapse();
  runs.push(one.run());
  assert.equal(new Set(runs).size, 3);
  assert.equal(one.run(), runs[2], 'the same within a term');
});

test('a lease is in force from when it is given until it ends', () => {
  const book = createLeaseBook();
  const lease = book.take(2);
  assert.equal(book.isInForce(lease), false);
  book.given(lease, 'fetch-1');
  assert.deepEqual([book.isInForce(lease), book.isInForce(lease + 1)], [true, false]);
  book.ended(lease);
  assert.equal(book.isInForce(lease), false);
});

test('a new term voids all leases, and the process is quiet when the last of their visits has ended', () => {
  const book = createLeaseBook();
  const lease = book.take(2);
  book.given(lease, 'fetch-1');
  book.given(lease + 1, 'fetch-2');
  assert.deepEqual([book.term(), book.isQuiet()], [0, true]);
  book.lapse();
  assert.deepEqual([book.term(), book.isQuiet(), book.isInForce(lease)], [1, false, false]);
  const next = book.take(1);
  book.given(next, 'fetch-1');
  assert.equal(book.isInForce(next), true);
  book.ended(lease);
  assert.equal(book.isQuiet(), false);
  book.ended(lease + 1);
  assert.equal(book.isQuiet(), true, 'what is under way in this term does not count');
});

test('the visits of a thread end with it', () => {
  const book = createLeaseBook();
  const lease = book.take(3);
  book.given(lease, 'fetch-1');
  book.given(lease + 1, 'fetch-2');
  book.lapse();
  book.died('fetch-1');
  assert.equal(book.isQuiet(), false);
  book.died(null);
  assert.equal(book.isQuiet(), true);
});

test('a lease whose number was taken before the term began is void when the answer comes', () => {
  const book = createLeaseBook();
  const lease = book.take(1);
  book.lapse();
  assert.equal(book.given(lease, 'fetch-1'), false);
  assert.deepEqual([book.isInForce(lease), book.isQuiet()], [false, true]);
});

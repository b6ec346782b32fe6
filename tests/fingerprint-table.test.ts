/** The set of fingerprints in shared memory. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFingerprintTable, openFingerprintTable } from '../src/lib/fingerprint-table.ts';

/** A stream of 64-bit values from a seed (SplitMix64's steps), so that a failure can be run again. */
const createStream = (seed: bigint): (() => bigint) => {
  let state = seed;
  return () => {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let z = state;
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return z ^ (z >> 31n);
  };
};

test('a fingerprint is new once, and known ever after', () => {
  const table = createFingerprintTable();
  const next = createStream(1n);
  const known = Array.from({ length: 100_000 }, next);
  for (const fp of known) assert.equal(table.has(fp), false);
  for (const fp of known) assert.equal(table.add(fp), true);
  assert.equal(table.size, known.length);
  for (const fp of known) assert.ok(table.has(fp) && !table.add(fp));
  assert.equal(table.size, known.length);
  for (let i = 0; i < 100_000; i += 1) assert.equal(table.has(next()), false);
});

test('fingerprints with the same half, with nothing but zeros, and with nothing but ones are told apart', () => {
  const table = createFingerprintTable();
  const odd = [0n, 1n, 1n << 32n, (1n << 32n) | 1n, 0xffffffffn, 0xffffffff00000000n, 0xffffffffffffffffn, 1n << 63n];
  for (const fp of odd) {
    assert.equal(table.has(fp), false);
    assert.equal(table.add(fp), true);
    assert.equal(table.add(fp), false);
  }
  assert.ok(odd.every((fp) => table.has(fp)));
  assert.equal(table.size, odd.length);
  assert.equal(table.remove(0n), true);
  assert.equal(table.remove(0n), false);
  assert.equal(table.has(0n), false);
  assert.equal(table.size, odd.length - 1);
});

test('many fingerprints that want one slot all find a place', () => {
  const table = createFingerprintTable();
  // One segment, one home: the low half is the same for all, or at the very end of the ring.
  const crowd = Array.from({ length: 3_000 }, (_, i) => (BigInt(i) << 32n) | 0xffffffffn);
  for (const fp of crowd) assert.equal(table.add(fp), true);
  assert.ok(crowd.every((fp) => table.has(fp)));
  for (const fp of crowd.slice(0, 1_500)) assert.equal(table.remove(fp), true);
  assert.deepEqual(
    crowd.map((fp) => table.has(fp)),
    crowd.map((_, i) => i >= 1_500),
  );
});

test('the table agrees with a Set through any order of adding and removing', () => {
  for (let seed = 1n; seed <= 20n; seed += 1n) {
    const next = createStream(seed);
    const table = createFingerprintTable(1);
    const truth = new Set<bigint>();
    // Few segments and few low halves, so that runs are long and wrap around the end of a segment.
    const pick = (): bigint => next() & 0x07000003f0000003n;
    for (let step = 0; step < 3_000; step += 1) {
      const fp = pick();
      if (next() % 3n === 0n) {
        assert.equal(table.remove(fp), truth.delete(fp), `seed ${seed}, step ${step}`);
      } else {
        assert.equal(table.add(fp), !truth.has(fp), `seed ${seed}, step ${step}`);
        truth.add(fp);
      }
      assert.equal(table.size, truth.size);
      const other = pick();
      assert.equal(table.has(other), truth.has(other), `seed ${seed}, step ${step}`);
    }
    for (const fp of truth) assert.ok(table.has(fp), `seed ${seed}`);
  }
});

test('an entry costs at most 16 bytes at every size on the way to a million', () => {
  const table = createFingerprintTable();
  const next = createStream(3n);
  let worst = 0;
  for (let i = 1; i <= 1_000_000; i += 1) {
    table.add(next());
    if (i >= 10_000 && i % 1_000 === 0) worst = Math.max(worst, table.bytes / table.size);
  }
  assert.ok(worst <= 16, `${worst} bytes`);
  assert.ok(table.bytes / table.size < 13, `${table.bytes / table.size} bytes at a million`);
});

test('what is taken back leaves its room to others', () => {
  const table = createFingerprintTable();
  const before = table.bytes;
  const next = createStream(6n);
  for (let i = 0; i < 50_000; i += 1) {
    const fp = next();
    table.add(fp);
    table.remove(fp);
  }
  assert.deepEqual([table.size, table.bytes], [0, before]);
});

test('a table made for what it will hold does not grow far beyond it', () => {
  const table = createFingerprintTable(100_000);
  const before = table.bytes;
  const next = createStream(4n);
  for (let i = 0; i < 100_000; i += 1) table.add(next());
  assert.ok(table.bytes < before * 1.1, `${before} -> ${table.bytes}`);
});

test('a table can be read from its shared memory without a copy', () => {
  const table = createFingerprintTable();
  const next = createStream(5n);
  const known = Array.from({ length: 10_000 }, next);
  for (const fp of known) table.add(fp);
  table.add(0n);
  const view = openFingerprintTable(structuredClone(table.shared));
  assert.ok(known.every((fp) => view.has(fp)) && view.has(0n) && !view.has(next()));
  assert.equal(view.size, 10_001);
  assert.equal(view.bytes, table.bytes);
  assert.ok(table.shared.segments.every((segment) => segment instanceof SharedArrayBuffer));
  table.remove(known[0] as bigint);
  assert.equal(view.has(known[0] as bigint), false, 'the memory is one and the same');
  assert.equal(openFingerprintTable(createFingerprintTable().shared).has(0n), false);
});

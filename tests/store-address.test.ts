/** The address of a store is written down and told without the password in it, wherever in it that is. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FILES, writeIdentity } from '../src/folder/folder.ts';
import { knownStore, newStore } from '../src/folder/store-place.ts';
import { completeSettings, UsageError } from '../src/model/read-settings.ts';
import { isSameStore, withoutPassword } from '../src/store/address.ts';

/** An address with a password in it, and what may be written down of it. */
const WRITTEN: Readonly<Record<string, string>> = {
  'redis://:SECRET@h:1/2': 'redis://h:1/2',
  'redis://h?password=SECRET': 'redis://h',
  'rediss://h/1?PASSWORD=SECRET&x=1': 'rediss://h/1?x=1',
  'postgres://h/db?password=SECRET&user=y': 'postgres://h/db?user=y',
  'postgres://y:SECRET@h/db?sslmode=require&sslpassword=SECRET': 'postgres://y@h/db?sslmode=require',
  // What is no address, or another than was meant, may be told in a message.
  'redis://:SECRET@h:port': 'redis://h:port',
  'postgres://y:SECRET@h:port/db?user=y&password=SECRET': 'postgres://h:port/db?user=y&',
  'postgres://y:1/SECRET@h/db': 'postgres://h/db',
};

test('a password is taken out of the address of a store, in front of the host and in the query', () => {
  for (const [given, written] of Object.entries(WRITTEN)) assert.equal(withoutPassword(given), written, given);
  for (const plain of ['sqlite', 'redis://h:1/2', 'postgres://y@h/db?sslmode=verify-full&sslrootcert=/a%20b'])
    assert.equal(withoutPassword(plain), plain);
});

test('crawl.json never has the password of the store, and a resume knows the store by its address', () => {
  const dir = mkdtempSync(join(tmpdir(), 'gossamer-address-'));
  try {
    const store = 'postgres://h/db?password=SECRET&user=y';
    const { settings } = writeIdentity(dir, completeSettings({ email: 'test@example.org', store }, 2));
    assert.doesNotMatch(readFileSync(join(dir, FILES.identity), 'utf8'), /SECRET/);
    assert.equal(isSameStore(settings.store, store), true);
    assert.equal(knownStore(settings.store, store), store);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('an address that is refused is quoted without its password', () => {
  for (const given of ['redis://:SECRET@h:port', 'redis://h:port?password=SECRET', 'mysql://y:SECRET@h/db'])
    assert.throws(
      () => newStore(given),
      (error) => error instanceof UsageError && !error.message.includes('SECRET'),
    );
});

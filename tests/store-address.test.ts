/** The address of a store is written down and told without the password in it, wherever in it that is. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FILES, writeIdentity } from '../src/folder/folder.ts';
import { knownStore, newStore } from '../src/folder/store-place.ts';
import { completeSettings, UsageError } from '../src/model/read-settings.ts';
import { isSameStore, readAddress, withCa, withoutPassword } from '../src/store/address.ts';

/** An address with a password in it, and what may be written down of it. */
const WRITTEN: Readonly<Record<string, string>> = {
  'redis://:SECRET@h:1/2': 'redis://h:1/2',
  'redis://h?password=SECRET': 'redis://h',
  'rediss://h/1?PASSWORD=SECRET&x=1': 'rediss://h/1?x=1',
  'postgres://h/db?password=SECRET&user=y': 'postgres://h/db?user=y',
  'postgres://y:SECRET@h/db?sslmode=require&sslpassword=SECRET': 'postgres://y@h/db?sslmode=require',
  'redis://:SECRET@a:1,b:2': 'redis://a:1,b:2',
  'rediss+sentinel://y:SECRET@a,[::1]:26380/here/2?sentinel_password=SECRET':
    'rediss+sentinel://y@a,[::1]:26380/here/2',
  'postgres://y:SECRET@a:1,b/db?target_session_attrs=any': 'postgres://y@a:1,b/db?target_session_attrs=any',
  // What is no address, or another than was meant, may be told in a message.
  'redis://:SECRET@h:port': 'redis://h:port',
  'postgres://y:SECRET@h:port/db?user=y&password=SECRET': 'postgres://h:port/db?user=y&',
  'postgres://y:1/SECRET@h/db': 'postgres://h/db',
};

test('a password is taken out of the address of a store, in front of the host and in the query', () => {
  for (const [given, written] of Object.entries(WRITTEN)) assert.equal(withoutPassword(given), written, given);
  for (const plain of [
    'sqlite',
    'redis://h:1/2',
    'redis+sentinel://a:1,b:2/here',
    'postgres://y@h/db?sslmode=verify-full&sslrootcert=/a%20b',
  ])
    assert.equal(withoutPassword(plain), plain);
});

test('the address of a store may have several hosts, and Sentinels know a master by its name', () => {
  const { parameters: _, ...sentinel } = readAddress('rediss+sentinel://u:p%40@a,[::1]:5/here/2')!;
  assert.deepEqual(sentinel, {
    kind: 'redis',
    isSecure: true,
    master: 'here',
    hosts: [
      { host: 'a', port: 26_379 },
      { host: '::1', port: 5 },
    ],
    database: '2',
    user: 'u',
    password: 'p@',
  });
  assert.deepEqual(readAddress('postgres://u@a,b:5/db')!.hosts, [
    { host: 'a', port: 5432 },
    { host: 'b', port: 5 },
  ]);
  for (const wrong of [
    'redis+sentinel://a',
    'redis://a,',
    'redis://a:1,b:x',
    'redis://a/1/2',
    'mysql://a',
    'redis://u:1/2@a',
  ])
    assert.equal(readAddress(wrong), null, wrong);
});

test('two addresses are of one store when they have a host in common, and the same database', () => {
  const same = [
    ['redis://a', 'rediss://u:p@a:6379/0'],
    ['redis://a:1,b:2', 'redis://b:2'],
    ['redis+sentinel://a,b/here', 'redis+sentinel://c,b:26379/here/0'],
    ['postgres://a,b/db', 'postgresql://u@b:5432/db?sslmode=disable'],
  ] as const;
  const other = [
    ['redis://a', 'redis://b'],
    ['redis://a', 'redis://a/1'],
    ['redis://a:26379', 'redis+sentinel://a/here'],
    ['redis+sentinel://a/here', 'redis+sentinel://a/there'],
    ['redis+sentinel://a/here', 'redis+sentinel://a/here/1'],
    ['postgres://a,b/db', 'postgres://a:5433/db'],
    ['postgres://a/db', 'redis://a:5432'],
    ['sqlite', 'redis://a'],
  ] as const;
  for (const [a, b] of same) assert.equal(isSameStore(a, b), true, `${a} ${b}`);
  for (const [a, b] of other) assert.equal(isSameStore(a, b) || isSameStore(b, a), false, `${a} ${b}`);
});

test('a file of certificates goes into the address of a store with TLS, where it names none', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['rediss://h', 'rediss://h?sslrootcert=%2Fa%20b'],
    ['rediss+sentinel://h/here?x=1', 'rediss+sentinel://h/here?x=1&sslrootcert=%2Fa%20b'],
    ['postgres://h/db', 'postgres://h/db?sslrootcert=%2Fa%20b'],
    ['postgres://h/db?sslrootcert=/c', 'postgres://h/db?sslrootcert=/c'],
    ['redis://h', 'redis://h'],
    ['sqlite', 'sqlite'],
  ];
  for (const [given, made] of cases) {
    assert.equal(withCa(given, '/a b'), made);
    assert.equal(withCa(given, ''), given);
  }
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

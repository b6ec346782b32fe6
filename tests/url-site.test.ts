/** The site of a host and its shard: what decides where a link belongs. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CANONICAL_VERSION } from '../src/url/canonical.ts';
import { fingerprint, HASH_VERSION } from '../src/url/fingerprint.ts';
import { PUBLIC_SUFFIX_VERSION, siteOf } from '../src/url/site.ts';
import { SHARDS, shardOf } from '../src/url/shard.ts';

test('two users of a private suffix are two sites, two hosts of a domain are one', () => {
  const sites: readonly (readonly [string, string])[] = [
    ['example.org', 'example.org'],
    ['a.b.example.org', 'example.org'],
    ['www.example.co.uk', 'example.co.uk'],
    ['one.github.io', 'one.github.io'],
    ['www.two.github.io', 'two.github.io'],
    ['github.io', 'github.io'],
    ['co.uk', 'co.uk'],
    ['a.b.xn--55qx5d.cn', 'b.xn--55qx5d.cn'],
    ['www.xn--bcher-kva.de', 'xn--bcher-kva.de'],
    ['a_b.c_d.org', 'c_d.org'],
    ['a,b.example.org', 'example.org'],
    ['-a-.example.org', 'example.org'],
    ['x.y.no-such-suffix', 'y.no-such-suffix'],
    ['localhost', 'localhost'],
    ['127.0.0.1', '127.0.0.1'],
    ['[2001:db8::1]', '[2001:db8::1]'],
  ];
  for (const [host, site] of sites) assert.equal(siteOf(host), site, host);
});

test('the site of a site is itself', () => {
  for (const host of [
    'a.b.example.org',
    'x.github.io',
    'github.io',
    '1.2.3.4',
    'a.b.ck',
    'x.kawasaki.jp',
    'y.x.kawasaki.jp',
  ]) {
    assert.equal(siteOf(siteOf(host)), siteOf(host), host);
  }
});

test('what decides a shard never changes without its version', () => {
  assert.equal(HASH_VERSION, 'xxh64-1');
  assert.equal(CANONICAL_VERSION, 1);
  assert.match(PUBLIC_SUFFIX_VERSION, /^tldts-\d+\.\d+\.\d+$/);
  // The first is the value that the definition of XXH64 gives for no bytes and seed 0.
  assert.equal(fingerprint(''), 0xef46db3751d8e999n);
  assert.equal(fingerprint('example.org'), 0xaf2e84d72d027535n);
  assert.equal(fingerprint('https://example.org/a?b=c'), 0xbd7ada2e9cfac699n);
  assert.equal(fingerprint('é日本'), 0xc80b5879e85aefa7n);
  assert.equal(SHARDS, 64);
  assert.deepEqual(
    ['example.org', 'example.com', 'one.github.io', '127.0.0.1', ''].map((site) => shardOf(site)),
    [53, 9, 28, 39, 25],
  );
  assert.deepEqual(
    [1, 2, 7, 1000].map((shards) => shardOf('example.org', shards)),
    [0, 1, 3, 797],
  );
});

test('sites spread evenly over the shards', () => {
  const counts = new Array<number>(SHARDS).fill(0);
  for (let i = 0; i < 64_000; i += 1) counts[shardOf(`site-${i}.example`)]! += 1;
  assert.ok(Math.min(...counts) > 800 && Math.max(...counts) < 1_200, counts.join(' '));
});

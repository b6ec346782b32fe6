/** Where a request goes: addresses that are refused, rules that lead elsewhere, names that are looked up. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPublicAddress } from '../src/fetch/address-guard.ts';
import { readConnectTo, targetOf, type ConnectTo } from '../src/fetch/connect-to.ts';
import { readHosts } from '../src/fetch/hosts-file.ts';
import { createLookup, NAMES_CACHED_MAX, type Found, type Lookup } from '../src/fetch/lookup.ts';
import { answered, failed, onLoopback, requestFor, textOf } from './support/loopback.ts';
import { startNameServer, type NameServer, type Zone } from './support/name-server.ts';

test('addresses that are not of the public internet are refused', () => {
  const refused = [
    '0.0.0.0',
    '0.1.2.3',
    '10.1.2.3',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.9.9.9',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.7',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.9',
    '224.0.0.1',
    '239.1.1.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'fc00::1',
    'fdff::1',
    'ff02::1',
    '100::1',
    '2001:db8::1',
    '3fff::1',
    '2001:2::1',
    '2001:10::1',
    '4000::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '0:0:0:0:0:ffff:0a00:0001',
    '::127.0.0.1',
    '::10.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b:1::808:808',
    '2002:7f00:1::',
    '2002:c0a8:101::1',
    '2001:0:808:808::f5ff:fffe',
    '2001:0:a00:1::f7f7:f7f7',
    '2606:4700::5efe:10.0.0.1',
    '::ffff:0:8.8.8.8',
    '',
    'example.org',
    '1.2.3',
    '1.2.3.4.5',
  ];
  for (const address of refused) assert.equal(isPublicAddress(address), false, address);
});

test('public addresses are not refused, nor what wraps one', () => {
  for (const address of [
    '1.1.1.1',
    '8.8.8.8',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.0.1',
    '172.32.0.1',
    '192.0.1.1',
    '198.17.0.1',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00:1450::1',
    '2001:4860:4860::8888',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:808:808::1',
    '2001:0:808:808::f7f7:f7f7',
  ]) {
    assert.equal(isPublicAddress(address), true, address);
  }
});

test('a request to an address that is not public is not sent, however the address is written', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve(() => {});
    const fetcher = place.fetcher({ allowPrivateAddresses: false });
    for (const host of [
      '127.0.0.1',
      '0x7f.1',
      '2130706433',
      '0177.0.0.1',
      '127.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[64:ff9b::7f00:1]',
      '[::]',
      '0.0.0.0',
      'localhost',
      'a.localhost',
      'localhost.',
      '%31%32%37.0.0.1',
    ]) {
      const exchange = failed(await fetcher.fetch(requestFor(`http://${host}:${server.port}/`)));
      assert.equal(exchange.cause, 'address', `${host}: ${exchange.detail}`);
      assert.equal(exchange.startedAt, null);
    }
    assert.equal(server.connections(), 0);
  });
});

test('an address that a rule names is allowed, for the requests of that rule only', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    const rule = readConnectTo(`named.test:80:127.0.0.1:${server.port}`) as ConnectTo;
    const portOnly = readConnectTo(`127.0.0.1:80::${server.port}`) as ConnectTo;
    const fetcher = place.fetcher({ allowPrivateAddresses: false, connectTo: [rule, portOnly] });
    const exchange = answered(await fetcher.fetch(requestFor('http://named.test/x')));
    assert.equal(exchange.address, '127.0.0.1');
    assert.match(exchange.requestHead, /\r\nHost: named\.test\r\n/);
    assert.equal(failed(await fetcher.fetch(requestFor(`http://127.0.0.1:${server.port}/`))).cause, 'address');
    assert.equal(failed(await fetcher.fetch(requestFor('http://127.0.0.1/'))).cause, 'address');
    assert.equal(server.heads.length, 1);
  });
});

test('rules are read as curl reads them', () => {
  const rule = (host: string, port: number | null, address: string, toPort: number | null): ConnectTo => ({
    host,
    port,
    address,
    toPort,
  });
  assert.deepEqual(readConnectTo('a.test:443:127.0.0.1:8443'), rule('a.test', 443, '127.0.0.1', 8443));
  assert.deepEqual(readConnectTo('*:*:[::1]:80'), rule('', null, '::1', 80));
  assert.deepEqual(readConnectTo('::other.test:'), rule('', null, 'other.test', null));
  assert.deepEqual(readConnectTo('[0:0::1]:80::81'), rule('::1', 80, '', 81));
  assert.deepEqual(readConnectTo('B\u00fccher.test:*:*:*'), rule('xn--bcher-kva.test', null, '', null));
  for (const text of [
    '',
    'a',
    'a:1:b',
    'a:1:b:2:3',
    'a:x:b:1',
    'a:1:b:70000',
    '[zz]:1:b:1',
    'a:1:::1:80',
    'a b:1:c:2',
    'a/b:1:c:2',
  ]) {
    assert.equal(readConnectTo(text), null, text);
  }
});

test('the first rule that matches decides where a request goes', () => {
  const rules = ['a.test:80:10.0.0.1:', 'a.test:*:10.0.0.2:99', '*:443::444'].map(
    (text) => readConnectTo(text) as ConnectTo,
  );
  assert.deepEqual(targetOf(rules, 'a.test', 80), { host: '10.0.0.1', port: 80, named: true });
  assert.deepEqual(targetOf(rules, 'a.test', 443), { host: '10.0.0.2', port: 99, named: true });
  assert.deepEqual(targetOf(rules, 'b.test', 443), { host: 'b.test', port: 444, named: false });
  assert.deepEqual(targetOf(rules, 'b.test', 80), { host: 'b.test', port: 80, named: false });
});

test('a hosts file is read with its comments and aliases', () => {
  const hosts = readHosts(
    '127.0.0.1 localhost\n# 1.1.1.1 no\n10.0.0.1\tDb db.local # the database\n::1 localhost\nnonsense line\n',
  );
  assert.deepEqual(
    [...hosts],
    [
      ['localhost', ['127.0.0.1', '::1']],
      ['db', ['10.0.0.1']],
      ['db.local', ['10.0.0.1']],
    ],
  );
});

/** A lookup against a name server with this zone, on a clock that the story moves. */
const asking = async (zone: Zone, story: (ask: Asking) => Promise<void>): Promise<void> => {
  const server = await startNameServer(zone);
  let nowMs = 1_000_000;
  const clock = { now: () => nowMs, sleep: async () => {} };
  const lookup = createLookup({ clock, hosts: readHosts('10.0.0.9 own.test'), nameServers: [server.address] });
  try {
    await story({
      server,
      lookup,
      find: (host) => new Promise((resolve) => lookup.find(host, resolve)),
      pass: (ms) => {
        nowMs += ms;
      },
    });
  } finally {
    lookup.close();
    await server.close();
  }
};

interface Asking {
  readonly server: NameServer;
  readonly lookup: Lookup;
  find(host: string): Promise<Found>;
  pass(ms: number): void;
}

test('a name is asked for once until its time to live is over', async () => {
  await asking({ 'a.test': { a: ['192.0.2.1', '192.0.2.2'], ttl: 60 } }, async ({ find, server, pass }) => {
    const both = await Promise.all([find('a.test'), find('a.test.')]);
    assert.deepEqual(both[0], { kind: 'found', addresses: ['192.0.2.1', '192.0.2.2'] });
    assert.deepEqual(both[1], both[0]);
    pass(59_000);
    await find('a.test');
    assert.deepEqual(server.questions, ['A a.test']);
    pass(2_000);
    await find('a.test');
    assert.equal(server.questions.length, 2);
  });
});

test('a time to live has a floor and a ceiling', async () => {
  await asking(
    { 'short.test': { a: ['192.0.2.1'], ttl: 0 }, 'long.test': { a: ['192.0.2.1'], ttl: 999_999 } },
    async ({ find, server, pass }) => {
      await find('short.test');
      await find('long.test');
      pass(4_000);
      await find('short.test');
      assert.equal(server.questions.length, 2);
      pass(3_600_000);
      await find('long.test');
      assert.equal(server.questions.length, 3);
    },
  );
});

test('a name without A records is asked for AAAA, a name that does not exist is not', async () => {
  await asking({ 'six.test': { aaaa: ['20010db8000000000000000000000001'] } }, async ({ find, server }) => {
    assert.deepEqual(await find('six.test'), { kind: 'found', addresses: ['2001:db8::1'] });
    assert.deepEqual(await find('none.test'), { kind: 'missing', detail: 'ENOTFOUND', isGone: true });
    assert.deepEqual(server.questions, ['A six.test', 'AAAA six.test', 'A none.test']);
  });
});

test('failures are remembered too, trouble of the name servers for a shorter time', async () => {
  await asking({ 'ill.test': { code: 2 } }, async ({ find, server, pass }) => {
    await find('none.test');
    assert.equal((await find('ill.test')).kind, 'missing');
    const asked = server.questions.length;
    await find('none.test');
    await find('ill.test');
    assert.equal(server.questions.length, asked);
    pass(6_000);
    await find('none.test');
    assert.equal(server.questions.length, asked);
    await find('ill.test');
    assert.ok(server.questions.length > asked);
  });
});

test('names of the hosts file, localhost and literal addresses are never asked for', async () => {
  await asking({}, async ({ find, server }) => {
    assert.deepEqual(await find('own.test'), { kind: 'found', addresses: ['10.0.0.9'] });
    assert.deepEqual(await find('x.localhost'), { kind: 'found', addresses: ['127.0.0.1', '::1'] });
    assert.deepEqual(await find('2001:db8::5'), { kind: 'found', addresses: ['2001:db8::5'] });
    assert.equal((await find('')).kind, 'missing');
    assert.equal((await find(`${'a.'.repeat(200)}test`)).kind, 'missing');
    assert.equal((await find(`${'a'.repeat(80)}.test`)).kind, 'missing');
    assert.deepEqual(server.questions, []);
  });
});

test('the names remembered have a ceiling, the oldest goes first', async () => {
  await asking({}, async ({ find, server }) => {
    // Labels over 63 characters fail without a question, and are remembered like any other.
    const name = (index: number): string => `${String(index).padStart(70, 'x')}.test`;
    await find('first.test');
    for (let index = 0; index < NAMES_CACHED_MAX - 1; index++) await find(name(index));
    await find('first.test');
    assert.equal(server.questions.length, 1);
    await find(name(NAMES_CACHED_MAX));
    await find('first.test');
    assert.equal(server.questions.length, 2);
  });
});

test('a lookup that is under way when all is closed still answers', async () => {
  await asking({ 'mute.test': { silent: true } }, async ({ find, lookup }) => {
    const found = find('mute.test');
    lookup.close();
    assert.equal((await found).kind, 'missing');
  });
});

test('of a host with private and public addresses only the public ones are dialled', async () => {
  const names = await startNameServer({
    'mixed.test': { a: ['127.0.0.1', '10.0.0.1'] },
    'none.test': { code: 3 },
    'mute.test': { silent: true },
  });
  try {
    await onLoopback(async (place) => {
      const server = await place.serve((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nhere'));
      const guarded = place.fetcher({ allowPrivateAddresses: false, nameServers: [names.address] });
      const refused = failed(await guarded.fetch(requestFor(`http://mixed.test:${server.port}/`)));
      assert.equal(refused.cause, 'address');
      assert.equal(refused.startedAt, null);
      assert.equal(server.connections(), 0);

      const open = place.fetcher({ nameServers: [names.address] });
      assert.equal(textOf(await open.fetch(requestFor(`http://mixed.test:${server.port}/`))), 'here');
      const missing = failed(await open.fetch(requestFor('http://none.test/')));
      assert.deepEqual([missing.cause, missing.detail, missing.startedAt], ['no-name', 'ENOTFOUND', null]);
      const hurried = place.fetcher({ nameServers: [names.address], connectTimeoutMs: 300 });
      assert.equal(failed(await hurried.fetch(requestFor('http://mute.test/'))).cause, 'dns');
    });
  } finally {
    await names.close();
  }
});

test('when one address refuses, the next one is tried', async () => {
  const names = await startNameServer({
    'two.test': { a: ['127.0.0.2', '127.0.0.1'] },
    'dead.test': { a: ['127.0.0.2', '127.0.0.3'] },
  });
  try {
    await onLoopback(async (place) => {
      const server = await place.serve((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nhere'));
      const fetcher = place.fetcher({ nameServers: [names.address] });
      const exchange = answered(await fetcher.fetch(requestFor(`http://two.test:${server.port}/`)));
      assert.equal(exchange.address, '127.0.0.1');
      const dead = failed(await fetcher.fetch(requestFor(`http://dead.test:${server.port}/`)));
      assert.equal(dead.cause, 'refused');
      assert.match(dead.detail, /ECONNREFUSED/);
      assert.notEqual(dead.startedAt, null);
    });
  } finally {
    await names.close();
  }
});

/** Private networks that may be visited: as a person writes them, and what they let through. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readConfigFile } from '../src/cli/config-file.ts';
import { readFlags } from '../src/cli/flags.ts';
import { givenSettings, SETTING_FLAGS } from '../src/cli/setting-flags.ts';
import { createAddressGuard } from '../src/fetch/address-guard.ts';
import { completeSettings } from '../src/model/read-settings.ts';
import { writeSetting } from '../src/model/write-setting.ts';
import { answered, failed, onLoopback, requestFor } from './support/loopback.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-networks-'));
after(() => rmSync(home, { recursive: true }));

const allowed = (allow: boolean | readonly string[], addresses: readonly string[]): string[] =>
  addresses.filter(createAddressGuard(allow));

test('addresses of the networks that are named may be visited beside public ones, and no others', () => {
  const addresses = ['8.8.8.8', '10.1.0.1', '10.1.255.255', '10.2.0.1', '127.0.0.1', 'fd12::1', 'fe80::1', '::1'];
  assert.deepEqual(allowed(false, addresses), ['8.8.8.8']);
  assert.deepEqual(allowed([], addresses), ['8.8.8.8']);
  assert.deepEqual(allowed(true, addresses), addresses);
  assert.deepEqual(allowed(['10.1.0.0/16', 'fd00::/8'], addresses), ['8.8.8.8', '10.1.0.1', '10.1.255.255', 'fd12::1']);
  assert.deepEqual(allowed(['127.0.0.1'], addresses), ['8.8.8.8', '127.0.0.1']);
  assert.deepEqual(allowed(['::1'], addresses), ['8.8.8.8', '::1']);
  assert.deepEqual(allowed(['10.1.2.3/16'], ['10.1.9.9']), ['10.1.9.9']);
});

test('an IPv4 address inside an IPv6 one is judged as IPv4, however large the IPv6 network', () => {
  const wrapped = [
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::127.0.0.1',
    '64:ff9b::127.0.0.1',
    '2002:7f00:1::1',
    '2001:0:808:808::80ff:fffe',
    'fd00::5efe:127.0.0.1',
  ];
  assert.deepEqual(allowed(['::/0'], wrapped), []);
  assert.deepEqual(allowed(['fd00::/8', '10.0.0.0/8'], wrapped), []);
  assert.deepEqual(allowed(['127.0.0.0/8'], wrapped), wrapped.slice(0, -1), 'the last is in a private network, too');
  assert.deepEqual(allowed(['127.0.0.0/8', 'fd00::/8'], wrapped), wrapped);
  assert.deepEqual(allowed(['0.0.0.0/0'], ['fd00::1', '::1', '::', '::2']), ['::2'], 'the last is 0.0.0.2');
  assert.deepEqual(allowed(['::/0'], ['10.0.0.1', 'fd00::1', 'fe80::1%eth0']), ['fd00::1']);
});

test('a request goes to a network that is named, and not to its neighbour', async () => {
  await onLoopback(async (place) => {
    const server = await place.serve((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    const visit = (allow: readonly string[]) =>
      place.fetcher({ allowPrivateAddresses: allow }).fetch(requestFor(server.url));
    assert.equal(failed(await visit(['127.0.0.2', '10.0.0.0/8', '::/0'])).cause, 'address');
    assert.equal(server.connections(), 0);
    assert.equal(answered(await visit(['127.0.0.0/31'])).address, '127.0.0.1');
  });
});

const given = (...args: string[]): { allow: unknown; words: readonly string[] } => {
  const read = readFlags(args, SETTING_FLAGS, 'crawl');
  return { allow: givenSettings(read).allowPrivateAddresses, words: read.words };
};

test('the flag takes networks, and without them it means all, whatever follows', () => {
  const flag = '--allow-private-addresses';
  assert.deepEqual(given(flag), { allow: true, words: [] });
  assert.deepEqual(given(flag, 'seeds.txt'), { allow: true, words: ['seeds.txt'] });
  assert.deepEqual(given(flag, '10 sites.txt'), { allow: true, words: ['10 sites.txt'] });
  assert.deepEqual(given(flag, '--delay', '1s').allow, true);
  assert.deepEqual(given(flag, 'all', 'seeds.txt'), { allow: true, words: ['seeds.txt'] });
  assert.deepEqual(given(`${flag}=all`).allow, true);
  for (const words of [[flag, '10.1.0.0/16,fd00::/8'], [`${flag}=10.1.0.0/16, fd00::/8`]])
    assert.deepEqual(given(...words), { allow: ['10.1.0.0/16', 'fd00::/8'], words: [] });
  assert.deepEqual(given(flag, '10.1.2.3', 'seeds.txt'), { allow: ['10.1.2.3'], words: ['seeds.txt'] });
  assert.equal(given('--no-allow-private-addresses').allow, false);
  assert.equal(given(flag, '--no-allow-private-addresses').allow, false);
  assert.equal(given(flag, '10.0.0.0/8', '--no-allow-private-addresses').allow, false);
  assert.deepEqual(given('--no-allow-private-addresses', flag, '10.0.0.0/8').allow, ['10.0.0.0/8']);
  assert.equal(given(flag, '10.0.0.0/8', flag).allow, true);
  assert.throws(() => given('--no-allow-private-addresses=10.0.0.0/8'), /takes no value/);
});

const settingsWith = (allow: unknown) =>
  completeSettings({ email: 'me@example.org', allowPrivateAddresses: allow as boolean }, 2);

test('what is not a network is refused with a sentence that names it', () => {
  for (const wrong of ['10.1.0.0/33', 'fd00::/129', '10.1/16', 'example.org', 'fe80::1%eth0', '10.0.0.0/', '', '/8'])
    assert.throws(
      () => settingsWith(['10.0.0.0/8', wrong]),
      new RegExp(`^UsageError: --allow-private-addresses ${JSON.stringify(wrong)} is not a network: write`),
    );
  assert.throws(() => settingsWith(['::ffff:10.0.0.0/104']), /is a network of IPv4 addresses: write it as one/);
  assert.throws(() => settingsWith('10.0.0.0/8'), /is not understood/);
  assert.throws(() => settingsWith(7), /is not understood/);
});

test('a file can have true, all, one network, or a list of them; and they are written back as they were', async () => {
  const inFile = async (value: string): Promise<unknown> => {
    const path = join(home, 'crawl.yaml');
    writeFileSync(path, `allow-private-addresses: ${value}\n`);
    return (await readConfigFile(path)).settings.allowPrivateAddresses;
  };
  assert.equal(await inFile('true'), true);
  assert.equal(await inFile('false'), false);
  assert.equal(await inFile('all'), true);
  assert.deepEqual(await inFile('10.0.0.0/8, fd00::/8'), ['10.0.0.0/8', 'fd00::/8']);
  assert.deepEqual(await inFile('["10.0.0.0/8", "fd00::/8"]'), ['10.0.0.0/8', 'fd00::/8']);
  await assert.rejects(inFile('["10.0.0.0/99"]'), /line 1.*"10\.0\.0\.0\/99" is not a network/);
  await assert.rejects(inFile('7'), /is not understood: write networks/);
  for (const value of [true, false, ['10.0.0.0/8']])
    assert.deepEqual(writeSetting('allowPrivateAddresses', value), value);
});

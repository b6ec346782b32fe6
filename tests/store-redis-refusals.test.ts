/** What cannot be waited for is said in one sentence, with advice, and never with a password. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { Redis } from 'ioredis';
import { StoreFault } from '../src/contract/fault.ts';
import { ask, claimOne, link, linksOf, settlementOf } from './contract/store-scene.ts';
import { freePort } from './support/free-port.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { createMember, openLook, openMember, pagesOf, removeMember, rowsPathOf } from './support/redis-scene.ts';
import { startRedis, startRedisCluster, type RedisServer } from './support/redis-server.ts';
import { selfSigned } from './support/self-signed.ts';
import { until } from './support/until.ts';

const PASSWORD = 'a-secret-4711';
let server: RedisServer;
before(async () => void (server = await startRedis({ requirepass: PASSWORD })));
after(() => server.remove());

const at = (address: string): string => `redis://${address}127.0.0.1:${server.port}`;

/** Opening must fail with that sentence, and with advice; no word of it, its cause included, has the password. */
const refuses = async (url: string, sentence: RegExp, advice = /./): Promise<void> => {
  const folder = createMember();
  try {
    await assert.rejects(openMember(folder, { url, archive: openMemoryArchive() }), (fault) => {
      assert.ok(fault instanceof StoreFault, inspect(fault));
      assert.match(fault.message, sentence);
      assert.match(fault.advice, advice);
      assert.doesNotMatch(inspect(fault, { depth: 20 }), /4711|another-secret/);
      return true;
    });
  } finally {
    removeMember(folder);
  }
};

test('redis: a wrong password, and none, are refused with a sentence', async () => {
  await refuses(at(':another-secret@'), /^Redis at 127\.0\.0\.1:\d+ refuses the user or the password$/);
  await refuses(at(`nobody:${PASSWORD}@`), /refuses the user or the password$/);
  await refuses(at(''), /refuses the user or the password$/);
});

test('redis: TLS where there is none, none where there is, and a certificate of nobody are told apart', async () => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-redis-tls-'));
  const tlsPort = await freePort();
  const [certFile, keyFile] = [join(home, 'cert.pem'), join(home, 'key.pem')];
  const { cert, key } = selfSigned('localhost');
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key, { mode: 0o600 });
  const secure = await startRedis({
    'tls-port': String(tlsPort),
    'tls-cert-file': certFile,
    'tls-key-file': keyFile,
    'tls-ca-cert-file': certFile,
    'tls-auth-clients': 'no',
  });
  try {
    const noTls = /^Redis at 127\.0\.0\.1:\d+ does not begin TLS \(.*\)$/;
    await refuses(`rediss://127.0.0.1:${secure.port}`, noTls, /without TLS, write redis:\/\//);
    const noAnswer = /^Redis at 127\.0\.0\.1:\d+ does not answer \(.*\)$/;
    await refuses(`redis://127.0.0.1:${tlsPort}`, noAnswer, /with TLS, write rediss:\/\//);
    const untrusted = /^the certificate of Redis at 127\.0\.0\.1:\d+ is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)$/;
    await refuses(`rediss://127.0.0.1:${tlsPort}`, untrusted, /--store-ca FILE/);
  } finally {
    await secure.remove();
    rmSync(home, { recursive: true });
  }
});

test('redis: a database that the server does not have is refused with a sentence', async () => {
  await refuses(`${at(`:${PASSWORD}@`)}/99`, /does not have the database of the URL$/);
});

test('redis: a replica is refused with a sentence', async () => {
  const replica = await startRedis({ replicaof: `127.0.0.1 ${server.port}`, masterauth: PASSWORD });
  await refuses(replica.url, /is read-only, a replica$/);
  await replica.remove();
});

test('redis: what is not a Redis is refused with a sentence', async () => {
  const web = createHttpServer((_, answer) => answer.end('hello')).listen(0, '127.0.0.1');
  await once(web, 'listening');
  await refuses(
    `redis://127.0.0.1:${(web.address() as AddressInfo).port}`,
    /^what answers at 127\.0\.0\.1:\d+ is not a Redis$/,
  );
  web.closeAllConnections();
  web.close();
  await refuses('http://127.0.0.1/', /is not one of a Redis$/);
  await refuses(`redis://:${PASSWORD}@`, /^the URL of the store/);
});

test('redis: a server that is not there is named after a while', async () => {
  const gone = await startRedis();
  await gone.remove();
  await refuses(gone.url, /does not answer \(ECONNREFUSED\)$/);
});

test('redis-cluster: a database other than 0 is refused with a sentence', async () => {
  const cluster = await startRedisCluster();
  await refuses(`${cluster.url}/1`, /does not have the database of the URL$/);
  await cluster.remove();
});

test('redis: a crawl of another layout or another number of shards is refused with a sentence', async () => {
  const url = at(`:${PASSWORD}@`);
  const folder = createMember();
  const archive = openMemoryArchive();
  await (await openMember(folder, { url, archive })).close();
  await assert.rejects(openMember(folder, { url, archive, shards: 32 }), /has 64 shards, not 32/);
  const redis = new Redis(url);
  for (const [layout, advice] of [
    ['99', /newer version/],
    ['1', /go on with gossamer 0\.1\.0/],
  ] as const) {
    await redis.hset(`{${folder.crawl}}:meta`, 'layout', layout);
    const isRefused = (fault: unknown): boolean =>
      fault instanceof StoreFault &&
      fault.message.endsWith(`has layout ${layout}, this program knows 3`) &&
      advice.test(fault.advice);
    await assert.rejects(openMember(folder, { url, archive }), isRefused);
    await assert.rejects(openLook(folder, { url }), isRefused);
  }
  redis.disconnect();
  await assert.rejects(openMember({ ...folder, crawl: 'a{b' }, { url, archive }), /cannot be the name of a crawl/);
  await assert.rejects(openMember({ ...folder, member: 'a/b' }, { url, archive }), /cannot be the name of a member/);
  removeMember(folder);
});

test('redis: rows of another layout are refused with a sentence, by whoever opens them', async () => {
  const url = at(`:${PASSWORD}@`);
  const folder = createMember();
  const archive = openMemoryArchive();
  await (await openMember(folder, { url, archive })).close();
  const db = new DatabaseSync(rowsPathOf(folder));
  db.exec('PRAGMA user_version = 1');
  db.close();
  const isRefused = (fault: unknown): boolean =>
    fault instanceof StoreFault && /has layout 1, this program knows 3/.test(fault.message);
  await assert.rejects(openMember(folder, { url, archive }), isRefused);
  const crawl = await openLook(folder, { url });
  await assert.rejects(crawl.pagesAfter(0, {}), isRefused);
  await crawl.close();
  removeMember(folder);
});

test('redis: a server that keeps nothing on disk is warned of, one that does is not', async () => {
  const folder = createMember();
  await (await openMember(folder, { url: at(`:${PASSWORD}@`), archive: openMemoryArchive() })).close();
  assert.equal(folder.said.length, 1);
  assert.match(folder.said[0]!, /keeps nothing on disk/);
  for (const settings of [{ appendonly: 'yes' }, { save: '3600 1' }]) {
    const kept = await startRedis(settings);
    const other = createMember();
    await (await openMember(other, { url: kept.url, archive: openMemoryArchive() })).close();
    assert.deepEqual(other.said, []);
    removeMember(other);
    await kept.remove();
  }
  removeMember(folder);
});

test('redis: a server that cannot write to its disk says so and has changed nothing', async () => {
  const turned = await startRedis({ save: '3600 1' });
  const redis = new Redis(turned.url);
  const folder = createMember();
  const store = await openMember(folder, { url: turned.url, archive: openMemoryArchive() });
  await store.admit([link('a.example/1')]);
  rmSync(turned.dir, { recursive: true });
  await redis.bgsave();
  await until('the save has failed', async () =>
    (await redis.info('persistence')).includes('rdb_last_bgsave_status:err'),
  );
  await assert.rejects(store.admit([link('a.example/3')]), /cannot write to its disk and so takes nothing more$/);
  assert.equal((await store.census()).waiting, 1);
  await store.close();
  redis.disconnect();
  await turned.remove();
  removeMember(folder);
});

test('redis: a server that is full says so, keeps what it has whole, and takes more when it has room', async () => {
  const full = await startRedis({ maxmemory: '4mb', 'maxmemory-policy': 'noeviction' });
  const redis = new Redis(full.url);
  const folder = createMember();
  const archive = openMemoryArchive();
  let store = await openMember(folder, { url: full.url, archive });
  await store.admit([link('first.example/1')]);
  const visit = await claimOne(store);
  let taken = 1;
  await assert.rejects(
    async () => {
      for (let page = 0; page < 1_000; page++) {
        const { admitted } = await store.admit(
          Array.from({ length: 200 }, (_, i) => link(`s.example/${'x'.repeat(100)}/${page}/${i}`)),
        );
        taken += admitted;
      }
    },
    (fault) => {
      assert.ok(fault instanceof StoreFault);
      assert.match(fault.message, /is full and takes nothing more$/);
      assert.match(fault.advice, /maxmemory/);
      return true;
    },
  );
  const census = await store.census();
  assert.deepEqual([census.waiting, census.leased], [taken - 1, 1], 'no link half taken');
  await assert.rejects(store.settle([settlementOf(visit)]), /is full/);
  await assert.rejects(store.claim(ask()), /is full/);
  assert.deepEqual(pagesOf(folder), [], 'no row of a page that is not settled');
  await redis.config('SET', 'maxmemory', '0');
  assert.deepEqual(await store.settle([settlementOf(visit)]), { settled: 1, refused: 0 }, 'its lease stayed in force');
  await store.close();
  store = await openMember(folder, { url: full.url, archive });
  assert.equal((await store.admit(linksOf('t.example', 3))).admitted, 3);
  assert.deepEqual(
    pagesOf(folder).map(({ url }) => url),
    ['https://first.example/1'],
  );
  await store.close();
  redis.disconnect();
  await full.remove();
  removeMember(folder);
});

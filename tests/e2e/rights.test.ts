/** The rights that the guide names are enough for a crawl, and are no more than it needs. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { startPostgres } from '../support/postgres-server.ts';
import { startRedis, startRedisCluster } from '../support/redis-server.ts';
import { assertCode, assertNoFault, flagWords, onStage, plainPlan, type Stage } from '../support/stage.ts';

const GUIDE = readFileSync(new URL('../../docs/how-to/share-a-crawl.md', import.meta.url), 'utf8');

/** The words after ACL SETUSER, without the quotes of the shell. */
const redisRights = (): string[] => {
  const [, line] = /^redis-cli ACL SETUSER (.+)$/m.exec(GUIDE) ?? assert.fail('the guide has no ACL line');
  return line!.split(' ').map((word) => word.replace(/^'|'$/g, ''));
};

/** All that a person does with a shared crawl, as a user with these rights. */
const useAll = async (stage: Stage, url: string): Promise<void> => {
  process.env.GOSSAMER_STORE = url;
  try {
    assertCode(await stage.crawl({ name: 'news', 'max-pages': 10 }), 0);
    const second = join(stage.home, 'second');
    assertCode(await stage.gossamer('join', second, ...flagWords({ name: 'news', 'disk-reserve': '10MiB' })), 0);
    assertCode(await stage.resume({ 'max-pages': 'none', 'retry-parked': true }), 0);
    assertNoFault(stage.report());
    assert.equal((await stage.status()).pages, stage.world.reachable().pages.size);
    for (const command of ['sites', 'verify']) assertCode(await stage.gossamer(command, stage.dir), 0);
  } finally {
    delete process.env.GOSSAMER_STORE;
  }
};

const asCrawler = (url: string): string => url.replace(/:\/\/(?:[^@]*@)?/, '://crawler:password@');

test('redis: a user with the rights of the guide runs a crawl, moves it away and back, and may do nothing else', async () => {
  const server = await startRedis({ appendonly: 'yes' });
  const redis = new Redis(server.url);
  try {
    await redis.call('ACL', 'SETUSER', ...redisRights());
    await redis.set('{other}:meta', 'of others');
    await onStage(plainPlan(4, 24), async (stage) => {
      const url = asCrawler(server.url);
      process.env.GOSSAMER_STORE = url;
      assertCode(await stage.crawl({ name: 'news', 'max-pages': 10 }), 0);
      assertCode(await stage.gossamer('migrate', stage.dir, '--to', 'sqlite'), 0);
      await redis.call('EVAL', "for _, k in ipairs(redis.call('KEYS', '{news*')) do redis.call('DEL', k) end", '0');
      assertCode(await stage.gossamer('migrate', stage.dir, '--to', url, '--name', 'news'), 0);
      assertCode(await stage.resume({ 'max-pages': 'none' }), 0);
      assert.equal((await stage.status()).pages, stage.world.reachable().pages.size);
    });
    await redis.call('EVAL', "for _, k in ipairs(redis.call('KEYS', '{news*')) do redis.call('DEL', k) end", '0');
    await onStage(plainPlan(4, 24), (stage) => useAll(stage, asCrawler(server.url)));
    const crawler = new Redis(asCrawler(server.url));
    for (const [command, ...words] of [
      ['GET', '{other}:meta'],
      ['FLUSHALL'],
      ['KEYS', '*'],
      ['CONFIG', 'SET', 'save', ''],
      ['ACL', 'LIST'],
      ['SHUTDOWN'],
      ['PUBLISH', 'channel', 'text'],
    ])
      await assert.rejects(crawler.call(command!, ...words), /NOPERM/, command);
    crawler.disconnect();
  } finally {
    delete process.env.GOSSAMER_STORE;
    redis.disconnect();
    await server.remove();
  }
});

test('redis-cluster: a user with the rights of the guide runs a crawl', async () => {
  const cluster = await startRedisCluster();
  try {
    for (const node of cluster.nodes) {
      const redis = new Redis(node.url);
      await redis.call('ACL', 'SETUSER', ...redisRights());
      redis.disconnect();
    }
    await onStage(plainPlan(4, 24), (stage) => useAll(stage, asCrawler(cluster.url)));
  } finally {
    await cluster.remove();
  }
});

test('postgres: a user with the rights of the guide runs a crawl, and sees no other schema', async () => {
  const server = await startPostgres();
  try {
    const [, statements] = /^```sql\n(CREATE ROLE crawler [^`]+)```$/m.exec(GUIDE) ?? assert.fail('no GRANT');
    const url = await server.database();
    const name = new URL(url).pathname.slice(1);
    await server.query(url, `REVOKE ALL ON DATABASE ${name} FROM PUBLIC`);
    await server.query(url, 'REVOKE ALL ON SCHEMA public FROM PUBLIC');
    await server.query(url, 'CREATE TABLE of_others (n int)');
    await server.query(url, statements!.replace('DATABASE crawls', `DATABASE ${name}`));
    await onStage(plainPlan(4, 24), (stage) => useAll(stage, asCrawler(url)));
    await assert.rejects(server.query(asCrawler(url), 'SELECT * FROM public.of_others'), /permission denied/);
  } finally {
    await server.remove();
  }
});

/**
 * The binary with waiting links in files: killed and resumed, nothing is lost and nothing archived twice; one machine
 * only.
 */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { archivedIn, assertArchivedOnce } from '../support/archive-check.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { assertAddsUp, assertCode, assertNoFault, flagWords, onStage, plainPlan } from '../support/stage.ts';
import { until } from '../support/until.ts';

let server: RedisServer;
before(async () => void (server = await startRedis()));
after(() => server.remove());

test('a crawl with waiting links in files that is killed and resumed archives every page once', () =>
  onStage(plainPlan(40, 400, 20), async (stage) => {
    const redis = new Redis(server.url);
    try {
      let run = stage.startCrawl({ store: server.url, name: 'killed', frontier: 'files' });
      for (const seen of [40, 120, 200]) {
        await until(`${seen} requests were seen`, () => stage.served.record.requests.length >= seen);
        run.send('SIGKILL');
        assert.equal((await run.ended).signal, 'SIGKILL');
        assert.ok(readdirSync(join(stage.dir, 'frontier')).length > 0);
        const queues = await redis.keys('{killed:*}:queue:*');
        assert.ok(queues.length > 0);
        for (const key of queues)
          for (const reference of await redis.lrange(key, 0, -1))
            assert.match(reference, /^\w+ \w+ \d+ \d+( \S+)?$/, 'no link is in Redis');
        assertCode(await stage.gossamer('verify', stage.dir), 0);
        run = stage.startResume();
      }
      assertCode(await run.ended, 0);
      const status = await stage.status();
      assertAddsUp(status);
      assertCode(await stage.gossamer('verify', stage.dir), 0);
      assert.deepEqual([status.waiting, status.leased], [0, 0]);
      assertNoFault(stage.report(), 'twice');
      assertArchivedOnce(await archivedIn(stage.dir), stage.world.reachable().pages);
    } finally {
      redis.disconnect();
    }
  }));

test('where waiting links lie is fixed: it cannot be changed, only a crawl in Redis has the choice, and one in files has one machine', () =>
  onStage(plainPlan(3, 6, 2), async (stage) => {
    const files = { store: server.url, name: 'fixed', frontier: 'files' };
    const embedded = await stage.crawl({ frontier: 'files' });
    assertCode(embedded, 2);
    assert.match(embedded.stderr, /--frontier files is for a crawl in Redis/);
    assert.ok(!existsSync(stage.dir));

    assertCode(await stage.crawl(files), 0);
    const changed = await stage.resume({ frontier: 'store' });
    assertCode(changed, 2);
    assert.match(
      changed.stderr,
      /the waiting links of the crawl lie in files, which cannot be changed: omit --frontier/,
    );
    assertCode(await stage.resume(), 0);

    const second = join(stage.home, 'second');
    const joined = await stage.gossamer('join', second, ...flagWords({ store: server.url, name: 'fixed' }));
    assertCode(joined, 2);
    assert.match(
      joined.stderr,
      /the waiting links of the crawl "fixed" lie in files of the machine it was begun on: it cannot be joined, resume it there/,
    );
    assert.ok(!existsSync(second));
  }));

test('a crawl that is moved no longer needs the files of its waiting links, and says so', () =>
  onStage(plainPlan(4, 40, 20), async (stage) => {
    assertCode(await stage.crawl({ store: server.url, name: 'leaving', frontier: 'files', 'max-pages': 10 }), 0);
    const moved = await stage.gossamer('migrate', stage.dir, '--to', 'sqlite');
    assertCode(moved, 0);
    const folder = join(stage.dir, 'frontier');
    assert.ok(
      moved.stdout.includes(`${folder} is what it was before: delete it when you do not need it`),
      moved.stdout,
    );
    rmSync(folder, { recursive: true });
    assertCode(await stage.gossamer('verify', stage.dir), 0);
    assertCode(await stage.resume({ 'max-pages': 'none' }), 0);
    assertNoFault(stage.report());
  }));

/** Moves to and from stores that are shared: killed at any moment, met by other crawls, and remembered there. */

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import pg from 'pg';
import { setTimeout as pause } from 'node:timers/promises';
import { readIdentity } from '../../src/folder/folder.ts';
import { endBinaries, runBinary, startBinary } from '../support/binary.ts';
import { makeCrawl, openMade } from '../support/made-crawl.ts';
import { assertSound, makeMoveScene, wholeOf } from '../support/move-scene.ts';
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { assertCode } from '../support/stage.ts';

let redis: RedisServer;
let postgres: PostgresServer;
let scenes: Awaited<ReturnType<typeof makeMoveScene>>;
before(async () => {
  [redis, postgres, scenes] = await Promise.all([startRedis(), startPostgres(), makeMoveScene()]);
});
after(async () => {
  endBinaries();
  scenes?.remove();
  await redis?.remove();
  await postgres?.remove();
});

/** Each with the address of an empty store, which is in the environment too: a crawl keeps no password. */
const STORES: Readonly<Record<string, () => Promise<string>>> = {
  Redis: async () => (process.env.GOSSAMER_STORE = redis.url),
  PostgreSQL: async () => (process.env.GOSSAMER_STORE = await postgres.database()),
};

/** Does what that command would. */
const remove = async (url: string, command: string): Promise<void> => {
  if (url.startsWith('redis')) {
    const pattern = /^redis-cli --scan --pattern '(.+)' \| xargs redis-cli unlink$/.exec(command)![1]!;
    const client = new Redis(url);
    await client.unlink(...(await client.keys(pattern)));
    client.disconnect();
  } else {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(command);
    await client.end();
  }
};

/**
 * Other stores have rules and sites in another order, and a clock of their own: a site may be due later than before,
 * not earlier.
 */
const comparable = async (path: string): Promise<{ bare: object; dues: ReadonlyMap<string, number> }> => {
  const { sites, robots, ...rest } = await wholeOf(path);
  return {
    bare: {
      ...rest,
      robots: robots.length,
      sites: sites
        .map((one) => ({ ...one, pace: { ...one.pace, dueAt: 0 } }))
        .toSorted((a, b) => (a.site < b.site ? -1 : 1)),
    },
    dues: new Map(sites.map(({ site, pace }) => [site, pace.dueAt])),
  };
};

const assertSame = async (path: string, was: Awaited<ReturnType<typeof comparable>>): Promise<void> => {
  const is = await comparable(path);
  assert.deepEqual(is.bare, was.bare);
  for (const [site, dueAt] of is.dues)
    assert.ok(dueAt >= was.dues.get(site)! - 0.001, `${site} is due ${was.dues.get(site)! - dueAt} ms too early`);
};

for (const [name, open] of Object.entries(STORES)) {
  test(`${name}: there and back, nothing of a crawl changes, and verify finds no damage at either place`, () =>
    scenes.open(async ({ dir, path, move }) => {
      const was = await comparable(path);
      await move({ to: await open(), name: 'there_and_back', shards: 7 });
      await assertSound(dir);
      await move({ to: 'sqlite', shards: 64 });
      await assertSound(dir);
      await assertSame(path, was);
    }));

  test(`${name}: a copy that was whole when the move was killed is taken as it is, unless the crawl went on meanwhile`, () =>
    scenes.open(async ({ dir, path, move }) => {
      const to = await open();
      const twin = `${dir}-twin`;
      cpSync(dir, twin, { recursive: true });
      // As a kill between the end of the copy and the new crawl.json leaves it: the store has all, the directory knows
      // nothing.
      const moved = await move({ to, name: 'whole', onProgress: ({ phase }) => assert.ok(phase) });
      assert.equal(moved.kind, 'moved');
      for (const file of ['crawl.json', 'crawl.db']) cpSync(join(twin, file), join(dir, file));
      const told: string[] = [];
      const again = await move({ to, name: 'whole', onProgress: ({ phase }) => told.push(phase) });
      assert.deepEqual([again.kind, told], ['moved', []]);
      assert.equal(readIdentity(dir).settings.store, to.replace(/:[^:/@]+@/, '@'));

      const store = openMade({ dir: twin, fileBytesMax: 30_000 });
      await store.steer([{ kind: 'mark', name: 'seeds', value: 10 }]);
      await store.close();
      for (const file of ['crawl.json', 'crawl.db']) cpSync(join(twin, file), join(dir, file));
      await assert.rejects(
        move({ to, name: 'whole' }),
        /has a crawl "whole" already: a copy of this one from before it went on here; choose another --name/,
      );
      assert.equal(readIdentity(dir).settings.store, 'sqlite');
      await assertSound(dir);
      assert.ok(path);
    }));

  test(`${name}: another crawl of that name is not touched, and one that was moved away says where it is, and how it is removed`, () =>
    scenes.open(async (first) =>
      scenes.open(async (second) => {
        const to = await open();
        await first.move({ to, name: 'taken' });
        await first.move({ to: 'sqlite' });
        // The same crawl is known by its id; this one is another.
        const { dir } = second;
        rmSync(dir, { recursive: true });
        await makeCrawl({ dir, sites: 2, pages: 2, waiting: 2, keep: 'all', fileBytesMax: 1e6 });
        await assert.rejects(
          second.move({ to, name: 'taken' }),
          /has a crawl "taken" already, another one: choose another --name/,
        );
        const removal = await first.move({ to, name: 'taken' }).then(
          () => '',
          (error: Error) =>
            /already: this one, as it was before it was moved away from there; choose another --name, or remove the old one there: (.+)$/.exec(
              error.message,
            )?.[1] ?? error.message,
        );
        const joined = await runBinary(['join', `${dir}-late`, '--store', to, '--name', 'taken']);
        assertCode(joined, 2);
        assert.match(joined.stderr, /the crawl "taken" in .* was moved to sqlite/);
        await assertSound(first.dir);
        await remove(to, removal);
        await first.move({ to, name: 'taken' });
        await assertSound(first.dir);
      }),
    ));

  test(`${name}: a move that is killed again and again comes to its end`, async (t) => {
    const home = mkdtempSync(join(tmpdir(), 'gossamer-migrate-'));
    const dir = join(home, 'crawl');
    const path = join(dir, 'crawl.db');
    try {
      await makeCrawl({ dir, sites: 100, pages: 300, waiting: 30_000, keep: 'all', fileBytesMax: 1e9 });
      const was = await comparable(path);
      const to = await open();
      const words = ['migrate', dir, '--to', to, '--name', 'killed', '--shards', '16'];
      let kills = 0;
      for (let n = 0; n < KILLS; n++) {
        const run = startBinary(words);
        await pause(FIRST_MS + n * STEP_MS);
        run.send('SIGKILL');
        if ((await run.ended).signal === 'SIGKILL') kills++;
        else break;
      }
      t.diagnostic(`${kills} kills met a move under way`);
      const ran = await runBinary(words);
      if (readIdentity(dir).settings.store === 'sqlite') assertCode(ran, 0);
      await assertSound(dir);
      assertCode(await runBinary(['migrate', dir, '--from', to, '--to', 'sqlite', '--shards', '64']), 0);
      await assertSame(path, was);
      await assertSound(dir);
    } finally {
      rmSync(home, { recursive: true });
    }
  });
}

const KILLS = 8;
/** Before that the binary has not begun. */
const FIRST_MS = 350;
const STEP_MS = 150;

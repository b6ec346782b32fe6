/** A crawl on its way from store to store: it goes on in each where it was in the last. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { archivedIn, assertArchivedOnce } from '../support/archive-check.ts';
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { assertAddsUp, assertCode, assertNoFault, onStage, plainPlan, type Stage } from '../support/stage.ts';

let redis: RedisServer;
let postgres: PostgresServer;
let database: string;
before(async () => {
  redis = await startRedis();
  postgres = await startPostgres();
  database = await postgres.database();
});
after(async () => {
  await redis?.remove();
  await postgres?.remove();
});

/**
 * With the addresses of the stores in the environment, as a person has them who keeps passwords off the command line.
 */
const withStores = async <T>(from: string, to: string, work: () => Promise<T>): Promise<T> => {
  Object.assign(process.env, { GOSSAMER_STORE: from, GOSSAMER_STORE_TO: to });
  try {
    return await work();
  } finally {
    delete process.env.GOSSAMER_STORE;
    delete process.env.GOSSAMER_STORE_TO;
  }
};

const withoutPassword = (url: string): string => url.replace(/:[^:/@]+@/, '@');

/** Moves the crawl there and looks at it from both sides. */
const move = async (stage: Stage, [from, to]: readonly [string, string], ...words: readonly string[]): Promise<void> =>
  withStores(from, to, async () => {
    const was = await stage.status();
    const ran = await stage.gossamer('migrate', stage.dir, '--to', withoutPassword(to), ...words);
    assertCode(ran, 0);
    assert.match(ran.stdout, /\n +before +after\n +pages +(\d+) +\1\n +links +(\d+) +\2\n +waiting +(\d+) +\3\n/);
    assert.ok(
      !(ran.stdout + ran.stderr + readFileSync(join(stage.dir, 'crawl.json'), 'utf8')).includes(
        encodeURIComponent('p@ss/word'),
      ),
      'the password is nowhere',
    );
    const status = await withStores(to, '', () => stage.status());
    assertAddsUp(status);
    const { waiting, leased, parked, held, settledByOutcome, pages, known, sites } = status;
    assert.deepEqual(
      { waiting, leased, parked, held, settledByOutcome, pages, known, sites },
      {
        waiting: was.waiting,
        leased: was.leased,
        parked: was.parked,
        held: was.held,
        settledByOutcome: was.settledByOutcome,
        pages: was.pages,
        known: was.known,
        sites: was.sites,
      },
    );
    const shown = await withStores(to, '', () => stage.gossamer('status', stage.dir));
    if (to !== 'sqlite') assert.ok(shown.stdout.includes(`  in ${withoutPassword(to)} as "`), shown.stdout);
    assert.ok(!shown.stdout.includes(encodeURIComponent('p@ss/word')));
    const config = await stage.gossamer('config', stage.dir);
    assert.match(
      config.stdout,
      new RegExp(`^store: "${withoutPassword(to).replace(/[?.*]/g, '\\$&')}/?" # crawl$`, 'm'),
    );
  });

const goOn = async (stage: Stage, store: string, maxPages: number): Promise<void> =>
  withStores(store, '', async () => {
    assertCode(await stage.resume({ 'max-pages': maxPages }), 0);
    assertCode(await stage.gossamer('verify', stage.dir), 0);
  });

test('from SQLite to Redis to PostgreSQL and back, going on in each: every page once, none lost, no visit too early', () =>
  onStage(plainPlan(12, 200, 24), async (stage) => {
    assertCode(await stage.crawl({ 'max-pages': 40 }), 0);
    await move(stage, ['sqlite', redis.url], '--shards', '7');
    assert.ok(existsSync(join(stage.dir, 'crawl.db-moved')) && !existsSync(join(stage.dir, 'crawl.db')));
    await goOn(stage, redis.url, 90);
    await move(stage, [redis.url, database], '--name', 'other');
    await goOn(stage, database, 140);
    await move(stage, [database, 'sqlite'], '--shards', '64');
    await goOn(stage, 'sqlite', 1_000_000);
    assertArchivedOnce(await archivedIn(stage.dir), stage.world.reachable().pages);
    assertNoFault(stage.report());
  }));

/** Longer than a move and a start take: a site whose clock was lost on the way would be visited too early. */
const LONG_DELAY_MS = 8_000;

test('a site that was visited just before a move is not visited again before its delay is over', () =>
  onStage(plainPlan(60, 240, 4), async (stage) => {
    const stores = [redis.url, database, 'sqlite'];
    assertCode(await stage.crawl({ delay: `${LONG_DELAY_MS}ms`, 'max-pages': 50 }), 0);
    for (const [n, store] of stores.entries()) {
      await withStores(stores[n - 1] ?? 'sqlite', store, async () =>
        assertCode(
          await stage.gossamer(
            'migrate',
            stage.dir,
            '--to',
            withoutPassword(store),
            ...(store === 'sqlite' ? [] : ['--name', 'clocks']),
          ),
          0,
        ),
      );
      await withStores(store, '', async () => assertCode(await stage.resume({ 'max-pages': 50 * (n + 2) }), 0));
    }
    assertNoFault(stage.served.record.report({ delayMs: LONG_DELAY_MS }), 'missing');
  }));

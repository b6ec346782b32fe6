/** A crawl in Redis whose waiting links lie in files: it is read, checked and moved as any other. */

import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Redis } from 'ioredis';
import { StoreFault } from '../src/frontier/store.ts';
import { frontierFolder } from '../src/store/redis/line-files.ts';
import type { Piece, SharedSurvey } from '../src/store/shared-crawl.ts';
import { shardOf } from '../src/url/shard.ts';
import { leasedVisits } from './contract/store-model.ts';
import { allOf, checkReader } from './support/reader-check.ts';
import { createMember, removeMember, rowsPathOf } from './support/redis-scene.ts';
import { startRedis, type RedisServer } from './support/redis-server.ts';
import { freshName, rest, rowsOf, takeSteps, withCrawl, withWalk, type Walk } from './support/redis-walk.ts';

let server: RedisServer;
let redis: Redis;
before(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
after(async () => {
  redis.disconnect();
  await server.remove();
});

/** Few references per site, so that lines are also merged. */
const withFiles = (story: (walk: Walk) => Promise<void>): Promise<void> =>
  withWalk(
    server.url,
    ['a'],
    async (walk) => {
      await takeSteps(walk);
      await story(walk);
    },
    { frontier: 'files', frontierLimits: { referencesMax: 3 } },
  );

/** Rules come in the order of a hash table. */
const inOrder = (pieces: readonly Piece[]): unknown => [
  pieces.filter(({ kind }) => kind !== 'robots'),
  new Map(pieces.flatMap((piece) => (piece.kind === 'robots' ? [[piece.records[0]!.origin, piece]] : []))),
];

const surveyOf = (walk: Walk): Promise<SharedSurvey> =>
  withCrawl(walk, (crawl) => crawl.survey(rowsOf(walk.members[0]!), () => {}));

test('redis files: what a reader says of sites, links, pages and rules is what the verbs did', () =>
  withFiles(async (walk) => {
    assert.ok(leasedVisits(walk.model).length > 0);
    await withCrawl(walk, async (crawl) => {
      const reader = crawl.reader(rowsPathOf(walk.members[0]!.folder));
      await checkReader(reader, walk.model);
      await reader.close();
    });
  }));

test('redis files: from elsewhere sites can be read, but no link', () =>
  withFiles(async (walk) => {
    await withCrawl(walk, async (crawl) => {
      const reader = crawl.reader('/nowhere/rows.db');
      const site = (await reader.site('a.example'))!;
      assert.ok(site.waiting > 60);
      assert.equal(site.next, '');
      const view = await reader.link('https://a.example/50', 'a.example');
      assert.deepEqual([view.state, view.lookedAt], ['unknown', 0]);
      await reader.close();
    });
  }));

test('redis files: a crawl is found clean, and what is wrong is told', () =>
  withFiles(async (walk) => {
    const { wrong, links } = await surveyOf(walk);
    assert.deepEqual([wrong, links], [[], walk.model.seen.size]);
    const shard = shardOf('a.example');
    await redis.hincrby(`{${walk.name}:${shard}}:files`, '1', 1);
    assert.match(
      (await surveyOf(walk)).wrong.join('\n'),
      new RegExp(`^shard ${shard} counts [\\d,]+ lines of file 1, but refers to [\\d,]+$`),
    );
    await redis.hincrby(`{${walk.name}:${shard}}:files`, '1', -1);
    const folder = frontierFolder(rowsPathOf(walk.members[0]!.folder));
    renameSync(folder, `${folder}-away`);
    assert.match(
      (await surveyOf(walk)).wrong.join('\n'),
      /the line of the site a\.example is broken: block 1 cannot be read/,
    );
    renameSync(`${folder}-away`, folder);
  }));

test('redis files: a crawl moved from there is the same crawl, with its lines in Redis', () =>
  withFiles(async (walk) => {
    await rest(walk);
    const rows = rowsOf(walk.members[0]!);
    const target = createMember(freshName(), 'a');
    const [to, into] = [
      { url: server.url, name: target.crawl },
      { member: 'a', rowsPath: rowsPathOf(target) },
    ];
    try {
      const pieces = await withCrawl(walk, (crawl) => allOf(crawl.pieces(rows)));
      await withCrawl(to, async (crawl) => {
        await crawl.beginMove();
        await crawl.take(pieces, into);
        await crawl.endMove(into);
        assert.deepEqual(inOrder(await allOf(crawl.pieces(into))), inOrder(pieces));
        assert.deepEqual((await crawl.survey(into, () => {})).wrong, []);
      });
      await assert.rejects(
        withCrawl(walk, (crawl) => allOf(crawl.pieces({ ...rows, rowsPath: '/nowhere/rows.db' }))),
        StoreFault,
      );
    } finally {
      removeMember(target);
    }
  }));

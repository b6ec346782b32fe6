/** A walk over a crawl in PostgreSQL: several members, and damage that only this store can have. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { shardOf } from '../src/url/shard.ts';
import { longRobots } from './contract/store-rules.ts';
import { ask, link, linksOf, recordsOf, settlementOf } from './contract/store-scene.ts';
import { foundIn, soundSurveyOf } from './contract/stored-scene.ts';
import { startPostgres } from './support/postgres-server.ts';
import { walkTogether, withScene, type PostgresScene } from './support/postgres-scene.ts';

const server = await startPostgres();
after(() => server.remove());

test('postgres: after two members worked and one was killed again and again, every link is met once and nothing is wrong', async () => {
  await withScene(server, async (scene) => {
    for (const { name, archive, store } of await walkTogether(scene)) {
      const crawl = await scene.crawl({ member: name });
      const { tally, inOrder, census } = await soundSurveyOf(crawl);
      assert.deepEqual([tally.archive, inOrder], [archive.end(), true]);
      assert.equal(census.changes, (await store.census()).changes);
      const pages = (await foundIn(crawl, ['pages'])).flatMap((one) => (one.kind === 'pages' ? one.pages : []));
      const mine = pages.filter((page) => page.mine && page.warc_file !== null);
      assert.ok(mine.length > 0 && pages.length > mine.length);
      for (const page of mine)
        assert.ok(new TextDecoder().decode(archive.read(page)).startsWith(`response ${page.url} `));
    }
  });
});

test('postgres: of more blocks than are read in one go, each is met once and in order', async () => {
  await withScene(server, async ({ member, crawl }) => {
    const { store } = await member('a');
    const far = Array.from({ length: 1_700 }, (_, i) => link(`x.example/${i}`, { via: `https://v.example/${i}` }));
    await store.admit([...linksOf('a.example', 3), ...far, ...linksOf('z.example', 2)]);
    const queue = (await foundIn(await crawl(), ['sites'])).flatMap((one) =>
      one.kind === 'queue' && one.site === 'x.example' ? one.links : [],
    );
    assert.deepEqual(
      queue.map((waiting) => waiting.link.url),
      far.map(({ url }) => url),
    );
    await soundSurveyOf(await crawl());
  });
});

const S = 'gossamer_here';
const idOf = (site: string): string => `(SELECT id FROM ${S}.site WHERE name = '${site}')`;

/** What is done to the tables, and what a walk over all parts says then, besides what it met. */
const PLANTED: readonly [title: string, text: string, says: readonly string[]][] = [
  [
    'a text of long rules that is missing',
    `DELETE FROM ${S}.rules`,
    ['wrong: the text of the robots rules of https://d.example is missing'],
  ],
  [
    'a block that is gone',
    `DELETE FROM ${S}.block WHERE site = ${idOf('x.example')} AND position = 2`,
    ['broken: block 2 is missing'],
  ],
  [
    'the first block that is gone',
    `DELETE FROM ${S}.block WHERE site = ${idOf('x.example')} AND position = 1`,
    ['broken: block 1 is missing'],
  ],
  [
    'the last block that is gone',
    `DELETE FROM ${S}.block WHERE site = ${idOf('x.example')} AND position = 3`,
    ['broken: block 3 is missing'],
  ],
  [
    'a block that cannot be read',
    `UPDATE ${S}.block SET links = ARRAY['rubbish'] WHERE site = ${idOf('x.example')} AND position = 2`,
    ['broken: block 2 cannot be read'],
  ],
  [
    'a place in a block that is not there',
    `UPDATE ${S}.site SET head_at = 9 WHERE name = 'x.example'`,
    ['broken: block 1 cannot be read'],
  ],
  [
    'blocks after the end and before the head of a queue',
    `INSERT INTO ${S}.block (site, position, via, links) SELECT ${idOf('x.example')}, u.n, '', '{x}' FROM unnest('{0,9}'::int[]) u(n)`,
    [
      'wrong: block 0 of waiting links of the site x.example is in no queue',
      'wrong: block 9 of waiting links of the site x.example is in no queue',
    ],
  ],
  [
    'blocks of no site',
    `INSERT INTO ${S}.block (site, position, via, links) SELECT 9223372036854775807, u.n, '', '{x}' FROM generate_series(1, 2) u(n)`,
    [1, 2].map((n) => `wrong: block ${n} of waiting links of the site 9223372036854775807 is in no queue`),
  ],
  [
    'a page of a site that is not there',
    `UPDATE ${S}.page SET site = 5`,
    ['wrong: the page https://d.example/1 belongs to a site that is not there'],
  ],
  [
    'a page of a member that is not there',
    `UPDATE ${S}.page SET member = 5`,
    ['wrong: the page https://d.example/1 was settled by a member that is not there'],
  ],
  [
    'a site under the number of another',
    `UPDATE ${S}.site SET name = 'q.example', shard = ${shardOf('q.example')} WHERE name = 'd.example'`,
    ['wrong: the site q.example has the number of another'],
  ],
  [
    'a lease that nobody holds',
    `UPDATE ${S}.site SET holder = NULL WHERE name = 'l.example'`,
    ['wrong: the lease of the site l.example has no number or no holder'],
  ],
  [
    'a lease without a number',
    `UPDATE ${S}.site SET lease = NULL WHERE name = 'l.example'`,
    ['wrong: the lease of the site l.example has no number or no holder'],
  ],
];

/** x.example waits with three blocks, the first of them begun; l.example is leased; d.example is done. */
const plant = async ({ member }: PostgresScene): Promise<void> => {
  const { store } = await member('a');
  await store.admit([...linksOf('x.example', 3), link('d.example/1')]);
  const { visits } = await store.claim(ask());
  await store.settle(
    visits.map((visit) =>
      settlementOf(
        visit,
        visit.site === 'x.example'
          ? { fate: 'retry' }
          : { records: recordsOf('d'), robots: longRobots('https://d.example') },
      ),
    ),
  );
  await store.admit([link('x.example/4'), link('l.example/1')]);
  await store.claim(ask());
};

for (const [title, text, says] of PLANTED) {
  test(`postgres: ${title} is told of, and nothing else`, async () => {
    await withScene(server, async (scene) => {
      await plant(scene);
      const crawl = await scene.crawl();
      await soundSurveyOf(crawl);
      await scene.query(text);
      const found = await foundIn(crawl, ['self', 'pages', 'sites', 'robots']);
      assert.deepEqual(
        found.flatMap((one) => (one.kind === 'wrong' || one.kind === 'broken' ? [`${one.kind}: ${one.says}`] : [])),
        says,
      );
    });
  });
}

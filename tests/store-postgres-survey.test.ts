/** A survey of a crawl in PostgreSQL finds nothing wrong where nothing is, and each thing that is. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import pg from 'pg';
import { DAMAGE_NAMED_MAX } from '../src/crawl/verify/damage.ts';
import { knownTotal } from '../src/model/census.ts';
import type { PlacedPage } from '../src/model/settlement.ts';
import { WRONG_NAMED_MAX, type SharedSurvey } from '../src/store/shared.ts';
import { shardOf } from '../src/url/shard.ts';
import { ask, claimBySite, link, linksOf, recordsOf, settlementOf } from './contract/store-scene.ts';
import { runBinary } from './support/binary.ts';
import { makeCrawl } from './support/made-crawl.ts';
import { startPostgres } from './support/postgres-server.ts';
import { walkTogether, withScene, type PostgresScene } from './support/postgres-scene.ts';

const server = await startPostgres();
after(() => server.remove());

const surveyAs = async (scene: PostgresScene, member: string): Promise<SharedSurvey> =>
  (await scene.crawl()).survey({ member, rowsPath: '' }, () => {});

const placedIn = async (survey: SharedSurvey): Promise<PlacedPage[]> => {
  const pages: PlacedPage[] = [];
  for await (const page of survey.placed) pages.push(page);
  return pages;
};

test('postgres: after two members worked and one was killed again and again, every link is met once and nothing is wrong', async () => {
  for (const leased of [true, false]) {
    await withScene(server, async (scene) => {
      const members = await walkTogether(scene, { leased });
      for (const { name, archive, store } of members) {
        const survey = await surveyAs(scene, name);
        assert.deepEqual([survey.wrong, survey.wrongTotal], [[], 0]);
        assert.deepEqual(
          { ...survey.census, now: 0, sitesDue: 0, next: null },
          { ...(await store.census()), now: 0, sitesDue: 0, next: null },
        );
        assert.equal(survey.links, knownTotal(survey.census));
        assert.deepEqual(survey.end, archive.end());
        const placed = await placedIn(survey);
        assert.ok(placed.length > 0);
        for (const { url, place } of placed)
          assert.ok(
            new TextDecoder().decode(archive.read(place!)).startsWith(`response ${url} `),
            'a page of this member',
          );
        const places = placed.map(({ place }) => `${place!.file} ${String(place!.offset).padStart(9, '0')}`);
        assert.deepEqual(places, places.toSorted());
      }
    });
  }
});

test('postgres: pages with a place come in the order of the archive, also where their rows do not, however many there are', async () => {
  await withScene(server, async (scene) => {
    const { store } = await scene.member('a');
    await store.admit(Array.from({ length: 250 }, (_, i) => link(`s${i}.example/`)));
    const { visits } = await store.claim(ask());
    await store.settle(visits.map((visit) => settlementOf(visit, { records: recordsOf(visit.link.url) })));
    const inOrder = await placedIn(await surveyAs(scene, 'a'));
    assert.deepEqual(
      inOrder.map(({ url }) => url),
      visits.map((visit) => visit.link.url),
    );
    await scene.query('UPDATE gossamer_here.page SET id = DEFAULT WHERE id % 3 = 0');
    assert.deepEqual(await placedIn(await surveyAs(scene, 'a')), inOrder);
  });
});

test('postgres: also of more sites, blocks and pages than are read in one go, each is met once', async () => {
  await withScene(server, async (scene) => {
    const { store } = await scene.member('a');
    await store.admit(Array.from({ length: 5_000 }, (_, i) => link(`s${i % 2_500}.example/${i}`)));
    await store.admit(
      Array.from({ length: 1_100 }, (_, i) => link(`s1.example/long/${i}`, { via: `https://v.example/${i}` })),
    );
    const { visits } = await store.claim(ask({ visits: 5_000 }));
    await store.settle(visits.map((visit) => settlementOf(visit)));
    const met: number[] = [];
    const survey = await (await scene.crawl()).survey({ member: 'a', rowsPath: '' }, (links) => met.push(links));
    assert.deepEqual([survey.wrong, survey.links, met.at(-1)], [[], 6_100, 6_000]);
  });
});

/**
 * Every state of a link, few enough to plant things between them. x waits (in two blocks, one of them begun), l is
 * leased, p parked, h held, d done.
 */
const plant = async ({ member, clock }: PostgresScene): Promise<void> => {
  const { store } = await member('a');
  await store.admit([
    link('l.example/1'),
    link('p.example/1'),
    link('p.example/2'),
    link('d.example/1'),
    link('e.example/1'),
  ]);
  await store.admit([link('h.example/1'), link('h.example/2')]);
  const { visits } = await store.claim(ask({ visits: 99 }));
  const of = (site: string) => visits.find((visit) => visit.site === site)!;
  await store.settle([
    settlementOf(of('d.example'), { records: recordsOf('d') }),
    settlementOf(of('h.example'), { records: recordsOf('h') }),
    settlementOf(of('p.example'), { fate: 'retry', parked: true }),
    settlementOf(of('e.example'), { page: { ...settlementOf(of('e.example')).page!, outcome: 'robots-denied' } }),
  ]);
  clock.advance(60_000);
  await store.claim(ask({ sitePagesMax: 1 }));
  await store.admit(linksOf('x.example', 3));
  const first = (await claimBySite(store)).get('x.example')!;
  await store.settle([settlementOf(first, { fate: 'retry' })]);
};

const S = 'gossamer_here';
const idOf = (site: string): string => `(SELECT id FROM ${S}.site WHERE name = '${site}')`;

/** What is done to the tables, and what must be said then. */
const PLANTED: readonly [title: string, text: string, says: readonly RegExp[]][] = [
  [
    'a known URL that no line has',
    `INSERT INTO ${S}.seen VALUES (42)`,
    [/^1 known URL is neither waiting nor leased, parked, held or settled$/],
  ],
  [
    'a link that is not among the known URLs',
    `DELETE FROM ${S}.seen WHERE print = (SELECT min(print) FROM ${S}.seen)`,
    [/is not in the log of known URLs$/],
  ],
  [
    'a link that is in line twice',
    `UPDATE ${S}.block SET links = links || links[2:2] WHERE site = ${idOf('x.example')} AND position = 1`,
    [
      /^https:\/\/x\.example\/2 is there twice: it waits or is leased/,
      /^the site x\.example counts 3 waiting, but has 4$/,
      /^the counter "waiting" says 3, but there are 4$/,
    ],
  ],
  [
    'a page that waits, too',
    `UPDATE ${S}.block SET links = ARRAY['0 0 0 0 https://d.example/1'] WHERE site = ${idOf('x.example')} AND position = 2`,
    [/^https:\/\/d\.example\/1 is there twice/, /^1 known URL is neither/],
  ],
  [
    'a page that is settled twice',
    `INSERT INTO ${S}.page OVERRIDING SYSTEM VALUE
    SELECT (jsonb_populate_record(NULL::${S}.page, to_jsonb(p) || '{"id": 99}')).* FROM ${S}.page p WHERE url = 'https://d.example/1'`,
    [
      /^https:\/\/d\.example\/1 is there twice: it is settled twice$/,
      /^the site d\.example counts 1 pages, but has 2$/,
      /^the counter "pages" says 2, but there are 3$/,
      /^the counter "settled fetched" says 2, but there are 3$/,
    ],
  ],
  [
    'a page that is gone',
    `DELETE FROM ${S}.page WHERE url = 'https://d.example/1'`,
    [
      /^1 known URL is neither/,
      /^the site d\.example counts 1 pages, but has 0$/,
      /^the counter "pages"/,
      /^the counter "settled fetched"/,
    ],
  ],
  [
    'a page of a site that is not there',
    `UPDATE ${S}.page SET site = 5 WHERE url = 'https://e.example/1'`,
    [/^the page https:\/\/e\.example\/1 belongs to site 5, which is not there$/],
  ],
  [
    'a page of a member that is not there',
    `UPDATE ${S}.page SET member = 5 WHERE url = 'https://e.example/1'`,
    [/^the page https:\/\/e\.example\/1 was settled by member 5/],
  ],
  [
    'a record of a page that has none',
    `UPDATE ${S}.page SET file = 'f', "offset" = 0, length = 1, group_length = 1 WHERE url = 'https://e.example/1'`,
    [/is robots-denied, but it has a record$/],
  ],
  [
    'a block that is gone',
    `DELETE FROM ${S}.block WHERE site = ${idOf('x.example')} AND position = 2`,
    [
      /^the line of the site x\.example is broken: block 2 is missing$/,
      /^the site x\.example counts 3 waiting, but has 2$/,
      /^the counter "waiting"/,
      /^1 known URL/,
    ],
  ],
  [
    'the first block that is gone',
    `DELETE FROM ${S}.block WHERE site = ${idOf('x.example')} AND position = 1`,
    [
      /block 1 is missing$/,
      /^the site x\.example counts 3 waiting, but has 1$/,
      /^the counter "waiting"/,
      /^2 known URLs are/,
    ],
  ],
  [
    'a block that cannot be read',
    `UPDATE ${S}.block SET links = ARRAY['rubbish'] WHERE site = ${idOf('x.example')} AND position = 2`,
    [/block 2 cannot be read$/, /counts 3 waiting/, /^the counter "waiting"/, /^1 known URL/],
  ],
  [
    'a place in a block that is not there',
    `UPDATE ${S}.site SET head_at = 9 WHERE name = 'x.example'`,
    [/block 1 cannot be read$/, /counts 3 waiting/, /^the counter "waiting"/, /^2 known URLs/],
  ],
  [
    'a block behind the end of a line',
    `INSERT INTO ${S}.block (site, position, via, links) VALUES (${idOf('x.example')}, 9, '', '{"0 0 0 0 https://x.example/9"}')`,
    [/^block 9 of waiting links of the site x\.example is in no line$/],
  ],
  [
    'a block of no site',
    `INSERT INTO ${S}.block (site, position, via, links) VALUES (9223372036854775807, 1, '', '{"0 0 0 0 https://x.example/9"}')`,
    [/^block 1 of waiting links of the site 9223372036854775807 is in no line$/],
  ],
  [
    'a site that waits and is not called',
    `UPDATE ${S}.site SET state = 0 WHERE name = 'x.example'`,
    [/^the site x\.example is noted as idle, but links of it wait$/],
  ],
  [
    'a site that would be called for nothing',
    `UPDATE ${S}.site SET state = 1 WHERE name = 'd.example'`,
    [/^the site d\.example is noted as waiting, but no link of it waits$/],
  ],
  [
    'a site of an unknown state',
    `UPDATE ${S}.site SET state = 7 WHERE name = 'd.example'`,
    [/^the site d\.example has the unknown state 7$/],
  ],
  [
    'a site in a wrong shard',
    `UPDATE ${S}.site SET shard = (shard + 1) % 64 WHERE name = 'd.example'`,
    [/^the site d\.example is in shard \d+, but belongs to \d+$/],
  ],
  [
    'a site under the number of another',
    `UPDATE ${S}.site SET name = 'q.example', shard = ${shardOf('q.example')} WHERE name = 'd.example'`,
    [/^the site q\.example has the number of another$/],
  ],
  [
    'a lease without a link',
    `UPDATE ${S}.site SET leased = NULL WHERE name = 'l.example'`,
    [/^the site l\.example is leased without a link$/, /^1 known URL/, /^the counter "leased"/],
  ],
  [
    'a leased link without a lease',
    `UPDATE ${S}.site SET state = 0 WHERE name = 'l.example'`,
    [/^the site l\.example is not leased, but has a leased link$/],
  ],
  [
    'a lease that nobody holds',
    `UPDATE ${S}.site SET holder = NULL WHERE name = 'l.example'`,
    [/^the lease of the site l\.example has no number/],
  ],
  [
    'a leased link that cannot be read',
    `UPDATE ${S}.site SET leased = 'x' WHERE name = 'l.example'`,
    [/^the leased link of the site l\.example cannot be read$/, /^1 known URL/, /^the counter "leased"/],
  ],
  [
    'a parked site that is called',
    `UPDATE ${S}.site SET state = 1 WHERE name = 'p.example'`,
    [
      /^the counter "parked" says 2, but there are 0$/,
      /^the counter "waiting" says 3, but there are 5$/,
      /^the counter "sites_parked" says 1/,
    ],
  ],
  [
    'a counter that is wrong',
    `UPDATE ${S}.tally SET n = n + 1 WHERE name = 'held'`,
    [/^the counter "held" says 2, but there are 1$/],
  ],
  [
    'a counter that is gone',
    `DELETE FROM ${S}.tally WHERE name = 'settled robots-denied'`,
    [/^the counter "settled robots-denied" says 0, but there are 1$/],
  ],
  [
    'a counter of nothing',
    `INSERT INTO ${S}.tally VALUES (0, 'settled gave-up', 3)`,
    [/^the counter "settled gave-up" says 3, but there are 0$/],
  ],
];

test('postgres: the crawl that things are planted into has a link in every state', async () => {
  await withScene(server, async (scene) => {
    await plant(scene);
    const { census, wrong } = await surveyAs(scene, 'a');
    assert.deepEqual(wrong, []);
    assert.deepEqual(
      [census.waiting, census.leased, census.parked, census.held, census.settled],
      [3, 1, 2, 1, { fetched: 2, 'robots-denied': 1 }],
    );
  });
});

test('postgres: each thing that is wrong is found, named, and nothing else', async () => {
  for (const [title, text, says] of PLANTED) {
    await withScene(server, async (scene) => {
      await plant(scene);
      await scene.query(text);
      const { wrong, wrongTotal } = await surveyAs(scene, 'a');
      assert.equal(wrong.length, wrongTotal);
      assert.deepEqual(
        says.filter((one) => !wrong.some((sentence) => one.test(sentence))),
        [],
        `${title}: ${wrong.join('; ')}`,
      );
      assert.deepEqual(
        wrong.filter((sentence) => !says.some((one) => one.test(sentence))),
        [],
        title,
      );
    });
  }
});

test('postgres: verify names as many wrong things as it may, and counts all', async () => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-survey-'));
  const dir = join(home, 'crawl');
  const url = await server.database();
  const env = { ...process.env, GOSSAMER_STORE: url };
  try {
    await makeCrawl({ dir, sites: 4, pages: 20, waiting: 180, keep: 'all', fileBytesMax: 1e6 });
    const moved = await runBinary(['migrate', dir, '--to', url, '--name', 'many'], { env });
    assert.equal(moved.code, 0, moved.stderr);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('DELETE FROM gossamer_many.seen');
    await client.end();
    const ran = await runBinary(['verify', dir], { env });
    assert.equal(ran.code, 1, ran.stderr);
    const lines = ran.stdout.split('\n').filter((line) => line.startsWith('damage'));
    assert.equal(lines.filter((line) => line.endsWith('is not in the log of known URLs')).length, DAMAGE_NAMED_MAX);
    assert.equal(lines.at(-1), `damage: and ${200 - DAMAGE_NAMED_MAX} more`);
    assert.match(ran.stdout, /: 200 damaged$/m);
  } finally {
    rmSync(home, { recursive: true });
  }
});

test('postgres: of many things that are wrong the first are named, and all are counted', async () => {
  await withScene(server, async (scene) => {
    const { store } = await scene.member('a');
    await store.admit(linksOf('x.example', 3 * WRONG_NAMED_MAX));
    await scene.query(`DELETE FROM ${S}.seen`);
    const { wrong, wrongTotal, links } = await surveyAs(scene, 'a');
    assert.deepEqual([wrong.length, wrongTotal, links], [WRONG_NAMED_MAX, 3 * WRONG_NAMED_MAX, 3 * WRONG_NAMED_MAX]);
  });
});

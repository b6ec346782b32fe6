/** A crawl is moved into PostgreSQL and out of it piece by piece, and nothing of it changes on the way. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { StoreFault } from '../src/frontier/store.ts';
import type { Census } from '../src/model/census.ts';
import type { MemberRows, Piece, SharedCrawl } from '../src/store/shared.ts';
import { SHARDS } from '../src/url/shard.ts';
import { ask, claimOne, link, linksOf, recordsOf, settlementOf } from './contract/store-scene.ts';
import { startPostgres } from './support/postgres-server.ts';
import { walkTogether, withScene, type Member } from './support/postgres-scene.ts';

const server = await startPostgres();
after(() => server.remove());

const A: MemberRows = { member: 'a', rowsPath: '' };
const FEW = 7;

const piecesIn = async (crawl: SharedCrawl): Promise<Piece[]> => {
  const pieces: Piece[] = [];
  for await (const piece of crawl.pieces(A)) pieces.push(piece);
  return pieces;
};

const move = async (pieces: readonly Piece[], to: SharedCrawl, atOnce = 40): Promise<void> => {
  await to.beginMove();
  // With something beside it, so that not all of it goes over the same connection.
  for (let i = 0; i < pieces.length; i += atOnce)
    await Promise.all([to.note('any'), to.take(pieces.slice(i, i + atOnce), A)]);
  await to.endMove(A);
};

const still = ({ changes: _changes, now: _now, ...census }: Census): object => census;

const ROUNDS = 60;

/** What is visited from here on, site by site: links, tries, paces and rules. */
const goOn = async (
  { store }: Member,
  { shards, advance }: { shards: number; advance: () => void },
): Promise<Map<string, unknown[]>> => {
  const all = Array.from({ length: shards }, (_, shard) => shard);
  const sites = new Map<string, unknown[]>();
  for (let round = 0; round < ROUNDS; round++) {
    advance();
    const { visits } = await store.claim(ask({ shards: all, delayMs: 500 }));
    for (const { site, link: visited, tries, pace, robots } of visits)
      sites.set(site, [...(sites.get(site) ?? []), { visited, tries, pace, robots }]);
    await store.settle(visits.map((visit) => settlementOf(visit, { pace: { ...visit.pace, dueAt: 0 } })));
  }
  return sites;
};

test('postgres: a crawl that was moved, also to another number of shards, is the same crawl, and goes on as the first would', async () => {
  for (const atOnce of [1, 40, 10_000]) {
    await withScene(server, async (scene) => {
      const [a] = await walkTogether(scene, { leased: false, names: ['a'] });
      await a!.store.admit(linksOf('long.example', 11_000)); // more than is read in one go
      await a!.store.claim(ask());
      // its head goes before a block that was begun
      await a!.store.steer([{ kind: 'free', holder: null, counted: false }]);
      const here = await scene.crawl();
      await here.keepNote('identity', '{"id": "ü"}');
      const there = await scene.crawl('there', FEW);
      const pieces = await piecesIn(here);
      for (const kind of ['site', 'line', 'robots', 'pages', 'tally'] as const)
        assert.ok(
          pieces.some((piece) => piece.kind === kind),
          `there are pieces with ${kind}`,
        );
      await move(pieces, there, atOnce);

      assert.deepEqual(await piecesIn(there), pieces);
      assert.deepEqual(still(await there.reader('').census()), still(await here.reader('').census()));
      const survey = await there.survey(A, () => {});
      assert.deepEqual([survey.wrong, survey.end], [[], a!.archive.end()]);
      assert.equal(await there.note('identity'), '{"id": "ü"}');
      const moved = await scene.member('a', a!.archive, { crawl: 'there', shards: FEW });
      const before = await moved.store.census();
      assert.deepEqual(
        await moved.store
          .admit(pieces.flatMap((piece) => (piece.kind === 'line' ? piece.links.map(({ link: known }) => known) : [])))
          .then(({ admitted }) => admitted),
        0,
        'all are known',
      );
      assert.deepEqual(still(await moved.store.census()), still(before));

      const advance = (): void => scene.clock.advance(10_000);
      const visited = await goOn(a!, { shards: SHARDS, advance });
      assert.ok(visited.get('long.example')!.length === ROUNDS && visited.size > 5);
      assert.deepEqual(await goOn(moved, { shards: FEW, advance }), visited);
    });
  }
});

test('postgres: no site of a moved crawl is called before its clock allows', async () => {
  await withScene(server, async ({ clock, member, crawl }) => {
    const a = await member('a');
    await a.store.admit([...linksOf('x.example', 2), ...linksOf('y.example', 2)]);
    const { visits } = await a.store.claim(ask());
    await a.store.settle(
      visits.map((visit) =>
        settlementOf(visit, {
          pace: {
            ...visit.pace,
            dueAt: clock.now() + (visit.site === 'x.example' ? 7_000.5 : 9_000),
            delayMs: 1_234.5,
            failures: 2,
          },
        }),
      ),
    );
    const there = await crawl('there', FEW);
    await move(await piecesIn(await crawl()), there);
    const moved = await member('a', a.archive, { crawl: 'there', shards: FEW });
    const shards = Array.from({ length: FEW }, (_, shard) => shard);
    clock.advance(7_000);
    assert.deepEqual((await moved.store.claim(ask({ shards }))).visits, []);
    clock.advance(1_000);
    const { site, pace } = await claimOne(moved.store, { shards, delayMs: 1_000 });
    assert.deepEqual([site, pace.delayMs, pace.failures], ['x.example', 1_234.5, 2]);
    clock.advance(1_000);
    assert.equal((await claimOne(moved.store, { shards })).site, 'y.example');
  });
});

test('postgres: sites, pages and links that are found after a move come after those that were there', async () => {
  await withScene(server, async ({ member, crawl }) => {
    const a = await member('a');
    await a.store.admit(['c', 'a', 'b'].map((name) => link(`${name}.example/`)));
    await a.store.settle([settlementOf((await a.store.claim(ask())).visits[0]!)]);
    await a.store.steer([{ kind: 'free', holder: null, counted: false }]);
    const names = async (one: SharedCrawl): Promise<string[]> => {
      const sites: string[] = [];
      for await (const { site } of one.reader('').sites({})) sites.push(site);
      return sites;
    };
    const [here, there] = [await crawl(), await crawl('there', SHARDS)];
    await move(await piecesIn(here), there, 1);
    assert.deepEqual(await names(there), await names(here));
    const moved = await member('a', a.archive, { crawl: 'there', shards: SHARDS });
    await moved.store.admit([link('0.example/'), ...linksOf('b.example', 2)]);
    assert.deepEqual(await names(there), [...(await names(here)), '0.example']);
    assert.deepEqual((await there.survey(A, () => {})).wrong, []);
  });
});

test('postgres: also more sites, rules and pages than are read in one go arrive, each once', async () => {
  await withScene(server, async ({ member, crawl }) => {
    const a = await member('a');
    await a.store.admit(Array.from({ length: 2_400 }, (_, i) => link(`s${i % 1_200}.example/${i}`)));
    const { visits } = await a.store.claim(ask({ visits: 5_000 }));
    const rules = { fetchedAt: 1, expiresAt: 2, verdict: 'all', rules: '', crawlDelayMs: null } as const;
    await a.store.settle(
      visits.map((visit) => settlementOf(visit, { robots: { origin: `https://${visit.site}`, ...rules } })),
    );
    const [here, there] = [await crawl(), await crawl('there', FEW)];
    const pieces = await piecesIn(here);
    await move(pieces, there, 1_000);
    assert.deepEqual(await piecesIn(there), pieces);
    const counts = Object.entries(Object.groupBy(pieces, ({ kind }) => kind)).map(([kind, some]) => [
      kind,
      some.length,
    ]);
    assert.deepEqual(counts, [
      ['site', 1_200],
      ['line', 1_200],
      ['robots', 1_200],
      ['pages', 6],
      ['tally', 1],
    ]);
    assert.deepEqual((await there.survey(A, () => {})).wrong, []);
  });
});

const isFault =
  (says: RegExp, advice = /./) =>
  (error: unknown): boolean =>
    error instanceof StoreFault && says.test(error.message) && advice.test(error.advice);

test('postgres: a crawl with a leased link is not moved, nor one whose archive lies in other directories, too', async () => {
  await withScene(server, async ({ member, crawl }) => {
    const a = await member('a');
    const here = await crawl();
    await a.store.admit([link('x.example/'), link('y.example/')]);
    const visit = await claimOne(a.store, { visits: 1 });
    await assert.rejects(piecesIn(here), isFault(/is at work, or was killed/, /resume and stop it/));
    await a.store.settle([settlementOf(visit, { records: recordsOf('x') })]);
    assert.ok((await piecesIn(here)).length > 0);
    const b = await member('other');
    assert.ok((await piecesIn(here)).length > 0, 'one that has no files is no hindrance');
    await b.store.settle([settlementOf(await claimOne(b.store), { records: recordsOf('y') })]);
    await assert.rejects(piecesIn(here), isFault(/but with other$/));
    await assert.rejects(piecesIn(await crawl('nowhere')), isFault(/has no crawl "nowhere"/));
  });
});

test('postgres: a crawl that goes on while it is read is told, and so is a line that is not whole', async () => {
  await withScene(server, async ({ member, crawl, query }) => {
    const a = await member('a');
    const here = await crawl();
    await a.store.admit(linksOf('x.example', 5));
    await assert.rejects(
      async () => {
        for await (const piece of here.pieces(A)) if (piece.kind === 'site') await a.store.admit([link('y.example/')]);
      },
      isFault(/is at work/),
    );
    await query("UPDATE gossamer_here.site SET waiting = 9 WHERE name = 'x.example'");
    await assert.rejects(piecesIn(here), isFault(/counts 9 waiting links, but its line has 5/, /verify/));
  });
});

test('postgres: what was not moved to its end is refused to all, and made anew by the next move; a whole crawl is left alone', async () => {
  await withScene(server, async ({ member, crawl, query }) => {
    const a = await member('a');
    await a.store.admit(linksOf('x.example', 30));
    const pieces = await piecesIn(await crawl());
    const there = await crawl('there', FEW);
    await there.beginMove();
    await there.take(pieces.slice(0, 2), A);
    const moving = isFault(/^the crawl "there" is being moved here$/, /^run `gossamer migrate` again$/);
    await assert.rejects(member('a', a.archive, { crawl: 'there', shards: FEW }), moving);
    await assert.rejects(there.keepNote('identity', '1'), moving);
    await assert.rejects(piecesIn(there), moving);
    assert.equal(await there.note('identity'), null);

    const again = await crawl('there', FEW + 1);
    await again.beginMove();
    await assert.rejects(there.take(pieces, A), isFault(/another one has begun since/));
    await assert.rejects(there.endMove(A), isFault(/another one has begun since/));
    await again.take(pieces, A);
    await again.endMove(A);
    assert.deepEqual(await piecesIn(again), pieces);
    assert.deepEqual((await again.survey(A, () => {})).wrong, []);
    assert.deepEqual(await query("SELECT value FROM gossamer_there.meta WHERE name = 'shards'"), [
      { value: String(FEW + 1) },
    ]);
    await assert.rejects(again.beginMove(), isFault(/has a crawl "there" already/));
    assert.deepEqual(await piecesIn(again), pieces);
  });
});

test('postgres: a crawl that has a URL twice does not become whole', async () => {
  await withScene(server, async ({ crawl }) => {
    const there = await crawl('there', FEW);
    await there.beginMove();
    const site = {
      kind: 'site',
      site: 'x.example',
      state: 'open',
      pages: 0,
      pace: { dueAt: 0, delayMs: 0, crawlDelayMs: 0, responseMs: 0, failures: 0 },
    } as const;
    await there.take(
      [
        site,
        {
          kind: 'line',
          site: 'x.example',
          links: [
            { link: link('x.example/'), tries: 0 },
            { link: link('x.example/'), tries: 1 },
          ],
        },
      ],
      A,
    );
    await assert.rejects(there.endMove(A), isFault(/has a URL twice/));
  });
});

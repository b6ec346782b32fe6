/** A crawl in PostgreSQL, opened to look at it or to move it there: what is particular to this store. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { StoreFault } from '../src/contract/fault.ts';
import type { Piece } from '../src/contract/walk.ts';
import { functionName } from '../src/store/postgres/sql.ts';
import { ask, claimOne, link, linksOf, recordsOf, settlementOf } from './contract/store-scene.ts';
import { piecesOf, queueOf, SITE, TALLY } from './contract/stored-pieces.ts';
import { countsOf, foundIn, sitesIn, soundSurveyOf } from './contract/stored-scene.ts';
import { startPostgres } from './support/postgres-server.ts';
import { withScene } from './support/postgres-scene.ts';
import { until } from './support/until.ts';

const server = await startPostgres();
after(() => server.remove());

const isFault =
  (says: RegExp, advice = /./) =>
  (error: unknown): boolean =>
    error instanceof StoreFault && says.test(error.message) && advice.test(error.advice);

test('postgres: a crawl that is not there says so when it is read, and reading makes nothing', async () => {
  await withScene(server, async ({ crawl, query }) => {
    const nobody = await crawl();
    const none = isFault(/has no crawl "here"$/, /look at --store and --name/);
    await assert.rejects(nobody.census(), none);
    await assert.rejects(sitesIn(nobody), none);
    await assert.rejects(nobody.link('https://x.example/', 'x.example'), none);
    await assert.rejects(foundIn(nobody, ['sites']), none);
    assert.deepEqual(await query("SELECT FROM pg_namespace WHERE nspname LIKE 'gossamer%'"), []);
  });
});

test('postgres: a crawl of release 0.1.0, and one that a newer program made, are refused, and changed by nobody', async () => {
  await withScene(server, async ({ crawl, member, query }) => {
    await (await crawl()).keepNote('identity', '1');
    const functions = async (): Promise<unknown> =>
      query("SELECT oid, xmin FROM pg_proc WHERE pronamespace = 'gossamer_here'::regnamespace ORDER BY oid");
    const before = await functions();
    for (const [layout, advice] of [
      ['1', /^go on with gossamer 0\.1\.0, or start a new crawl$/],
      ['2', /made before the first release/],
      ['99', /made by a newer version: use that one/],
    ] as const) {
      await query("UPDATE gossamer_here.meta SET value = $1 WHERE name = 'layout'", [layout]);
      const refused = isFault(
        new RegExp(`crawl "here" in PostgreSQL has layout ${layout}, this program knows 3`),
        advice,
      );
      await assert.rejects(crawl(), refused);
      await assert.rejects(member('a'), refused);
    }
    assert.deepEqual(await query('SELECT FROM gossamer_here.member'), []);
    assert.deepEqual(await functions(), before);
  });
});

test('postgres: whoever looks at a crawl need not know the number of its shards', async () => {
  await withScene(server, async ({ crawl, member }) => {
    const { store } = await member('a');
    await store.admit([link('x.example/'), link('y.example/')]);
    const other = await crawl({ shards: 7 });
    assert.equal(await other.keepNote('seeds.txt', 'ü\n'), 'ü\n');
    assert.deepEqual(countsOf(await other.census()), countsOf(await store.census()));
    await soundSurveyOf(other);
  });
});

test('postgres: each member sees where its own archive ends, and whose pages are its own', async () => {
  await withScene(server, async ({ member, crawl }) => {
    const [a, b] = [await member('a'), await member('b')];
    await a.store.admit([link('x.example/'), link('y.example/')]);
    await a.store.settle([settlementOf(await claimOne(a.store, { visits: 1 }), { records: recordsOf('x') })]);
    assert.deepEqual(
      await foundIn(await crawl({ member: 'a' }), ['tally']).then(
        ([tally]) => tally!.kind === 'tally' && tally!.elsewhere,
      ),
      [],
      'one that has no files is not named',
    );
    await b.store.settle([settlementOf(await claimOne(b.store), { records: recordsOf('of the second') })]);
    for (const [me, other] of [[a, 'b'] as const, [b, 'a'] as const]) {
      const mine = await crawl({ member: me.name });
      assert.deepEqual((await mine.census()).archive, me.archive.end());
      const found = await foundIn(mine, ['pages', 'tally']);
      const [pages, tally] = found;
      assert.ok(pages!.kind === 'pages' && tally!.kind === 'tally' && found.length === 2);
      assert.deepEqual(
        pages!.pages.map((page) => page.mine),
        [me === a, me === b],
      );
      assert.deepEqual([tally!.archive, tally!.elsewhere], [me.archive.end(), [other]]);
    }
    const nobody = await crawl({ member: 'nobody' });
    assert.deepEqual((await nobody.census()).archive, { file: '', bytes: 0 });
  });
});

/** When others last asked the server which calls are under way. */
const LOOKS_AT_CALLS = `SELECT query_start::text AS at FROM pg_stat_activity
  WHERE query LIKE '%FROM pg_locks%' AND pid <> pg_backend_pid()`;

test('postgres: a page whose call ended after a later one is given to whoever follows, once and in its place', async () => {
  await withScene(server, async ({ url, member, crawl }) => {
    const [a, b] = [await member('a'), await member('b')];
    await a.store.admit(Array.from({ length: 230 }, (_, i) => link(`s${i}.example/`)));
    const reader = await crawl();
    const visits = (await a.store.claim(ask({ visits: 229 }))).visits;
    await a.store.settle(visits.map((visit) => settlementOf(visit)));
    const last = await claimOne(b.store);

    // A call of member a that has written its row and not yet ended.
    const late = new pg.Client({ connectionString: url });
    await late.connect();
    try {
      await late.query(`BEGIN; SELECT gossamer_here.${functionName('fence')}('a', 1)`);
      await late.query(`INSERT INTO gossamer_here.page (member, site, url, outcome, time, duration_ms, content_type, bytes,
          title, language, redirect, digest, truncated, noindex, depth, via, tries, robots, detail, tls,
          charset, charset_guessed)
        SELECT 1, id, 'https://late.example/', 'fetched', 0, 0, '', 0, '', '', '', '', '', false, 0, '', 1, '', '', '',
          '', false
        FROM gossamer_here.site LIMIT 1`);
      await b.store.settle([settlementOf(last)]);
      const following = (async () => {
        const urls: string[] = [];
        for (let row = 0, still = 0; still < 2; ) {
          const slice = await reader.pagesAfter(row, {});
          urls.push(...slice.pages.map((page) => page.url));
          still = slice.row === row ? still + 1 : 0;
          row = slice.row;
        }
        return urls;
      })();
      // It waits for that call: again and again it looks at what is under way.
      const looks = new Set<string>();
      let isOver = false;
      void following.finally(() => (isOver = true));
      await until('the reader has looked some times', async () => {
        for (const { at } of await server.query(url, LOOKS_AT_CALLS)) looks.add(String(at));
        return looks.size >= 3 || isOver;
      });
      await late.query('COMMIT');
      assert.deepEqual(await following, [
        ...visits.map((visit) => visit.link.url),
        'https://late.example/',
        last.link.url,
      ]);
      assert.equal((await reader.pagesAfter(0, { limit: 0 })).end, 231);
    } finally {
      await late.end();
    }
  });
});

test('postgres: a link of a block that was begun before others went first is found from where it was left', async () => {
  await withScene(server, async ({ member, crawl }) => {
    const { store } = await member('a');
    await store.admit(linksOf('x.example', 3));
    await store.settle([settlementOf(await claimOne(store))]);
    await store.admit([link('x.example/first', { first: true })]);
    const view = await (await crawl()).link('https://x.example/3', 'x.example');
    assert.deepEqual([view.open?.ahead, view.lookedAt], [2, 3]);
  });
});

const FEW = 7;

test('postgres: a crawl is filled with the number of shards of its new place, and goes on there', async () => {
  await withScene(server, async ({ clock, member, crawl }) => {
    const a = await member('a');
    await a.store.admit(Array.from({ length: 3_000 }, (_, i) => link(`s${i % 1_500}.example/${i}`)));
    const { visits } = await a.store.claim(ask({ visits: 1_500 }));
    await a.store.settle(visits.map((visit) => settlementOf(visit)));
    const here = await crawl();
    const there = await crawl({ crawl: 'there', shards: FEW });
    const filling = await there.fill();
    // With something beside it, so that not all of it goes over the same connection.
    for (const piece of await piecesOf(here)) await Promise.all([there.note('any'), filling.take([piece])]);
    await filling.end();
    const namesIn = async (one: typeof here): Promise<string[]> => (await sitesIn(one)).map(({ site }) => site);
    assert.deepEqual(await namesIn(there), await namesIn(here), 'sites come as they were found');
    const moved = await member('a', a.archive, { crawl: 'there', shards: FEW });
    clock.advance(60_000);
    const shards = Array.from({ length: FEW }, (_, shard) => shard);
    assert.equal((await moved.store.claim(ask({ shards, visits: 5_000 }))).visits.length, 1_500);
  });
});

test('postgres: what was not filled to its end is refused to all, and another filling ends it', async () => {
  await withScene(server, async ({ member, crawl, query }) => {
    const pieces: Piece[] = [SITE, queueOf('a.example', '1', '2'), TALLY];
    const there = await crawl({ shards: FEW });
    const first = await there.fill();
    await first.take(pieces.slice(0, 2));
    const moving = isFault(/^the crawl "here" is being moved here$/, /^run `gossamer migrate` again$/);
    await assert.rejects(member('a'), moving);
    await assert.rejects(there.keepNote('identity', '1'), moving);
    await assert.rejects(foundIn(there, ['tally']), moving);

    const again = await crawl({ shards: FEW + 1 });
    const second = await again.fill();
    const begunSince = isFault(/another move to this crawl has begun since/, /one at a time/);
    await assert.rejects(first.take(pieces), begunSince);
    await assert.rejects(first.end(), begunSince);
    await second.take(pieces);
    await second.end();
    await assert.rejects(second.end(), begunSince);
    assert.deepEqual(await query("SELECT value FROM gossamer_here.meta WHERE name = 'shards'"), [
      { value: String(FEW + 1) },
    ]);
    await assert.rejects(again.fill(), isFault(/has a crawl "here" already/));
    assert.equal((await again.census()).waiting, 2);
  });
});

test('postgres: a crawl that has a URL twice does not become whole, nor one whose queue has no site', async () => {
  await withScene(server, async ({ crawl }) => {
    const twice = await (await crawl()).fill();
    await twice.take([SITE, queueOf('a.example', '1', '1'), TALLY]);
    await assert.rejects(twice.end(), isFault(/has a URL twice/));
    const orphan = await (await crawl()).fill();
    await assert.rejects(orphan.take([queueOf('nowhere.example', '1')]), isFault(/null value in column "site"/));
  });
});

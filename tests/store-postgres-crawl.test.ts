/** A crawl in PostgreSQL, opened to look at it: its notes, and what people read of it. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, test } from 'node:test';
import pg from 'pg';
import { StoreFault } from '../src/frontier/store.ts';
import {
  createModel,
  followAdmit,
  followClaim,
  followOrder,
  followSettle,
  leasedVisits,
  type Model,
} from './contract/store-model.ts';
import { ask, claimOne, DELAY_MS, link, linksOf, pageOf, recordsOf, settlementOf } from './contract/store-scene.ts';
import { startPostgres } from './support/postgres-server.ts';
import { until } from './support/until.ts';
import { checkReader } from './support/reader-check.ts';
import { randomLinks, randomSettlement, withScene, type PostgresScene } from './support/postgres-scene.ts';

const server = await startPostgres();
after(() => server.remove());

test('postgres: a crawl that is not there has no note, and looking for one makes nothing', async () => {
  await withScene(server, async ({ crawl, query }) => {
    const nobody = await crawl();
    assert.equal(await nobody.note('identity'), null);
    await assert.rejects(
      async () => nobody.reader('').census(),
      (error) => error instanceof StoreFault && /has no crawl "here"/.test(error.message),
    );
    await assert.rejects(
      async () => nobody.reader('').site('x.example'),
      (error) => error instanceof StoreFault && /has no crawl "here"/.test(error.message),
    );
    assert.deepEqual(await query("SELECT FROM pg_namespace WHERE nspname LIKE 'gossamer%'"), []);
  });
});

test('postgres: of processes that write a note at once the first wins, and all are told what it wrote', async () => {
  await withScene(server, async ({ crawl, member }) => {
    const crawls = await Promise.all(Array.from({ length: 4 }, () => crawl()));
    const told = await Promise.all(crawls.map((one, i) => one.keepNote('identity', `by ${i}`)));
    assert.equal(new Set(told).size, 1);
    assert.match(told[0]!, /^by [0-3]$/);
    assert.equal(await crawls[3]!.note('identity'), told[0]);
    assert.equal(await crawls[0]!.note('seeds.txt'), null);
    await member('a'); // the crawl was made with the shards of the place
    const other = await crawl('here', 7);
    assert.equal(await other.keepNote('seeds.txt', 'ü\n'), 'ü\n', 'another number of shards is no error');
    assert.equal((await other.reader('').census()).waiting, 0);
  });
});

test('postgres: a crawl that a newer program made is refused, and changed by nobody', async () => {
  await withScene(server, async ({ crawl, query }) => {
    await (await crawl()).keepNote('identity', '1');
    await query("UPDATE gossamer_here.meta SET value = '99' WHERE name = 'layout'");
    await assert.rejects(crawl(), (error) => error instanceof StoreFault && /layout 99/.test(error.message));
  });
});

/** One member and a model that follows it; ends with links in every state. */
const walkAlone = async ({ clock, member }: PostgresScene): Promise<Model> => {
  const { store } = await member('a');
  const model = createModel();
  for (let step = 0; step < 250; step++) {
    const dice = randomInt(100);
    if (dice < 35) {
      const links = randomLinks(randomInt(12));
      followAdmit(model, links, { siteWaitingMax: Infinity, now: clock.now() });
      await store.admit(links);
    } else if (dice < 60) {
      const asked = ask({ visits: 1 + randomInt(6), delayMs: 500 });
      followClaim(model, { asked, claimed: await store.claim(asked), now: clock.now() });
    } else if (dice < 88) {
      const settlements = leasedVisits(model)
        .filter(() => randomInt(3) > 0)
        .map((visit) => randomSettlement(visit, clock.now()));
      followSettle(model, settlements);
      await store.settle(settlements);
    } else clock.advance(randomInt(2_000));
  }
  const asked = ask({ sitePagesMax: 2, delayMs: 500 });
  followClaim(model, { asked, claimed: await store.claim(asked), now: clock.now() });
  followOrder(model, { kind: 'mark', name: 'seeds', value: 3 }, clock.now());
  await store.steer([{ kind: 'mark', name: 'seeds', value: 3 }]);
  return model;
};

test('postgres: what a reader says of sites, links, pages and rules is what the verbs did', async () => {
  await withScene(server, async (scene) => {
    const model = await walkAlone(scene);
    const reader = (await scene.crawl()).reader('');
    await checkReader(reader, model);
    await reader.close();
  });
});

test('postgres: a link that was taken from the head of its line and waits again at its end is found there', async () => {
  await withScene(server, async ({ member, crawl }) => {
    const { store } = await member('a');
    await store.admit(linksOf('x.example', 3));
    const visit = await claimOne(store);
    await store.settle([settlementOf(visit, { fate: 'retry' })]);
    const view = await (await crawl()).reader('').link(visit.link.url, 'x.example');
    assert.deepEqual([view.state, view.open?.ahead, view.open?.tries, view.lookedAt], ['waiting', 2, 1, 3]);
  });
});

test('postgres: links of a block that was begun before others went first are counted from where it was left', async () => {
  await withScene(server, async ({ member, crawl }) => {
    const { store } = await member('a');
    await store.admit(linksOf('x.example', 3));
    await store.settle([settlementOf(await claimOne(store))]);
    await store.admit([link('x.example/first', { first: true })]);
    const view = await (await crawl()).reader('').link('https://x.example/3', 'x.example');
    assert.deepEqual([view.open?.ahead, view.lookedAt], [2, 3]);
  });
});

test('postgres: a census that nobody asks for as a member counts the same; the end of the archive is that of the only member', async () => {
  await withScene(server, async ({ member, crawl }) => {
    const { store, archive } = await member('a');
    await store.admit(linksOf('x.example', 3));
    await store.settle([settlementOf(await claimOne(store), { records: recordsOf('x') })]);
    const reader = (await crawl()).reader('');
    assert.deepEqual(
      { ...(await reader.census()), now: 0, sitesDue: 0, next: null },
      { ...(await store.census()), now: 0, sitesDue: 0, next: null },
    );
    assert.deepEqual((await reader.census()).archive, archive.end());
    await member('b');
    const { waiting, archive: end } = await reader.census();
    assert.deepEqual([waiting, end], [2, { file: '', bytes: 0 }]);
  });
});

test('postgres: sites come as they were found, and reading goes on in between', async () => {
  await withScene(server, async ({ member, crawl }) => {
    const { store } = await member('a');
    const names = Array.from({ length: 2_100 }, (_, i) => `s${(i * 7) % 2_100}.example`);
    await store.admit(names.slice(0, 900).map((name) => link(`${name}/`)));
    await store.admit(names.slice(900).map((name) => link(`${name}/`)));
    const reader = (await crawl()).reader('');
    const seen: string[] = [];
    for await (const { site } of reader.sites({})) {
      if (seen.push(site) % 700 === 0) assert.deepEqual(await reader.robots([`https://${site}`]), [null]);
    }
    assert.deepEqual(new Set(seen), new Set(names));
    assert.deepEqual(new Set(seen.slice(0, 900)), new Set(names.slice(0, 900)));
  });
});

/** When others last asked the server which calls are under way. */
const LOOKS_AT_CALLS = `SELECT query_start::text AS at FROM pg_stat_activity
  WHERE query LIKE '%FROM pg_locks%' AND pid <> pg_backend_pid()`;

test('postgres: pages that come while a reader follows are each given once, also one whose call ended after a later one', async () => {
  await withScene(server, async ({ url, clock, member, crawl }) => {
    const [a, b] = [await member('a'), await member('b')];
    await a.store.admit(Array.from({ length: 230 }, (_, i) => link(`s${i}.example/`)));
    const reader = (await crawl()).reader('');
    assert.equal(await reader.lastRow(), 0);
    assert.deepEqual(await reader.pagesAfter(0, {}), { pages: [], row: 0 });
    const visits = (await a.store.claim(ask({ visits: 229 }))).visits;
    await a.store.settle(visits.map((visit) => settlementOf(visit)));
    const last = await claimOne(b.store);

    // A call of member a that has written its row and not yet ended.
    const late = new pg.Client({ connectionString: url });
    await late.connect();
    try {
      await late.query("BEGIN; SELECT gossamer_here.fence('a', 1)");
      await late.query(`INSERT INTO gossamer_here.page (member, site, url, outcome, at, duration_ms, content_type, bytes, title, language, redirect, digest, truncated, noindex, depth, via, tries, robots, detail, extracted)
        SELECT 1, id, 'https://late.example/', 'fetched', 0, 0, '', 0, '', '', '', '', '', false, 0, '', 1, '', '', '' FROM gossamer_here.site LIMIT 1`);
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
      assert.equal(await reader.lastRow(), 231);
    } finally {
      await late.end();
    }
    clock.advance(DELAY_MS);
    assert.deepEqual(await reader.pagesAfter(229, { outcome: 'robots-denied' }), { pages: [], row: 231 });
    assert.equal((await reader.pagesAfter(0, { limit: 7 })).row, 7);
  });
});

test('postgres: a page is read back as it was settled, with its place', async () => {
  await withScene(server, async ({ member, crawl }) => {
    const { store, archive } = await member('a');
    await store.admit([link('x.example/a?b="c"', { via: 'https://y.example/{}' })]);
    const visit = await claimOne(store);
    const page = pageOf(visit, {
      title: '{"},\\ ü\n\t',
      status: null,
      redirect: 'https://z.example/',
      noindex: true,
      bytes: 2 ** 40,
    });
    await store.settle([settlementOf(visit, { page, records: recordsOf('text', 'robots;') })]);
    const { place, ...read } = (await (await crawl()).reader('').page(visit.link.url, 'x.example'))!;
    assert.deepEqual(read, page);
    assert.match(new TextDecoder().decode(archive.read(place!)), /^response text/);
  });
});

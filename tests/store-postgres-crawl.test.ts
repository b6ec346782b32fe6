/** A crawl in PostgreSQL, opened to look at it: its notes, and what people read of it. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { SITE_SORTS, StoreFault, type Reader, type SiteQuery, type SiteSort, type SiteView } from '../src/frontier/store.ts';
import type { PlacedPage } from '../src/model/settlement.ts';
import { createModel, followAdmit, followClaim, followOrder, followSettle, leasedVisits, sitesOf, type Model } from './contract/store-model.ts';
import { ask, claimOne, DELAY_MS, link, linksOf, pageOf, recordsOf, settlementOf } from './contract/store-scene.ts';
import { startPostgres } from './support/postgres-server.ts';
import { randomLinks, randomSettlement, withScene, type PostgresScene } from './support/postgres-scene.ts';

const server = await startPostgres();
after(() => server.remove());

const allOf = async <T>(items: Iterable<T> | AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

test('postgres: a crawl that is not there has no note, and looking for one makes nothing', async () => {
  await withScene(server, async ({ crawl, query }) => {
    const nobody = await crawl();
    assert.equal(await nobody.note('identity'), null);
    await assert.rejects(async () => nobody.reader('').census(), (error) => error instanceof StoreFault && /has no crawl "here"/.test(error.message));
    await assert.rejects(async () => nobody.reader('').site('x.example'), (error) => error instanceof StoreFault && /has no crawl "here"/.test(error.message));
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

const viewOf = (site: ReturnType<typeof sitesOf>[number]): Omit<SiteView, 'next'> => {
  const rest = site.line.length > 0 ? 'waiting' : 'idle';
  return {
    site: site.name, state: site.lease ? 'leased' : site.state === 'open' ? rest : site.state, waiting: site.line.length, pages: site.pages,
    dueAt: site.pace.dueAt, delayMs: site.pace.delayMs, crawlDelayMs: site.pace.crawlDelayMs, failures: site.pace.failures, leased: site.lease?.visit.link.url ?? '',
  };
};

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
      const settlements = leasedVisits(model).filter(() => randomInt(3) > 0).map((visit) => randomSettlement(visit, clock.now()));
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
    const pages = await allOf(reader.pages({}));
    assert.deepEqual(pages.map(({ url, outcome }) => ({ url: url as string, outcome: outcome as string })), model.settled.map(({ url, outcome }) => ({ url, outcome })));
    await checkSites(reader, model, pages);
    await checkLinks(reader, model, pages);
    for (const { name } of sitesOf(model)) {
      assert.deepEqual(await reader.robots(`https://${name}`), model.robots.get(`https://${name}`) ?? null);
      const failed = pages.filter(({ site, outcome }) => site === name && (outcome === 'server-error' || outcome.startsWith('failed-')));
      assert.deepEqual(await reader.lastFailure(name), failed.at(-1) ?? null);
      assert.deepEqual(await allOf(reader.pages({ site: name })), pages.filter(({ site }) => site === name));
    }
    assert.equal(await reader.robots('https://nowhere.example'), null);
    assert.deepEqual(await allOf(reader.pages({ outcome: 'fetched', status: 200, limit: 3 })), pages.filter(({ outcome }) => outcome === 'fetched').slice(0, 3));
    assert.deepEqual(await allOf(reader.pages({ status: 404 })), []);
    const census = await reader.census();
    assert.deepEqual([census.waiting + census.parked + census.held, census.leased, census.marks], [sitesOf(model).reduce((sum, { line }) => sum + line.length, 0), leasedVisits(model).length, { seeds: 3 }]);
    await reader.close();
  });
});

const checkSites = async (reader: Reader, model: Model, pages: readonly PlacedPage[]): Promise<void> => {
  const views = new Map(sitesOf(model).map((site) => [site.name, viewOf(site)]));
  for (const site of sitesOf(model)) {
    const { next, ...view } = (await reader.site(site.name))!;
    assert.deepEqual(view, views.get(site.name));
    const expected = site.lease?.visit.link.url ?? site.line[0]?.link.url;
    if (expected !== undefined) assert.equal(next, expected);
    else assert.ok(next === '' ? !pages.some((page) => page.site === site.name) : pages.some(({ url, site: of }) => url === next && of === site.name));
  }
  assert.equal(await reader.site('nowhere.example'), null);
  const listed = async (query: SiteQuery): Promise<string[]> => (await allOf(reader.sites(query))).map(({ site }) => site);
  const found = sitesOf(model).map(({ name }) => name);
  assert.deepEqual(new Set(await listed({})), new Set(found));
  assert.deepEqual(await listed({ limit: 4 }), (await listed({})).slice(0, 4));
  assert.deepEqual(await listed({ search: '1.ex' }), (await listed({})).filter((name) => name.includes('1.ex')));
  assert.deepEqual([await reader.sitesCount(''), await reader.sitesCount('1.ex')], [found.length, found.filter((name) => name.includes('1.ex')).length]);
  const rank = new Map((await listed({})).map((name, i) => [name, i]));
  const keys: Record<SiteSort, (view: Omit<SiteView, 'next'>) => number | string> = {
    waiting: ({ waiting }) => -waiting, pages: (view) => -view.pages, failures: ({ failures }) => -failures, delay: ({ delayMs }) => -delayMs, name: ({ site }) => site,
    next: ({ state, waiting, dueAt }) => (state === 'parked' || state === 'held' || waiting === 0 ? 1e15 : 0) + dueAt,
  };
  for (const sort of Object.keys(SITE_SORTS) as SiteSort[]) {
    const key = keys[sort];
    const expected = [...views.values()].toSorted((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : rank.get(a.site)! - rank.get(b.site)!)).map(({ site }) => site);
    assert.deepEqual(await listed({ sort }), expected, sort);
    assert.deepEqual(await listed({ sort, limit: 5, search: 's1' }), expected.filter((name) => name.includes('s1')).slice(0, 5), sort);
  }
};

const checkLinks = async (reader: Reader, model: Model, pages: readonly PlacedPage[]): Promise<void> => {
  const met = new Set<string>();
  for (const page of pages) {
    met.add(page.url);
    assert.deepEqual(await reader.page(page.url, page.site), page);
    const view = await reader.link(page.url, page.site);
    assert.deepEqual([view.state, view.page, view.open, view.site?.site], ['settled', page, null, page.site]);
  }
  for (const site of sitesOf(model)) {
    if (site.lease) {
      const { link: leased, tries } = site.lease.visit;
      met.add(leased.url);
      const view = await reader.link(leased.url, site.name);
      assert.deepEqual([view.state, view.open, view.page], ['leased', { link: leased, tries, ahead: 0 }, null]);
      assert.equal(await reader.isWaiting(leased.url, site.name), false);
    }
    for (const [ahead, { link: waiting, tries }] of site.line.entries()) {
      met.add(waiting.url);
      const view = await reader.link(waiting.url, site.name);
      assert.deepEqual([view.state, view.open, view.lookedAt], [site.state === 'open' ? 'waiting' : site.state, { link: { ...waiting, first: false }, tries, ahead }, ahead + 1]);
      assert.equal(await reader.isWaiting(waiting.url, site.name), true);
      assert.equal(await reader.page(waiting.url, site.name), null);
    }
    const unknown = await reader.link(`https://${site.name}/nowhere`, site.name);
    assert.deepEqual([unknown.state, unknown.open, unknown.lookedAt], ['unknown', null, site.line.length]);
  }
  assert.deepEqual(met, model.seen);
  assert.equal((await reader.link('https://nowhere.example/', 'nowhere.example')).site, null);
};

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
    assert.deepEqual({ ...(await reader.census()), now: 0, sitesDue: 0, next: null }, { ...(await store.census()), now: 0, sitesDue: 0, next: null });
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
      if (seen.push(site) % 700 === 0) assert.equal(await reader.robots(`https://${site}`), null);
    }
    assert.deepEqual(new Set(seen), new Set(names));
    assert.deepEqual(new Set(seen.slice(0, 900)), new Set(names.slice(0, 900)));
  });
});

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
      await sleep(150);
      await late.query('COMMIT');
      assert.deepEqual(await following, [...visits.map((visit) => visit.link.url), 'https://late.example/', last.link.url]);
      assert.equal(await reader.lastRow(), 231);
    } finally {
      await late.end();
    }
    clock.advance(DELAY_MS);
    assert.deepEqual((await reader.pagesAfter(229, { outcome: 'robots-denied' })), { pages: [], row: 231 });
    assert.equal((await reader.pagesAfter(0, { limit: 7 })).row, 7);
  });
});

test('postgres: a page is read back as it was settled, with its place', async () => {
  await withScene(server, async ({ member, crawl }) => {
    const { store, archive } = await member('a');
    await store.admit([link('x.example/a?b="c"', { via: 'https://y.example/{}' })]);
    const visit = await claimOne(store);
    const page = pageOf(visit, { title: '{"},\\ ü\n\t', status: null, redirect: 'https://z.example/', noindex: true, bytes: 2 ** 40 });
    await store.settle([settlementOf(visit, { page, records: recordsOf('text', 'robots;') })]);
    const { place, ...read } = (await (await crawl()).reader('').page(visit.link.url, 'x.example'))!;
    assert.deepEqual(read, page);
    assert.match(new TextDecoder().decode(archive.read(place!)), /^response text/);
  });
});

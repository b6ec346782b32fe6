/** Compares what a reader says of a crawl with a model that followed the verbs. */

import assert from 'node:assert/strict';
import { SITE_SORTS, type Reader, type SiteQuery, type SiteSort, type SiteView } from '../../src/frontier/store.ts';
import type { PlacedPage } from '../../src/model/settlement.ts';
import { leasedVisits, sitesOf, type Model } from '../contract/store-model.ts';

export const allOf = async <T>(items: Iterable<T> | AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

const viewOf = (site: ReturnType<typeof sitesOf>[number]): Omit<SiteView, 'next'> => {
  const rest = site.line.length > 0 ? 'waiting' : 'idle';
  return {
    site: site.name,
    state: site.lease ? 'leased' : site.state === 'open' ? rest : site.state,
    waiting: site.line.length,
    pages: site.pages,
    dueAt: site.pace.dueAt,
    delayMs: site.pace.delayMs,
    crawlDelayMs: site.pace.crawlDelayMs,
    failures: site.pace.failures,
    leased: site.lease?.visit.link.url ?? '',
  };
};

/** All that can be asked of it. */
export const checkReader = async (reader: Reader, model: Model): Promise<void> => {
  const pages = await allOf(reader.pages({}));
  assert.deepEqual(
    pages.map(({ url, outcome }) => ({ url: url as string, outcome: outcome as string })),
    model.settled.map(({ url, outcome }) => ({ url, outcome })),
  );
  await checkSites(reader, model, pages);
  await checkLinks(reader, model, pages);
  for (const { name } of sitesOf(model)) {
    const failed = pages.filter(
      ({ site, outcome }) => site === name && (outcome === 'server-error' || outcome.startsWith('failed-')),
    );
    assert.deepEqual(await reader.lastFailure(name), failed.at(-1) ?? null);
    assert.deepEqual(
      await allOf(reader.pages({ site: name })),
      pages.filter(({ site }) => site === name),
    );
  }
  const origins = [...sitesOf(model).map(({ name }) => `https://${name}`), 'https://nowhere.example'];
  assert.deepEqual(
    await reader.robots(origins),
    origins.map((origin) => model.robots.get(origin) ?? null),
  );
  assert.deepEqual(
    await reader.robots([...origins].reverse()),
    origins.map((origin) => model.robots.get(origin) ?? null).reverse(),
  );
  assert.deepEqual(
    await allOf(reader.pages({ outcome: 'fetched', status: 200, limit: 3 })),
    pages.filter(({ outcome }) => outcome === 'fetched').slice(0, 3),
  );
  assert.deepEqual(await allOf(reader.pages({ status: 404 })), []);
  const census = await reader.census();
  assert.deepEqual(
    [census.waiting + census.parked + census.held, census.leased, census.marks],
    [sitesOf(model).reduce((sum, { line }) => sum + line.length, 0), leasedVisits(model).length, model.marks],
  );
};

const checkSites = async (reader: Reader, model: Model, pages: readonly PlacedPage[]): Promise<void> => {
  const views = new Map(sitesOf(model).map((site) => [site.name, viewOf(site)]));
  for (const site of sitesOf(model)) {
    const { next, ...view } = (await reader.site(site.name))!;
    assert.deepEqual(view, views.get(site.name));
    const expected = site.lease?.visit.link.url ?? site.line[0]?.link.url;
    if (expected !== undefined) assert.equal(next, expected);
    else
      assert.ok(
        next === ''
          ? !pages.some((page) => page.site === site.name)
          : pages.some(({ url, site: of }) => url === next && of === site.name),
      );
  }
  assert.equal(await reader.site('nowhere.example'), null);
  const listed = async (query: SiteQuery): Promise<string[]> =>
    (await allOf(reader.sites(query))).map(({ site }) => site);
  const found = sitesOf(model).map(({ name }) => name);
  assert.deepEqual(new Set(await listed({})), new Set(found));
  assert.deepEqual(await listed({ limit: 4 }), (await listed({})).slice(0, 4));
  assert.deepEqual(
    await listed({ search: '1.ex' }),
    (await listed({})).filter((name) => name.includes('1.ex')),
  );
  assert.deepEqual(
    [await reader.sitesCount(''), await reader.sitesCount('1.ex')],
    [found.length, found.filter((name) => name.includes('1.ex')).length],
  );
  const rank = new Map((await listed({})).map((name, i) => [name, i]));
  const keys: Record<SiteSort, (view: Omit<SiteView, 'next'>) => number | string> = {
    waiting: ({ waiting }) => -waiting,
    pages: (view) => -view.pages,
    failures: ({ failures }) => -failures,
    delay: ({ delayMs }) => -delayMs,
    name: ({ site }) => site,
    next: ({ state, waiting, dueAt }) => (state === 'parked' || state === 'held' || waiting === 0 ? 1e15 : 0) + dueAt,
  };
  for (const sort of Object.keys(SITE_SORTS) as SiteSort[]) {
    const key = keys[sort];
    const expected = [...views.values()]
      .toSorted((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : rank.get(a.site)! - rank.get(b.site)!))
      .map(({ site }) => site);
    assert.deepEqual(await listed({ sort }), expected, sort);
    assert.deepEqual(
      await listed({ sort, limit: 5, search: 's1' }),
      expected.filter((name) => name.includes('s1')).slice(0, 5),
      sort,
    );
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
      assert.deepEqual(
        [view.state, view.open, view.lookedAt],
        [
          site.state === 'open' ? 'waiting' : site.state,
          { link: { ...waiting, first: false }, tries, ahead },
          ahead + 1,
        ],
      );
      assert.equal(await reader.isWaiting(waiting.url, site.name), true);
      assert.equal(await reader.page(waiting.url, site.name), null);
    }
    const unknown = await reader.link(`https://${site.name}/nowhere`, site.name);
    assert.deepEqual([unknown.state, unknown.open, unknown.lookedAt], ['unknown', null, site.line.length]);
  }
  assert.deepEqual(met, model.seen);
  assert.equal((await reader.link('https://nowhere.example/', 'nowhere.example')).site, null);
};

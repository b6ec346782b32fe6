/** After hundreds of random verbs, all that is read of a stored crawl is what the verbs did. */

import assert from 'node:assert/strict';

import type { StoredCrawl } from '../../src/contract/stored-crawl.ts';
import { SITE_SORTS, type SiteSort, type SiteState, type SiteView } from '../../src/contract/views.ts';
import type { FoundSite } from '../../src/contract/walk.ts';
import type { PageRow } from '../../src/model/page.ts';
import { fingerprint } from '../../src/url/fingerprint.ts';
import { shardOf } from '../../src/url/shard.ts';
import { siteOfQueue } from '../../src/url/side-queue.ts';
import { checkCounts, leasedVisits, sitesKnown, sitesOf, type Model, type ModelSite } from './store-model.ts';
import { runAtRandom, takeStep, type RandomRun } from './store-random.ts';
import { wholeOf } from './stored-everything.ts';
import { foundIn, pagesIn, sitesIn, soundSurveyOf, type StoredBehaviour, type StoredScene } from './stored-scene.ts';

const STEPS = 300;

const settleDown = async (scene: StoredScene, run: RandomRun): Promise<StoredCrawl> => {
  for (let step = 0; step < STEPS; step++) await takeStep(run);
  await scene.stop();
  return scene.look();
};

export const randomReadContract = (it: StoredBehaviour): void => {
  it('after random verbs the census and every page, site, link and rule are what the verbs did', (scene) =>
    runAtRandom(scene, async (run) => {
      const crawl = await settleDown(scene, run);
      const pages = await pagesIn(crawl);
      checkCounts(run.model, await crawl.census());
      checkPages(run.model, pages);
      await checkRules(run.model, crawl);
      await checkSites(run.model, crawl, pages);
      await checkLinks(run.model, crawl, pages);
    }));

  it('after random verbs a walk meets what the verbs did, and a survey finds no fault', (scene) =>
    runAtRandom(scene, async (run) => {
      const crawl = await settleDown(scene, run);
      const { model } = run;
      const found = wholeOf(await foundIn(crawl, ['self', 'seen', 'pages', 'sites', 'robots', 'tally']));
      assert.deepEqual(found.wrong, []);
      assert.deepEqual(found.sites, Object.fromEntries(inOrderOfName(model).map((site) => [site.name, foundOf(site)])));
      assert.deepEqual(
        found.seen,
        [...model.seen].map(fingerprint).toSorted((a, b) => (a < b ? -1 : 1)),
      );
      assert.deepEqual(
        found.robots,
        [...model.robots.values()].toSorted((a, b) => (a.origin < b.origin ? -1 : 1)),
      );
      checkPages(model, found.pages as readonly PageRow[]);
      const { forgotten, archivedBytes, marks } = model;
      assert.partialDeepStrictEqual(found.tally, { forgotten, archivedBytes, marks, archive: scene.archive.end() });
      const { links, sites } = await soundSurveyOf(crawl);
      assert.deepEqual([links, sites], [model.seen.size, sitesKnown(model)]);
    }));
};

const inOrderOfName = (model: Model): ModelSite[] => sitesOf(model).toSorted((a, b) => (a.name < b.name ? -1 : 1));

const stateOf = ({ lease, setAside, queue }: ModelSite): SiteState =>
  lease ? 'leased' : (setAside ?? (queue.length > 0 ? 'waiting' : 'idle'));

const asStored = ({ link, tries }: ModelSite['queue'][number]): ModelSite['queue'][number] => ({
  link: { ...link, first: false },
  tries,
});

const foundOf = (site: ModelSite): { found: FoundSite; queue: ModelSite['queue'] } => ({
  found: {
    kind: 'site',
    site: site.name,
    state: stateOf(site),
    shard: shardOf(site.name),
    waiting: site.queue.length,
    pages: site.pages,
    pace: site.pace,
    leased: site.lease && asStored(site.lease.visit),
  },
  queue: site.queue.map(asStored),
});

const viewOf = (site: ModelSite): Omit<SiteView, 'next'> => ({
  site: site.name,
  state: stateOf(site),
  waiting: site.queue.length,
  pages: site.pages,
  dueAt: site.pace.dueAt,
  delayMs: site.pace.delayMs,
  crawlDelayMs: site.pace.crawlDelayMs,
  failures: site.pace.failures,
  leased: site.lease?.visit.link.url ?? '',
});

/** Settled in one batch by a change (given up), rows may stand in any order. */
const checkPages = (model: Model, pages: readonly PageRow[]): void => {
  const known = pages.map(({ url, outcome }) => `${url} ${outcome}`);
  assert.deepEqual(known.toSorted(), model.settled.map(({ url, outcome }) => `${url} ${outcome}`).toSorted());
};

const checkRules = async (model: Model, crawl: StoredCrawl): Promise<void> => {
  const names = sitesOf(model).map(({ name }) => siteOfQueue(name));
  const origins = ['https://nowhere.example', ...names.map((name) => `https://${name}`)];
  assert.deepEqual(
    await crawl.robots(origins),
    origins.map((origin) => model.robots.get(origin) ?? null),
  );
};

const KEYS: Readonly<Record<SiteSort, (view: SiteView) => number | string>> = {
  waiting: ({ waiting }) => -waiting,
  pages: ({ pages }) => -pages,
  failures: ({ failures }) => -failures,
  delay: ({ delayMs }) => -delayMs,
  name: ({ site }) => site,
  next: ({ state, waiting, dueAt }) => (state === 'parked' || state === 'held' || waiting === 0 ? 1e15 : 0) + dueAt,
};

const checkSites = async (model: Model, crawl: StoredCrawl, pages: readonly PageRow[]): Promise<void> => {
  const asFound = await sitesIn(crawl);
  assert.equal(asFound.length, model.sites.size);
  for (const view of asFound) {
    const site = model.sites.get(view.site)!;
    const { next, ...rest } = view;
    assert.deepEqual(rest, viewOf(site));
    const first = site.lease?.visit.link.url ?? site.queue[0]?.link.url;
    if (first !== undefined) assert.equal(next, first);
    else assert.ok(pages.some(({ url, site: of }) => url === next && of === site.name) || next === '', next);
  }
  for (const sort of Object.keys(SITE_SORTS) as SiteSort[]) {
    const key = KEYS[sort];
    // Sorting is stable: equal ones stay as they were found.
    const expected = asFound.toSorted((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
    assert.deepEqual(await sitesIn(crawl, { sort }), expected, sort);
    assert.deepEqual(
      await sitesIn(crawl, { sort, limit: 5, search: 's1' }),
      expected.filter(({ site }) => site.includes('s1')).slice(0, 5),
      sort,
    );
  }
};

const checkLinks = async (model: Model, crawl: StoredCrawl, pages: readonly PageRow[]): Promise<void> => {
  for (const page of pages) {
    const { state, page: row, open, site } = await crawl.link(page.url, page.site);
    assert.deepEqual([state, row, open, site?.site], ['settled', page, null, page.site]);
  }
  for (const { link, tries } of leasedVisits(model)) {
    const { state, open, page } = await crawl.link(link.url, link.site);
    assert.deepEqual([state, open, page], ['leased', { ...asStored({ link, tries }), ahead: 0 }, null]);
  }
  for (const { name, queue, setAside } of sitesOf(model)) {
    for (const [ahead, waiting] of queue.entries()) {
      const { state, open, lookedAt } = await crawl.link(waiting.link.url, name);
      assert.deepEqual([state, open, lookedAt], [setAside ?? 'waiting', { ...asStored(waiting), ahead }, ahead + 1]);
    }
    const { state, open, lookedAt } = await crawl.link(`https://${name}/nowhere`, name);
    assert.deepEqual([state, open, lookedAt], ['unknown', null, queue.length]);
  }
};

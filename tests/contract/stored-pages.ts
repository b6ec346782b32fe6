/** Settled links of a stored crawl, slice by slice, in the order they were settled. */

import assert from 'node:assert/strict';

import type { StoredCrawl } from '../../src/contract/stored-crawl.ts';
import type { PageFilter } from '../../src/contract/views.ts';
import type { OutcomeName } from '../../src/model/outcome.ts';
import { NO_PLACE } from '../../src/model/page.ts';
import { ask, DELAY_MS, link, linksOf, pageOf, recordsOf, settlementOf, type Scene } from './store-scene.ts';
import { pagesIn, slicesOf, type StoredBehaviour } from './stored-scene.ts';

/** More than one slice has. */
const MANY = 230;

const settleMany = async ({ store }: Scene, from: number, count: number): Promise<string[]> => {
  await store.admit(Array.from({ length: count }, (_, i) => link(`s${from + i}.example/`)));
  const { visits } = await store.claim(ask());
  await store.settle(visits.map((visit) => settlementOf(visit)));
  return visits.map((visit) => visit.link.url);
};

const OUTCOMES: readonly [OutcomeName, status: number | null][] = [
  ['fetched', 200],
  ['server-error', 503],
  ['failed-dns', null],
  ['fetched', 203],
  ['client-error', 404],
  ['failed-timeout', null],
  ['robots-denied', null],
  ['parse-failed', 200],
];

/** Two sites, each with one page of every outcome, in turns: /1 is fetched, /2 a server error ... */
const settleOutcomes = async ({ store, clock }: Scene): Promise<void> => {
  await store.admit([...linksOf('a.example', OUTCOMES.length), ...linksOf('b.example', OUTCOMES.length)]);
  for (const [outcome, status] of OUTCOMES) {
    const { visits } = await store.claim(ask());
    for (const visit of visits.toSorted((a, b) => (a.site < b.site ? -1 : 1)))
      await store.settle([settlementOf(visit, { page: pageOf(visit, { outcome, status }) })]);
    clock.advance(DELAY_MS);
  }
};

const matching = async (crawl: StoredCrawl, filter: PageFilter): Promise<string[]> =>
  (await pagesIn(crawl, filter)).map(({ url }) => url.slice('https://'.length));

export const pagesContract = (it: StoredBehaviour): void => {
  it('a crawl without settled links has no page, and ends at row 0', async ({ store, look }) => {
    await store.admit(linksOf('a.example', 3));
    assert.deepEqual(await (await look()).pagesAfter(0, {}), { pages: [], row: 0, end: 0 });
  });

  it('pages come in the order they were settled, some at a time, with all that is known of them', async (scene) => {
    const { store, look } = scene;
    const urls = await settleMany(scene, 0, MANY);
    await store.admit([link('last.example/', { depth: 4, via: 'https://v.example/' })]);
    const [visit] = (await store.claim(ask())).visits;
    const page = pageOf(visit!, { title: '«ünï» 🕸', extracted: '[1]', noindex: true, duration_ms: 0.25 });
    await store.settle([settlementOf(visit!, { page })]);
    const crawl = await look();
    const pages = await pagesIn(crawl);
    assert.deepEqual(
      pages.map(({ url }) => url),
      [...urls, 'https://last.example/'],
    );
    assert.deepEqual(pages.at(-1), { ...page, ...NO_PLACE });
    const slice = await crawl.pagesAfter(0, {});
    assert.ok(slice.pages.length > 0 && slice.pages.length <= 200, `${slice.pages.length} at once`);
    assert.ok(slice.row < slice.end);
  });

  it('a page tells where its records lie', async (scene) => {
    const { store, look, archive } = scene;
    await store.admit(linksOf('a.example', 1));
    const { visits } = await store.claim(ask());
    await store.settle(visits.map((visit) => settlementOf(visit, { records: recordsOf('one', 'robots;') })));
    const [page] = await pagesIn(await look());
    assert.equal(new TextDecoder().decode(archive.read(page!)), 'response one;');
  });

  it('whoever follows a crawl is given each page once, those that come later, too', async (scene) => {
    const crawl = await scene.look();
    const urls: string[] = [];
    const followed: string[] = [];
    let row = 0;
    for (let round = 0; round < 3; round++) {
      urls.push(...(await settleMany(scene, round * 77, 77)));
      for await (const slice of slicesOf(crawl, {}, row)) {
        followed.push(...slice.pages.map(({ url }) => url));
        row = slice.row;
      }
    }
    assert.deepEqual(followed, urls);
    const { row: last, end } = await crawl.pagesAfter(row, {});
    assert.deepEqual([last, end], [row, row], 'no more for now');
  });

  it('with a limit no more pages come, and the next ones come after them', async (scene) => {
    const urls = await settleMany(scene, 0, 20);
    const crawl = await scene.look();
    const first = await crawl.pagesAfter(0, { limit: 7 });
    const second = await crawl.pagesAfter(first.row, { limit: 7 });
    const third = await crawl.pagesAfter(second.row, { limit: 7 });
    assert.deepEqual([first.pages.length, second.pages.length, third.pages.length], [7, 7, 6]);
    assert.deepEqual(
      [first, second, third].flatMap(({ pages }) => pages.map(({ url }) => url)),
      urls,
    );
    assert.deepEqual([first.end, third.row], [third.end, third.end]);
  });

  it('with a limit of 0 the end is told, and nothing is read', async (scene) => {
    const crawl = await scene.look();
    assert.deepEqual(await crawl.pagesAfter(0, { limit: 0 }), { pages: [], row: 0, end: 0 });
    await settleMany(scene, 0, 3);
    const { end, ...rest } = await crawl.pagesAfter(0, { limit: 0 });
    assert.deepEqual(rest, { pages: [], row: 0 });
    assert.ok(end >= 3);
    assert.deepEqual(await crawl.pagesAfter(end, { limit: 0 }), { pages: [], row: end, end });
    await settleMany(scene, 3, 1);
    assert.ok((await crawl.pagesAfter(end, { limit: 0 })).end > end, 'the end moves on');
  });

  const filters: readonly [what: string, filter: PageFilter, paths: readonly string[]][] = [
    ['a site', { site: 'b.example' }, OUTCOMES.map((_, i) => `b.example/${i + 1}`)],
    ['an outcome', { outcome: 'fetched' }, ['a.example/1', 'b.example/1', 'a.example/4', 'b.example/4']],
    ['a status', { status: 200 }, ['a.example/1', 'b.example/1', 'a.example/8', 'b.example/8']],
    [
      'failure, of the server or of the network',
      { failed: true },
      ['a.example/2', 'b.example/2', 'a.example/3', 'b.example/3', 'a.example/6', 'b.example/6'],
    ],
    ['a site and failure', { site: 'a.example', failed: true }, ['a.example/2', 'a.example/3', 'a.example/6']],
    ['a site, an outcome and a status', { site: 'a.example', outcome: 'fetched', status: 203 }, ['a.example/4']],
    ['a status and failure', { status: 503, failed: true }, ['a.example/2', 'b.example/2']],
    ['an outcome that is no failure, and failure', { outcome: 'fetched', failed: true }, []],
    ['a site that is not known', { site: 'nowhere.example' }, []],
    ['an outcome that no link has', { outcome: 'trap' }, []],
    ['a status that no link has', { status: 418 }, []],
  ];
  for (const [what, filter, paths] of filters) {
    it(`pages are filtered by ${what}`, async (scene) => {
      await settleOutcomes(scene);
      const crawl = await scene.look();
      assert.deepEqual(await matching(crawl, filter), paths);
      assert.deepEqual(await matching(crawl, { ...filter, limit: 1 }), paths, 'one by one');
    });
  }

  it('where no page matches, the row to go on after is the end', async (scene) => {
    await settleMany(scene, 0, MANY);
    const crawl = await scene.look();
    const { pages, row, end } = await crawl.pagesAfter(0, { outcome: 'robots-denied' });
    assert.deepEqual([pages, row], [[], end]);
    const urls = await settleMany(scene, MANY, 2);
    const later = await crawl.pagesAfter(row, { outcome: 'fetched' });
    assert.deepEqual(
      later.pages.map(({ url }) => url),
      urls,
    );
  });

  it('the last failure of a site is found from its end', async (scene) => {
    await settleOutcomes(scene);
    const crawl = await scene.look();
    const failures = await crawl.pagesAfter(0, { site: 'b.example', failed: true });
    assert.equal(failures.pages.at(-1)?.outcome, 'failed-timeout');
    assert.deepEqual(await crawl.pagesAfter(failures.end, { site: 'b.example', failed: true }), {
      pages: [],
      row: failures.end,
      end: failures.end,
    });
  });
};

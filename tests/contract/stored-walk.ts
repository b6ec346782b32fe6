/** What a walk over a stored crawl meets. */

import assert from 'node:assert/strict';

import type { Found, FoundSite, FoundTally, WalkPart } from '../../src/contract/walk.ts';
import type { CanonicalUrl } from '../../src/model/link.ts';
import { isArchived } from '../../src/model/page.ts';
import { fingerprint } from '../../src/url/fingerprint.ts';
import { shardOf } from '../../src/url/shard.ts';
import { ask, claimOne, DELAY_MS, link, linksOf, recordsOf, settlementOf, sitesInShard } from './store-scene.ts';
import { FAR_FUTURE, linksFromAfar, LONG, makeEverything, robotsOf, visitSite, wholeOf } from './stored-everything.ts';
import { TALLY } from './stored-pieces.ts';
import { foundIn, pagesIn, type StoredBehaviour } from './stored-scene.ts';

const ALL: readonly WalkPart[] = ['self', 'seen', 'pages', 'sites', 'robots', 'tally'];
/** Pieces that are read, handed over and written at a time: some hundred. */
const LINKS_IN_PIECE_MAX = 600;
const PAGES_IN_PIECE_MAX = 250;

const partOf = ({ kind }: Found): WalkPart =>
  kind === 'site' || kind === 'queue' || kind === 'broken' ? 'sites' : kind === 'wrong' ? 'self' : kind;

/** The parts in the order in which they came. */
const partsOf = (found: readonly Found[]): WalkPart[] =>
  found.map(partOf).filter((part, i, all) => part !== all[i - 1]);

const pathsOf = (found: readonly Found[]): string[] =>
  found.flatMap((one) => (one.kind === 'queue' ? one.links.map(({ link: { url } }) => new URL(url).pathname) : []));

export const walkContract = (it: StoredBehaviour): void => {
  const orders: readonly (readonly WalkPart[])[] = [
    ...ALL.map((part) => [part]),
    ['sites', 'robots', 'pages', 'tally'],
    ['seen', 'pages', 'sites', 'robots', 'tally'],
    ['robots', 'seen', 'sites'],
    ['pages', 'tally'],
    ALL,
  ];
  for (const parts of orders) {
    it(`a walk over ${parts.join(', ')} meets that, in this order, and nothing else`, async (scene) => {
      await makeEverything(scene);
      await scene.stop();
      const found = await foundIn(await scene.look(), parts);
      assert.deepEqual(
        partsOf(found),
        parts.filter((part) => part !== 'self'),
      );
    });
  }

  it('a walk meets the same whether parts are asked for alone or together', async (scene) => {
    await makeEverything(scene);
    await scene.stop();
    const crawl = await scene.look();
    const alone = [];
    for (const part of ALL) alone.push(...(await foundIn(crawl, [part])));
    assert.deepEqual(wholeOf(await foundIn(crawl, ALL)), wholeOf(alone));
  });

  it('a walk over a crawl that nobody worked on yet meets an empty tally', async ({ stop, look }) => {
    await stop();
    assert.deepEqual(wholeOf(await foundIn(await look(), ALL)), {
      sites: {},
      robots: [],
      pages: [],
      seen: [],
      tally: TALLY,
      wrong: [],
    });
  });

  it('a walk can be given up in the middle, and begun again', async (scene) => {
    await makeEverything(scene);
    await scene.stop();
    const crawl = await scene.look();
    for (const part of ['seen', 'pages', 'sites', 'robots'] as const) {
      for await (const found of crawl.walk([part, 'tally'])) {
        assert.equal(partOf(found), part);
        break;
      }
    }
    assert.equal((await foundIn(crawl, ['tally'])).length, 1);
    assert.equal((await crawl.census()).marks.seeds, 7);
  });

  queueWalks(it);
  rowWalks(it);
};

const queueWalks = (it: StoredBehaviour): void => {
  it('a site is met with its state and its clock, then its queue in the order of claims', async (scene) => {
    await scene.store.admit(linksOf('a.example', 4));
    const pace = { dueAt: FAR_FUTURE + 0.5, delayMs: 7_000.5, crawlDelayMs: 1_500, responseMs: 12.25, failures: 2 };
    await visitSite(scene, 'a.example');
    await visitSite(scene, 'a.example', () => ({ fate: 'retry', pace }));
    await scene.store.admit([link('a.example/first', { first: true, depth: 2, via: 'https://v.example/ü' })]);
    await scene.stop();
    const found = await foundIn(await scene.look(), ['sites']);
    const site: FoundSite = {
      kind: 'site',
      site: 'a.example',
      state: 'waiting',
      shard: shardOf('a.example'),
      waiting: 4,
      pages: 1,
      pace,
      leased: null,
    };
    assert.deepEqual(wholeOf(found).sites, {
      'a.example': {
        found: site,
        queue: [
          { link: link('a.example/first', { depth: 2, via: 'https://v.example/ü' }), tries: 0 },
          { link: link('a.example/3'), tries: 0 },
          { link: link('a.example/4'), tries: 0 },
          { link: link('a.example/2'), tries: 1 },
        ],
      },
    });
  });

  it('a link under visit is met with its site, and is not in its queue', async ({ store, stop, look }) => {
    await store.admit([link('a.example/1', { depth: 2, hops: 1, fallback: true, via: 'https://v.example/' })]);
    await store.admit([link('a.example/2')]);
    const visit = await claimOne(store);
    await stop();
    const [site, ...queue] = await foundIn(await look(), ['sites']);
    assert.ok(site?.kind === 'site');
    assert.deepEqual(
      [site.state, site.waiting, site.pages, site.leased],
      ['leased', 1, 0, { link: visit.link, tries: 1 }],
    );
    assert.deepEqual(pathsOf(queue), ['/2']);
  });

  it('sites are met in every state, each with its own links', async (scene) => {
    await makeEverything(scene);
    await scene.store.admit([...linksOf('leased.example', 2), link('new.example/1')]);
    await scene.store.claim(ask({ shards: [shardOf('leased.example')] }));
    await scene.stop();
    const { sites } = wholeOf(await foundIn(await scene.look(), ['sites']));
    const states = Object.entries(sites).map(([site, { found, queue }]) => {
      const { state, waiting } = found as FoundSite;
      assert.equal(waiting, queue.length, site);
      assert.ok(
        queue.every(({ link: { site: of } }) => of === site),
        site,
      );
      return [site, state, waiting];
    });
    assert.deepEqual(states, [
      ['full.example', 'waiting', 2],
      ['held.example', 'held', 1],
      ['leased.example', 'leased', 1],
      ['long.example', 'waiting', LONG + 1],
      ['new.example', 'waiting', 1],
      ['pages.example', 'idle', 0],
      ['parked-empty.example', 'parked', 0],
      ['parked.example', 'parked', 2],
      ['read.example', 'waiting', 5],
      ['strange.example', 'waiting', 6],
    ]);
  });

  it('links come with all that they were admitted with', async ({ store, stop, look }) => {
    const links = [
      link('a.example/caf%C3%A9?q="x"', { hops: 5, via: 'https://v.example/"\'\\{}' }),
      link('a.example/ü/🕸', { fallback: true, depth: 1_000 }),
      link('a.example/named.xml', { sitemap: 'named' }),
      link('a.example/listed.xml', { sitemap: 'listed' }),
      link('a.example/', { url: 'http://www.a.example:8080/' as CanonicalUrl }),
    ];
    await store.admit(links);
    await stop();
    const { sites } = wholeOf(await foundIn(await look(), ['sites']));
    assert.deepEqual(
      sites['a.example']?.queue.map((waiting) => waiting.link),
      links,
    );
  });

  it('a long queue is met whole, in pieces, also where its first links were taken', async (scene) => {
    const far = linksFromAfar('a.example', LONG);
    await scene.store.admit([...far, ...linksOf('b.example', 3)]);
    for (let i = 0; i < 130; i++) await visitSite(scene, 'a.example');
    await scene.stop();
    const found = (await foundIn(await scene.look(), ['sites'])).filter((one) => one.kind !== 'site');
    const pieces = found.filter((one) => one.kind === 'queue' && one.site === 'a.example');
    assert.ok(pieces.length > 1);
    for (const one of found) assert.ok(one.kind === 'queue' && one.links.length <= LINKS_IN_PIECE_MAX);
    assert.deepEqual(
      pathsOf(pieces),
      far.slice(130).map(({ url }) => new URL(url).pathname),
    );
  });

  it('sites that lie together are met in the order they were found', async ({ store, stop, look }) => {
    const names = sitesInShard(9, 12).toReversed();
    for (const name of names) await store.admit(linksOf(name, 1));
    await stop();
    const found = await foundIn(await look(), ['sites']);
    assert.deepEqual(
      found.flatMap((one) => (one.kind === 'site' ? [one.site] : [])),
      names,
    );
  });

  it('of more sites than are read at once each is met once', async ({ store, stop, look }) => {
    const links = Array.from({ length: 4_600 }, (_, i) => link(`s${i % 2_300}.example/${i}`));
    await store.admit(links);
    await stop();
    const { sites } = wholeOf(await foundIn(await look(), ['sites']));
    assert.equal(Object.keys(sites).length, 2_300);
    const urls = Object.values(sites).flatMap(({ queue }) => queue.map((waiting) => waiting.link.url));
    assert.equal(urls.length, links.length);
    assert.deepEqual(new Set(urls), new Set(links.map(({ url }) => url)));
  });
};

const rowWalks = (it: StoredBehaviour): void => {
  it('pages are met in the order they were settled, as they are read, in pieces', async ({ store, stop, look }) => {
    await store.admit(Array.from({ length: 530 }, (_, i) => link(`s${i}.example/`)));
    const { visits } = await store.claim(ask());
    await store.settle(
      visits.map((visit, i) => settlementOf(visit, { records: i % 2 === 0 ? recordsOf(visit.site) : null })),
    );
    await stop();
    const crawl = await look();
    const found = await foundIn(crawl, ['pages']);
    assert.ok(found.length > 1);
    for (const one of found) assert.ok(one.kind === 'pages' && one.pages.length <= PAGES_IN_PIECE_MAX);
    assert.deepEqual(wholeOf(found).pages, await pagesIn(crawl));
    const pages = found.flatMap((one) => (one.kind === 'pages' ? one.pages : []));
    assert.ok(pages.filter(isArchived).every(({ mine }) => mine));
    for (const { row, url } of [pages[0]!, pages[299]!]) {
      const before = await crawl.pagesAfter(row - 1, { limit: 1 });
      assert.deepEqual(
        [before.pages[0]?.url, before.row],
        [url, row],
        'rows have the numbers that readers go on after',
      );
    }
  });

  it('the fingerprints of all known URLs are met, whatever became of their links', async (scene) => {
    await makeEverything(scene);
    await scene.store.admit(linksOf('leased.example', 2));
    await scene.store.claim(ask({ shards: [shardOf('leased.example')] }));
    await scene.stop();
    const { sites, pages, seen } = wholeOf(await foundIn(await scene.look(), ['sites', 'pages', 'seen']));
    const urls = [
      ...Object.values(sites).flatMap(({ found, queue }) => {
        const { leased } = found as FoundSite;
        return [...queue, ...(leased === null || leased === 'unreadable' ? [] : [leased])].map(
          ({ link: { url } }) => url,
        );
      }),
      ...pages.map((page) => (page as { url: string }).url),
    ];
    assert.deepEqual(
      seen,
      urls.map(fingerprint).toSorted((a, b) => (a < b ? -1 : 1)),
    );
    assert.ok(seen.some((print) => print >= 2n ** 63n) && seen.some((print) => print < 2n ** 63n), 'unsigned');
  });

  it('of more fingerprints than are read at once each is met once', async ({ store, stop, look }) => {
    const links = linksOf('a.example', 12_000);
    await store.admit(links);
    await stop();
    const { seen } = wholeOf(await foundIn(await look(), ['seen']));
    assert.deepEqual(
      seen,
      links.map(({ url }) => fingerprint(url)).toSorted((a, b) => (a < b ? -1 : 1)),
    );
  });

  it('the rules of every origin are met, the last that were read', async (scene) => {
    const { store, stop, look } = scene;
    await store.admit([link('a.example/1'), link('a.example/2', { url: 'http://a.example/2' as CanonicalUrl })]);
    await store.admit(Array.from({ length: 300 }, (_, i) => link(`s${i}.example/`)));
    const { visits } = await store.claim(ask());
    const rules = new Map(visits.map(({ link: { url } }) => [new URL(url).origin, robotsOf(new URL(url).origin)]));
    await store.settle(
      visits.map((visit) => settlementOf(visit, { robots: rules.get(new URL(visit.link.url).origin)! })),
    );
    scene.clock.advance(DELAY_MS);
    const plain = robotsOf('http://a.example', { verdict: 'trouble', rules: 'timeout', crawlDelayMs: null });
    await visitSite(scene, 'a.example', () => ({ fate: 'retry', robots: { ...plain, rules: '503' } }));
    await visitSite(scene, 'a.example', () => ({ robots: plain }));
    rules.set(plain.origin, plain);
    await stop();
    assert.deepEqual(
      wholeOf(await foundIn(await look(), ['robots'])).robots,
      [...rules.values()].toSorted((a, b) => (a.origin < b.origin ? -1 : 1)),
    );
  });

  it('the tally has what rows do not tell: marks, notes, what was forgotten, the archive', async (scene) => {
    await makeEverything(scene);
    const crawl = await scene.look();
    await crawl.keepNote('identity', '{"ü":1}\n');
    await crawl.keepNote('seeds.txt', '');
    await scene.stop();
    const expected: FoundTally = {
      ...TALLY,
      forgotten: 3,
      archivedBytes: scene.archive.totalBytes(),
      archive: scene.archive.end(),
      marks: { seeds: 7, other: 2 ** 40 },
      notes: { identity: '{"ü":1}\n', 'seeds.txt': '' },
    };
    assert.ok(expected.archivedBytes > 0);
    assert.deepEqual(await foundIn(await scene.look(), ['tally']), [expected]);
  });
};

/** Which links a sitemap and a robots.txt bring, and how they reach the store. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCrew } from '../src/visit/crew.ts';
import { createRecentlyAdmitted } from '../src/visit/recent.ts';
import { createRouter, type Router } from '../src/visit/router.ts';
import type { Findings } from '../src/model/findings.ts';
import type { AcceptLinks } from '../src/model/hooks.ts';
import type { Link } from '../src/model/link.ts';
import { SITEMAP_ENTRIES_MAX } from '../src/model/sitemap.ts';
import { openMemoryStore } from '../src/store/memory/store.ts';
import { canonicalize, type Address } from '../src/url/canonical.ts';
import { createScope, NO_RULES, type ScopeRules } from '../src/url/scope.ts';
import { link } from './contract/store-scene.ts';
import { createManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';

const OPEN: ScopeRules = NO_RULES;

const routerWith = (accept: AcceptLinks | null = null, rules: Partial<ScopeRules> = {}): Router =>
  createRouter({
    clock: createManualClock(),
    scope: createScope({ ...OPEN, ...rules }),
    recent: createRecentlyAdmitted(),
    accept,
  });

const listing = (...hrefs: string[]): Findings => ({
  title: '',
  language: '',
  charset: '',
  charsetGuessed: false,
  base: 'https://a.example/map.xml',
  hrefs,
  canonical: '',
  noindex: false,
  nofollow: false,
  text: '',
});

const ROBOTS = 'https://a.example/robots.txt';
const named = (...hrefs: string[]) => ({ hrefs, via: ROBOTS, kind: 'named' as const });
const listed = (...hrefs: string[]) => ({ hrefs, via: 'https://a.example/map.xml', kind: 'listed' as const });
const map = (sitemap: 'named' | 'listed', depth = 1): Link => link('a.example/map.xml', { sitemap, depth });
const urlsOf = (links: readonly Link[]): string[] => links.map(({ url }) => url);
const addressOf = (url: string): Address => canonicalize(url) as Address;

test('a sitemap of a robots.txt may be of any site and end as a packed file, and is one step from the page whose visit brought it', async () => {
  const router = routerWith();
  const [first, second] = (await router.sitemaps(
    link('a.example/', { depth: 3 }),
    named('https://b.example/s.xml.gz', '/s.xml'),
  ))!;
  assert.deepEqual(first, {
    url: 'https://b.example/s.xml.gz',
    site: 'b.example',
    depth: 4,
    via: ROBOTS,
    hops: 0,
    fallback: false,
    first: false,
    sitemap: 'named',
  });
  assert.equal(second?.url, 'https://a.example/s.xml');
});

test('sitemaps do not lead further from the seeds, however they lead to each other', async () => {
  const router = routerWith();
  assert.equal((await router.sitemaps(map('named', 4), named('/s.xml')))![0]?.depth, 4);
  assert.equal((await router.sitemaps(map('named', 4), listed('/t.xml')))![0]?.depth, 4);
  assert.equal((await router.route(map('listed', 4), listing('/page')))![0]?.depth, 4);
});

test('a sitemap lists pages and sitemaps of its own site only; the others are counted', async () => {
  const router = routerWith();
  assert.deepEqual(
    urlsOf((await router.route(map('named'), listing('https://www.a.example/1', 'https://b.example/2')))!),
    ['https://www.a.example/1'],
  );
  assert.deepEqual(
    urlsOf((await router.sitemaps(map('named'), listed('https://a.example/1.xml', 'https://b.example/2.xml')))!),
    ['https://a.example/1.xml'],
  );
  assert.equal(router.refused['not-listable'], 2);
  assert.equal(
    (await router.route(link('a.example/'), listing('https://b.example/2')))!.length,
    1,
    'a page may link to others',
  );
});

test('an index that an index lists is not followed', async () => {
  const router = routerWith();
  assert.deepEqual(
    (await router.sitemaps(map('listed'), listed('https://a.example/1.xml', 'https://a.example/2.xml')))!,
    [],
  );
  assert.equal(router.refused['not-listable'], 2);
});

test('a sitemap that has moved is still one, wherever it went', async () => {
  const moved = routerWith().redirect(map('listed'), addressOf('https://b.example/new.xml.gz'));
  assert.deepEqual([moved?.sitemap, moved?.hops, moved?.first], ['listed', 1, true]);
  assert.equal(
    routerWith().redirect(link('a.example/'), addressOf('https://b.example/new.xml.gz')),
    null,
    'a page is not',
  );
});

test('the rest of the scope holds for sitemaps and for what they list', async () => {
  const router = routerWith(null, { depthMax: 1 });
  assert.deepEqual((await router.sitemaps(link('a.example/', { depth: 1 }), named('/s.xml')))!, []);
  assert.deepEqual((await router.route(map('named'), listing('/photo.jpg', '/a/a/a/a/a/a')))!, []);
  assert.deepEqual(router.refused, { 'too-deep': 1, 'not-text': 1, trap: 1 });
});

test('a module of the user is asked about the pages that a sitemap lists, not about the sitemaps', async () => {
  const asked: string[] = [];
  const router = routerWith((links) => links.map(({ url }) => (asked.push(url), 'hook')));
  assert.equal((await router.sitemaps(link('a.example/'), named('/s.xml')))!.length, 1);
  assert.ok(router.redirect(map('named'), addressOf('https://a.example/t.xml')));
  assert.deepEqual((await router.route(map('named'), listing('/page')))!, []);
  assert.deepEqual(asked, ['https://a.example/page']);
});

test('what a large sitemap lists goes to the store in parts of bounded size, in order', async () => {
  const clock = createManualClock();
  const store = openMemoryStore({ clock, archive: openMemoryArchive() });
  const sizes: number[] = [];
  const { parts } = createCrew({
    clock,
    siteWaitingMax: null,
    scope: createScope(OPEN),
    store: { ...store, admit: (links, max) => (sizes.push(links.length), store.admit(links, max)) },
    rules: {
      pace: { delayMs: 0, troubleDelayMs: 0, failuresMax: 1 },
      productToken: 'gossamer',
      bodyBytesMax: 1,
      wantsBody: () => true,
      scopeName: 'test',
      sitemaps: true,
    },
    fetch: never,
    forget: never,
    parse: never,
    readRobots: never,
  });
  const links = Array.from({ length: SITEMAP_ENTRIES_MAX }, (_, n) => link(`a.example/${n}`));
  await parts.admit(links);
  assert.ok(Math.max(...sizes) <= 5_000, `${Math.max(...sizes)} links at a time`);
  assert.deepEqual(
    store.state.sites.get('a.example')?.queue.map((waiting) => waiting.link.url),
    urlsOf(links),
  );
});

const never = (): never => {
  throw new Error('this is not used here');
};

/** What rules per site change in visits: the delay, sites of one's own, and robots.txt. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConnectTo } from '../src/fetch/connect-to.ts';
import { createClock } from '../src/lib/clock.ts';
import type { CanonicalUrl } from '../src/model/link.ts';
import type { RequestContext } from '../src/model/request.ts';
import type { Settlement } from '../src/model/settlement.ts';
import type { SiteRule } from '../src/model/site-rules.ts';
import { decodeText } from '../src/parse/page.ts';
import { parseRobots } from '../src/politeness/robots.ts';
import { createMemoryState, type MemoryState } from '../src/store/memory/state.ts';
import { openMemoryStore } from '../src/store/memory/store.ts';
import { createScope, NO_RULES } from '../src/url/scope.ts';
import { siteOf } from '../src/url/site.ts';
import { compileSiteRules } from '../src/url/site-rules.ts';
import { createCrew } from '../src/visit/crew.ts';
import { visit } from '../src/visit/visit.ts';
import { ask, link } from './contract/store-scene.ts';
import { onLoopback, type Place } from './support/loopback.ts';
import { openMemoryArchive } from './support/memory-archive.ts';

const CRAWL_DELAY_MS = 5_000;
const TROUBLE_DELAY_MS = 70_000;

interface Scene {
  readonly state: MemoryState;
  readonly now: () => number;
  /** Admits the link, claims it whatever its site's clock says, and visits it. */
  readonly visit: (url: string) => Promise<Settlement>;
  /** Claims what is due and dies of it. */
  readonly die: () => Promise<void>;
  readonly requests: () => string[];
  readonly contexts: RequestContext[];
}

interface Site {
  readonly rules: readonly SiteRule[];
  readonly delayMs?: number;
  readonly robots?: string;
  readonly status?: (path: string) => string;
}

const withSite = (site: Site, story: (scene: Scene) => Promise<void>): Promise<void> =>
  onLoopback(async (place: Place) => {
    const { delayMs = CRAWL_DELAY_MS, robots = '', status = () => '200 OK' } = site;
    const { heads, port } = await place.serve((socket, head) => {
      const path = head.split(' ')[1]!;
      const body = path === '/robots.txt' ? robots : 'a page';
      socket.write(
        `HTTP/1.1 ${status(path)}\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });
    const clock = createClock();
    const fetcher = place.fetcher({ clock, connectTo: [readConnectTo(`*:*:127.0.0.1:${port}`)!] });
    const state = createMemoryState();
    const store = openMemoryStore({ clock, archive: openMemoryArchive(), state });
    const contexts: RequestContext[] = [];
    const { parts } = createCrew({
      clock,
      store,
      siteWaitingMax: null,
      scope: createScope(NO_RULES),
      rules: {
        pace: { delayMs, troubleDelayMs: TROUBLE_DELAY_MS, failuresMax: 9 },
        productToken: 'gossamer',
        bodyBytesMax: 1_000,
        wantsBody: () => true,
        scopeName: 'test',
        sitemaps: false,
        sites: compileSiteRules(site.rules),
      },
      fetch: (request, signal) => (contexts.push(request.context), fetcher.fetch(request, signal)),
      forget: fetcher.forget,
      parse: async () => ({
        ...{ kind: 'parsed', records: null, findings: null, digest: '', bodyBytes: 0, cut: false },
        ...{ extracted: '', troubles: [] },
      }),
      readRobots: async ({ headers, body }) => parseRobots(decodeText(headers, body), 'gossamer'),
    });
    const claimed = async () => {
      for (const one of state.sites.values()) one.pace = { ...one.pace, dueAt: 0 };
      return (await store.claim(ask({ delayMs }))).visits[0]!;
    };
    await story({
      state,
      now: clock.now,
      contexts,
      visit: async (url) => {
        const { host } = new URL(url);
        await store.admit([link(url.slice(7), { url: url as CanonicalUrl, site: siteOf(host), first: true })]);
        return visit(parts, await claimed(), new AbortController().signal);
      },
      die: async () => {
        await claimed();
        await store.steer([{ kind: 'free', holder: null, counted: true }]);
      },
      requests: () => heads.map((head) => head.split(' ')[1]!),
    });
    await store.close();
  });

const SLOW: SiteRule = { name: 'slow.example', delayMs: 60_000 };
const QUICK: SiteRule = { name: 'quick.example', delayMs: 1_000 };

test('a rule sets the delay of its site instead of that of the crawl, and of no other', () =>
  withSite({ rules: [SLOW, QUICK] }, async ({ visit, contexts }) => {
    assert.equal((await visit('http://www.quick.example/1')).pace.delayMs, 1_000);
    assert.equal((await visit('http://plain.example/1')).pace.delayMs, CRAWL_DELAY_MS);
    assert.deepEqual(contexts.at(0)!.rule, { delayMs: 1_000, own: false, robotsIgnored: false });
    assert.equal(contexts.at(0)!.delayMs, 1_000);
    assert.equal(contexts.at(-1)!.rule, undefined);
  }));

test('a longer delay is stored before the first request, so that it holds even if the process dies in that visit', () =>
  withSite({ rules: [SLOW] }, async ({ visit, die, requests, state, now }) => {
    const first = await visit('http://slow.example/1');
    assert.deepEqual([first.fate, first.pace.delayMs, requests()], ['returned', 60_000, []]);
    assert.ok(first.pace.dueAt <= now(), 'a site that was never visited does not wait');
    const before = now();
    await die();
    const { pace } = state.sites.get('slow.example')!;
    assert.equal(pace.delayMs, 60_000);
    assert.ok(pace.dueAt >= before + 60_000);
    const second = await visit('http://slow.example/2');
    assert.deepEqual([second.fate, second.pace.delayMs], ['settled', 60_000]);
    assert.deepEqual(requests(), ['/robots.txt', '/2']);
  }));

test('where a rule makes the delay longer later on, the site waits that long from its last visit', () =>
  withSite({ rules: [SLOW] }, async ({ visit, state }) => {
    await visit('http://slow.example/1');
    const site = state.sites.get('slow.example')!;
    site.pace = { dueAt: 0, delayMs: 5_000, crawlDelayMs: 0, responseMs: 7, failures: 0 };
    const raised = await visit('http://slow.example/2');
    assert.deepEqual([raised.fate, raised.pace.delayMs, raised.pace.dueAt], ['returned', 60_000, 55_000]);
  }));

test('where the delay of the crawl became longer, the site waits that long from its last visit; a shorter one waits for none', () =>
  withSite({ rules: [] }, async ({ visit, state }) => {
    await visit('http://plain.example/1');
    const site = state.sites.get('plain.example')!;
    site.pace = { dueAt: 0, delayMs: CRAWL_DELAY_MS - 1_000, crawlDelayMs: 0, responseMs: 7, failures: 0 };
    const raised = await visit('http://plain.example/2');
    assert.deepEqual([raised.fate, raised.pace.delayMs, raised.pace.dueAt], ['returned', CRAWL_DELAY_MS, 1_000]);
    site.pace = { dueAt: 0, delayMs: CRAWL_DELAY_MS + 1_000, crawlDelayMs: 0, responseMs: 7, failures: 0 };
    assert.equal((await visit('http://plain.example/2')).fate, 'settled');
  }));

test('a Crawl-delay and the speed of a site lengthen the delay of a rule', () =>
  withSite({ rules: [QUICK], robots: 'User-agent: *\nCrawl-delay: 9' }, async ({ visit }) => {
    assert.equal((await visit('http://quick.example/1')).pace.delayMs, 9_000);
  }));

const OWN: SiteRule = { name: 'own.example', own: true, delayMs: 0 };
const SLOWING = 'User-agent: *\nDisallow: /no\nCrawl-delay: 9';

test('the delay of a site of your own is the configured one alone: no Crawl-delay and no response time lengthens it', () =>
  withSite({ rules: [OWN], robots: SLOWING }, async ({ visit, contexts, requests }) => {
    const first = await visit('http://own.example/1');
    assert.deepEqual([first.fate, first.pace.delayMs], ['settled', 0], 'robots.txt and its page are one visit');
    assert.ok(first.pace.responseMs > 0);
    const second = await visit('http://own.example/2');
    assert.equal(second.pace.delayMs, 0);
    assert.deepEqual(contexts.at(-1), { ...contexts.at(-1), delayMs: 0, restMs: 0 });
    assert.deepEqual(contexts.at(-1)!.rule, { delayMs: 0, own: true, robotsIgnored: false });
    assert.equal((await visit('http://own.example/no')).page?.outcome, 'robots-denied', 'its robots.txt is obeyed');
    assert.deepEqual(requests(), ['/robots.txt', '/1', '/2']);
  }));

test('a delay of a site of your own that is not 0 holds as it is', () =>
  withSite({ rules: [{ ...OWN, delayMs: 70_000 }], robots: SLOWING }, async ({ visit }) => {
    await visit('http://own.example/1');
    assert.equal((await visit('http://own.example/2')).pace.delayMs, 70_000);
  }));

test('with robots: ignore no robots.txt is asked for, and when it is obeyed again it is asked for first', () =>
  withSite({ rules: [{ ...OWN, robots: 'ignore' }], robots: SLOWING }, async ({ visit, requests, contexts, state }) => {
    assert.equal((await visit('http://own.example/no')).page?.outcome, 'fetched');
    assert.deepEqual(requests(), ['/no']);
    assert.deepEqual([contexts[0]!.rules, contexts[0]!.rule!.robotsIgnored], [null, true]);
    assert.equal(state.robots.size, 0, 'nothing is known of its rules');
  }));

for (const status of ['503 Busy', '429 Slow Down'])
  test(`a site of your own that answers ${status} is left alone as any other`, () =>
    withSite({ rules: [{ ...OWN, robots: 'ignore' }], status: () => status }, async ({ visit, now, state }) => {
      const before = now();
      const { fate, pace } = await visit('http://own.example/1');
      assert.deepEqual([fate, pace.failures], ['retry', 1]);
      assert.ok(pace.dueAt >= before + TROUBLE_DELAY_MS);
      const [record] = state.robots.values();
      assert.ok(record && record.expiresAt <= now(), 'what is kept of it allows nothing later');
    }));

test('an origin of your own that was in trouble is well again when a page answers, without a robots.txt', () =>
  withSite({ rules: [{ ...OWN, robots: 'ignore' }] }, async ({ visit, state, now }) => {
    const origin = 'http://own.example';
    const trouble = {
      origin,
      fetchedAt: 0,
      expiresAt: 1,
      verdict: 'trouble',
      rules: 'refused',
      crawlDelayMs: null,
    } as const;
    state.robots.set(origin, { ...trouble, failures: 2 });
    assert.equal((await visit('http://own.example/1')).page?.outcome, 'fetched');
    const { verdict, failures, expiresAt } = state.robots.get(origin)!;
    assert.deepEqual([verdict, failures], ['all', 0]);
    assert.ok(expiresAt <= now());
  }));

/** Long robots rules in visits: from the response, from the cache of a fetch thread, and from the store. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../src/contract/store.ts';
import { readConnectTo } from '../src/fetch/connect-to.ts';
import { createClock } from '../src/lib/clock.ts';
import type { CanonicalUrl } from '../src/model/link.ts';
import { RULES_CARRIED_MAX } from '../src/model/long-rules.ts';
import type { Settlement } from '../src/model/settlement.ts';
import type { Visit } from '../src/model/visit.ts';
import { decodeText } from '../src/parse/page.ts';
import { parseRobots } from '../src/politeness/robots.ts';
import { createMemoryState, type MemoryState } from '../src/store/memory/state.ts';
import { openMemoryStore } from '../src/store/memory/store.ts';
import { createScope, NO_RULES } from '../src/url/scope.ts';
import { createCrew } from '../src/visit/crew.ts';
import { createRulesCache, READS_MAX } from '../src/visit/rules-cache.ts';
import { visit } from '../src/visit/visit.ts';
import { ask, link } from './contract/store-scene.ts';
import { onLoopback, type Place } from './support/loopback.ts';
import { openMemoryArchive } from './support/memory-archive.ts';

/** 300 KiB that a large shop might have, and one rule that the visits are about. */
const ROBOTS = `User-agent: *\n${Array.from({ length: 10_000 }, (_, i) => `Disallow: /products/${String(i).padStart(10, '0')}`).join('\n')}\nDisallow: /no`;

interface Visited {
  readonly outcomes: readonly (string | null)[];
  readonly settlements: readonly Settlement[];
  /** How often the store was asked for the text of rules. */
  readonly reads: number;
}

/** A process with one fetch thread: opens the crawl, visits what waits, and ends. */
type Run = (paths: readonly string[], state: MemoryState) => Promise<Visited>;

const withSite = (story: (run: Run, requests: () => string[]) => Promise<void>): Promise<void> =>
  onLoopback(async (place: Place) => {
    const { heads, port } = await place.serve((socket, head) => {
      const path = head.split(' ')[1]!;
      const body = path === '/robots.txt' ? ROBOTS : 'a page';
      const status = path.startsWith('/fails') ? '500 Oops' : '200 OK';
      socket.write(`HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
    const fetcher = place.fetcher({ connectTo: [readConnectTo(`*:*:127.0.0.1:${port}`)!] });
    const clock = createClock();
    const run: Run = async (paths, state) => {
      const opened = openMemoryStore({ clock, archive: openMemoryArchive(), state });
      let reads = 0;
      const settlements: Settlement[] = [];
      const store: Store = {
        ...opened,
        rules: (...asked) => (reads++, opened.rules(...asked)),
        settle: (some) => (settlements.push(...some), opened.settle(some)),
      };
      const { parts } = createCrew({
        clock,
        store,
        siteWaitingMax: null,
        scope: createScope(NO_RULES),
        rules: {
          pace: { delayMs: 0, troubleDelayMs: 0, failuresMax: 9 },
          productToken: 'gossamer',
          bodyBytesMax: 1_000,
          wantsBody: () => true,
          scopeName: 'test',
          sitemaps: false,
        },
        fetch: fetcher.fetch.bind(fetcher),
        forget: fetcher.forget,
        parse: async () => ({
          ...{ kind: 'parsed', records: null, findings: null, digest: '', bodyBytes: 0, cut: false },
          ...{ extracted: '', troubles: [] },
        }),
        readRobots: async ({ headers, body }) => parseRobots(decodeText(headers, body), 'gossamer'),
      });
      for (const path of paths) {
        await store.admit([link(`a.example${path}`, { url: `http://a.example${path}` as CanonicalUrl, first: true })]);
        await visit(parts, await nextOf(store), new AbortController().signal);
      }
      await store.close();
      return { outcomes: settlements.map(({ page }) => page?.outcome ?? null), settlements, reads };
    };
    await story(run, () => heads.map((head) => head.split(' ')[1]!));
  });

/** The one visit that is due, as soon as it is. */
const nextOf = async (store: Store): Promise<Visit> => {
  for (;;) {
    const [visit] = (await store.claim(ask({ delayMs: 0 }))).visits;
    if (visit) return visit;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
};

const asked = (requests: readonly string[]): number => requests.filter((path) => path === '/robots.txt').length;

test('pages of an origin with 300 KiB of rules are judged by them: as they come, from the cache, and after a restart from the store', () =>
  withSite(async (run, requests) => {
    const state = createMemoryState();
    const first = await run(['/1', '/no/1', '/2', '/products/0000000077'], state);
    assert.deepEqual(first.outcomes, ['fetched', 'robots-denied', 'fetched', 'robots-denied']);
    assert.equal(first.reads, 0, 'what was just fetched is at hand');
    const second = await run(['/3', '/no/2', '/products/0000000078'], state);
    assert.deepEqual(second.outcomes, ['fetched', 'robots-denied', 'robots-denied']);
    assert.equal(second.reads, 1);
    assert.deepEqual(requests(), ['/robots.txt', '/1', '/2', '/3']);
  }));

test('where the store has lost the text of rules, robots.txt is fetched again before anything else', () =>
  withSite(async (run, requests) => {
    const state = createMemoryState();
    await run(['/1'], state);
    state.rules.clear();
    const { outcomes } = await run(['/no', '/2'], state);
    assert.deepEqual(outcomes, ['robots-denied', 'fetched']);
    assert.deepEqual(requests(), ['/robots.txt', '/1', '/robots.txt', '/2']);
    assert.equal(state.rules.size, 1, 'and kept again');
  }));

test('rules that are new to the store reach it though the page of their visit fails; after that only their name travels', () =>
  withSite(async (run, requests) => {
    const state = createMemoryState();
    const { settlements } = await run(['/fails/1', '/fails/2'], state);
    const [first, ...later] = settlements.map(({ robots }) => robots!);
    assert.ok(typeof first!.rules === 'string' && first!.rules.length > RULES_CARRIED_MAX);
    assert.equal(first!.failures, 1);
    assert.ok(later.length > 0);
    for (const { rules } of later) assert.equal(typeof rules, 'object');
    assert.deepEqual([...state.rules.values()], [first!.rules]);
    assert.deepEqual((await run(['/no'], state)).outcomes, ['robots-denied']);
    assert.equal(asked(requests()), 1);
  }));

test('the cache keeps what was used last, up to so many characters', async () => {
  const reads: string[] = [];
  const cache = createRulesCache(async (digest) => (reads.push(digest), digest.repeat(10)), 30);
  const use = async (...digests: string[]): Promise<void> => {
    for (const digest of digests) assert.equal(await cache.text(digest, 'a.example'), digest.repeat(10));
  };
  await use('a', 'b', 'c', 'a');
  assert.deepEqual(reads, ['a', 'b', 'c']);
  cache.put({ digest: 'd', text: 'dddddddddd' });
  await use('d', 'a', 'c');
  assert.equal(reads.length, 3, 'the one used longest ago is gone, and no other');
  await use('b');
  assert.deepEqual(reads, ['a', 'b', 'c', 'b']);
  cache.put({ digest: 'huge', text: 'x'.repeat(31) });
  await use('b');
  assert.equal(reads.length, 5, 'one that is larger than the cache is not kept');
});

test('visits that need the same text wait for one read, few texts are on their way at once, and a failure is not remembered', async () => {
  const underWay: (() => void)[] = [];
  const reads: string[] = [];
  const cache = createRulesCache(async (digest) => {
    reads.push(digest);
    await new Promise<void>((resolve) => underWay.push(resolve));
    if (digest === 'lost') return null;
    if (digest === 'broken') throw new Error('the store is gone');
    return digest;
  });
  const names = ['lost', 'broken', ...Array.from({ length: 20 }, (_, i) => `rules ${i}`)];
  const visits = [...names, ...names].map((name) =>
    cache.text(name, 'a.example').catch((error: Error) => error.message),
  );
  for (let done = 0; done < names.length; done++) {
    await new Promise(setImmediate);
    assert.equal(underWay.length, Math.min(READS_MAX, names.length - done));
    underWay.shift()!();
  }
  const texts = await Promise.all(visits);
  assert.deepEqual(texts.slice(0, names.length), [null, 'the store is gone', ...names.slice(2)]);
  assert.deepEqual(texts.slice(names.length), texts.slice(0, names.length));
  assert.deepEqual(reads, names);
  const again = ['lost', 'broken'].map((name) => cache.text(name, 'a.example').catch(() => 'again'));
  await new Promise(setImmediate);
  for (const resolve of underWay) resolve();
  assert.deepEqual(await Promise.all(again), [null, 'again']);
});

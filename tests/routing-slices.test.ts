/** A page or sitemap with very many links, or with slow ones, lets the other visits of its thread go on. */

import assert from 'node:assert/strict';
import { parseRobots } from '../src/politeness/robots.ts';
import { test } from 'node:test';
import type { Store } from '../src/contract/store.ts';
import type { Answered } from '../src/model/exchange.ts';
import type { AcceptLinks } from '../src/model/hooks.ts';
import type { Link } from '../src/model/link.ts';
import type { Settlement } from '../src/model/settlement.ts';
import { SITEMAP_ENTRIES_MAX } from '../src/model/sitemap.ts';
import { openMemoryStore } from '../src/store/memory/store.ts';
import { createScope, NO_RULES } from '../src/url/scope.ts';
import { ADMITTED_MAX, createCrew } from '../src/visit/crew.ts';
import { visit } from '../src/visit/visit.ts';
import { ask, link } from './contract/store-scene.ts';
import { createManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';

/** What one turn of the event loop may take, in links and in time. */
const LINKS_A_TURN = 1_000;
const TURN_MS = 20;

interface Listing {
  readonly hrefs: readonly string[];
  /** How much time passes on the clock while one link is judged. */
  readonly linkMs: number;
  readonly accept?: AcceptLinks;
  readonly onTurn?: (turns: number) => void;
  readonly stop?: AbortSignal;
}

/** Visits sitemaps that list these links, all at once, and watches what happens between two turns of the loop. */
const visitSitemaps = async (listings: readonly Listing[]) => {
  const manual = createManualClock();
  const seen = { turns: 0, longestMs: 0, linksMax: 0, admits: [] as number[] };
  let since = manual.now();
  let judged = 0;
  const endTurn = (): void => {
    seen.longestMs = Math.max(seen.longestMs, manual.now() - since);
    seen.linksMax = Math.max(seen.linksMax, judged);
    since = manual.now();
    judged = 0;
  };
  const clock = {
    now: manual.now,
    sleep: async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      endTurn();
      seen.turns++;
      for (const { onTurn } of listings) onTurn?.(seen.turns);
    },
  };
  const store: Store = openMemoryStore({ clock, archive: openMemoryArchive() });
  const open = createScope(NO_RULES);
  const crew = createCrew({
    clock,
    store: {
      ...store,
      admit: (links, max) => (seen.admits.push(links.length), store.admit(links, max)),
    },
    siteWaitingMax: null,
    scope: {
      judge: (address, site, depth) => {
        if (address.path !== '/map.xml') {
          judged++;
          manual.advance(listings[0]!.linkMs);
        }
        return open.judge(address, site, depth);
      },
    },
    accept: listings[0]!.accept ?? null,
    rules: {
      pace: { delayMs: 0, troubleDelayMs: 0, failuresMax: 1 },
      productToken: 'gossamer',
      bodyBytesMax: 1,
      wantsBody: () => true,
      scopeName: 'test',
      sitemaps: true,
    },
    fetch: async ({ url }) => answerOf(url, manual.now()),
    forget: () => {},
    parse: async ({ page }) => ({
      kind: 'parsed',
      records: null,
      findings: page && {
        ...NO_FINDINGS,
        base: page.url,
        hrefs: listings[Number(/\d+/.exec(page.url)?.[0] ?? 0)]!.hrefs,
      },
      digest: '',
      bodyBytes: 0,
      cut: false,
      extracted: '',
      troubles: [],
    }),
    readRobots: async () => parseRobots('', 'gossamer'),
  });
  await store.admit(
    listings.map((_, n) => link(`site${n}.example/map.xml`, { sitemap: 'listed', depth: 1 })),
    null,
  );
  const { visits } = await store.claim({ ...ask(), visits: listings.length });
  seen.admits.length = 0;
  const settlements = await Promise.all(
    visits.map((one) => visit(crew.parts, one, listings[0]!.stop ?? new AbortController().signal)),
  );
  endTurn();
  const queues = listings.map((_, n) =>
    (store as ReturnType<typeof openMemoryStore>).state.sites
      .get(`site${n}.example`)!
      .queue.map((waiting) => waiting.link.url as string),
  );
  return { ...seen, settlements: settlements as Settlement[], queues };
};

const NO_FINDINGS = {
  title: '',
  language: '',
  charset: '',
  charsetGuessed: false,
  canonical: '',
  noindex: false,
  nofollow: false,
  text: '',
};

const answerOf = (url: string, at: number): Answered => ({
  kind: 'answered',
  url,
  startedAt: at,
  answeredAt: at,
  endedAt: at,
  address: '',
  requestHead: '',
  head: '',
  status: 200,
  headers: {},
  body: new Uint8Array(),
  truncated: null,
});

const urls = (site: number, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `https://site${site}.example/${n}`);

test('the loop gets a turn after so many links, and none of them is lost or out of order', async () => {
  const all = urls(0, SITEMAP_ENTRIES_MAX);
  const { turns, linksMax, admits, queues } = await visitSitemaps([{ hrefs: all, linkMs: 0 }]);
  assert.equal(linksMax, LINKS_A_TURN);
  assert.equal(turns, SITEMAP_ENTRIES_MAX / LINKS_A_TURN - 1);
  assert.ok(Math.max(...admits) <= ADMITTED_MAX);
  assert.deepEqual(queues, [all]);
});

test('slow links get fewer a turn: those that fit into its time', async () => {
  const all = urls(0, 500);
  const { turns, longestMs, queues } = await visitSitemaps([{ hrefs: all, linkMs: 4 }]);
  assert.equal(longestMs, TURN_MS);
  assert.equal(turns, (500 * 4) / TURN_MS - 1);
  assert.deepEqual(queues, [all]);
});

test('many such sitemaps at once share the turns: one slice of one of them in each, after the first', async () => {
  const lists = Array.from({ length: 10 }, (_, n) => urls(n, 200));
  const { turns, queues } = await visitSitemaps(lists.map((hrefs) => ({ hrefs, linkMs: 1 })));
  assert.equal(turns, (10 * 200) / TURN_MS - 10);
  assert.deepEqual(queues, lists);
});

test('an address that stands in a list twice, far apart, is one link', async () => {
  const all = urls(0, 2 * LINKS_A_TURN);
  const { queues, admits } = await visitSitemaps([{ hrefs: [...all, all[0]!, `${all[1]}#again`], linkMs: 0 }]);
  assert.deepEqual(queues, [all]);
  assert.equal(
    admits.reduce((sum, size) => sum + size, 0),
    all.length,
  );
});

test('a module of the user is asked about so many links a turn', async () => {
  const asked: number[] = [];
  const accept = (links: readonly Link[]) => (asked.push(links.length), links.map(() => null));
  const all = urls(0, 2_500);
  const { queues } = await visitSitemaps([{ hrefs: all, linkMs: 0, accept }]);
  assert.deepEqual(asked, [1_000, 1_000, 500]);
  assert.deepEqual(queues, [all]);
});

test('a crawl that is stopped does not go on to the end of a list: its sitemap waits again, uncounted', async () => {
  const stop = new AbortController();
  const onTurn = (turns: number): void => void (turns === 3 && stop.abort());
  const { turns, settlements, queues, admits } = await visitSitemaps([
    { hrefs: urls(0, 1_000), linkMs: 10, onTurn, stop: stop.signal },
  ]);
  assert.equal(turns, 3);
  assert.deepEqual(
    settlements.map(({ fate, page }) => [fate, page]),
    [['returned', null]],
  );
  assert.deepEqual(admits, []);
  assert.deepEqual(queues, [['https://site0.example/map.xml']]);
});

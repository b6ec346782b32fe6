/** What limits the speed of a crawl: each kind, and which of two counts. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coreTimes, readStat } from '../src/observe/core-times.ts';
import { limitOf, type LimitKind } from '../src/observe/limit.ts';
import { keepSamples, loadOf, type Load, type LoadSample } from '../src/observe/load.ts';

/** Sites are visited as soon as they may be. */
const POLITE: Load = {
  sitesDue: 3,
  sitesKnown: 120,
  next: null,
  visits: 10,
  slots: 100,
  waitingForParser: 0,
  visitsPerSecond: 40,
  responseMs: 80,
  claimMs: 1,
  cpu: { machine: 0.3, crawl: 0.2 },
  busy: { store: 0.1, fetch: 0.2 },
  settings: { concurrency: 100, fetchers: 1, parsers: 2 },
};

/** Everything goes wrong at once; each of these is set right in turn. */
const WORST: Load = {
  ...POLITE,
  sitesDue: 5_000,
  visits: 70,
  slots: 70,
  waitingForParser: 42,
  responseMs: 3_100,
  claimMs: 620,
  cpu: { machine: 0.98, crawl: 0.61 },
  busy: { store: 0.97, fetch: 0.96 },
};

const STEPS: readonly [LimitKind, string, Partial<Load>][] = [
  ['cpu', 'CPU: this machine is busy (98 %; this crawl takes 61 %)', {}],
  ['store', 'store: its thread is busy (97 %)', { cpu: { machine: 0.6, crawl: 0.6 } }],
  ['store', 'store: it takes 620ms to hand out visits', { busy: { store: 0.2, fetch: 0.96 } }],
  ['parsers', 'parsers: 42 pages wait for a parse thread (--parsers 2)', { claimMs: 2 }],
  ['fetchers', 'fetch threads: the busiest is at 96 % (--fetchers 1)', { waitingForParser: 0 }],
  ['network', 'network: requests take 3.1s, and 70 visits wait for theirs', { busy: { store: 0.2, fetch: 0.3 } }],
  ['start', 'start: 70 of 100 slots are open so far', { responseMs: 90 }],
  [
    'slots',
    'slots: 5,000 sites could be visited, and there are 100 slots (--concurrency 100)',
    { visits: 100, slots: 100 },
  ],
  ['politeness', 'politeness: 3 of 120 sites may be visited now', { visits: 10, sitesDue: 3 }],
];

let load = WORST;
for (const [kind, words, change] of STEPS) {
  load = { ...load, ...change };
  const given = load;
  test(`${words} - before anything else that is wrong`, () => assert.deepEqual(limitOf(given), { kind, words }));
}

test('a crawl whose sites rest is limited by politeness, however busy the machine is', () => {
  const next = { name: 'a.example', inMs: 1_200, failures: 0 };
  const busy = { ...POLITE, sitesDue: 0, sitesKnown: 1, next, cpu: { machine: 1, crawl: 1 } };
  assert.deepEqual(limitOf(busy), {
    kind: 'politeness',
    words: 'politeness: 0 of 1 site may be visited now, the next in 1.2s (a.example)',
  });
  assert.match(limitOf({ ...busy, next: { ...next, failures: 2 } })!.words, /\(a\.example after 2 failures\)$/);
});

test('a machine that is busy with other things does not limit a crawl that needs little of it', () => {
  const others = { ...WORST, cpu: { machine: 1, crawl: 0.05 }, claimMs: 1, waitingForParser: 0 };
  assert.equal(limitOf({ ...others, busy: { store: 0.1, fetch: 0.1 } })?.kind, 'network');
  assert.equal(limitOf({ ...others, busy: { store: 0.1, fetch: 0.95 } })?.kind, 'cpu', 'its thread gets no time');
});

test('sites that became due a moment ago are no backlog, in proportion to the speed', () => {
  const slow = { ...POLITE, sitesDue: 30, visitsPerSecond: 10 };
  assert.equal(limitOf(slow)?.kind, 'slots');
  assert.equal(limitOf({ ...slow, visitsPerSecond: 400 })?.kind, 'politeness');
});

test('slots are to blame also where they are free for a moment between two visits', () =>
  assert.equal(
    limitOf({
      ...POLITE,
      sitesDue: 50,
      visits: 0.3,
      slots: 1,
      settings: { concurrency: 1, fetchers: 1, parsers: 2 },
    })?.words,
    'slots: 50 sites could be visited, and there is 1 slot (--concurrency 1)',
  ));

test('with nothing but visits under way, the network is waited for; with nothing at all, nothing', () => {
  const last = { ...POLITE, sitesDue: 0, visits: 2 };
  assert.equal(limitOf(last)?.words, 'network: 2 visits under way, and no other site has links');
  assert.equal(limitOf({ ...last, visits: 0 }), null);
});

test('a name from the web is shown in characters that can be seen', () => {
  const next = { name: 'a\x1b[2J.example', inMs: 2_000, failures: 0 };
  assert.match(limitOf({ ...POLITE, sitesDue: 0, next })!.words, /\(a\\u\{1b\}\[2J\.example\)/);
});

const sample = (atMs: number, grown: number, sitesDue: number): LoadSample => ({
  atMs,
  sitesDue,
  visits: 4,
  slots: 10,
  waitingForParser: 0,
  busy: { store: 0.5, fetch: 0.25 },
  counters: {
    requests: 10 * grown,
    requestSeconds: 2 * grown,
    claims: 5 * grown,
    claimSeconds: 0.1 * grown,
    coreMs: 2_000 * grown,
    coreBusyMs: 1_500 * grown,
    processCpuMs: 0,
  },
});

test('a load is the mean of the last five seconds, and what counters grew by in them', () => {
  const samples = [sample(0, 1, 900), sample(1_000, 2, 10), sample(6_000, 7, 20)].reduce<LoadSample[]>(keepSamples, []);
  assert.deepEqual(
    samples.map(({ atMs }) => atMs),
    [1_000, 6_000],
  );
  const { sitesDue, visitsPerSecond, responseMs, claimMs, cpu } = loadOf(samples, POLITE);
  assert.deepEqual(
    { sitesDue, visitsPerSecond, responseMs, claimMs, machine: cpu.machine },
    {
      sitesDue: 15,
      visitsPerSecond: 10,
      responseMs: 200,
      claimMs: 20,
      machine: 0.75,
    },
  );
});

test('cores are in use but for the time that they are idle or wait for a disk', () => {
  const stat = 'cpu  100 20 30 700 50 5 5 10 7 0\ncpu0 100 20 30 700 50 5 5 10 7 0\nintr 1\n';
  assert.deepEqual(readStat(stat), { coreMs: 9_200, coreBusyMs: 1_700 });
  assert.equal(readStat('nothing of the kind'), null);
  const { coreMs, coreBusyMs } = coreTimes();
  assert.ok(coreBusyMs > 0 && coreBusyMs < coreMs);
});

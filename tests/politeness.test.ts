/** Pace and Retry-After. The robots.txt rules have a file of their own. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pace } from '../src/model/visit.ts';
import {
  CRAWL_DELAY_MAX_MS,
  nextPace,
  RESPONSE_DELAY_MAX_MS,
  RESPONSE_MULTIPLE,
  RETRY_AFTER_MAX_MS,
  TROUBLE_DELAY_MAX_MS,
} from '../src/politeness/pace.ts';
import type { PaceAnswer, PaceEvent, PaceQuestion, PaceSettings } from '../src/politeness/pace.ts';
import { readRetryAfterMs } from '../src/politeness/retry-after.ts';

const SETTINGS: PaceSettings = { delayMs: 5_000, troubleDelayMs: 30_000, failuresMax: 5 };
const FRESH: Pace = { dueAt: 0, delayMs: 5_000, crawlDelayMs: 0, responseMs: 0, failures: 0 };
const AT = 1_000_000;

const ask = (event: PaceEvent, changed: Partial<PaceQuestion> = {}): PaceAnswer =>
  nextPace({ pace: FRESH, event, crawlDelayMs: null, settings: SETTINGS, ...changed });
const answered = (responseMs: number, at = AT): PaceEvent => ({ kind: 'answered', at, responseMs });
const trouble = (retryAfterMs: number | null = null, at = AT): PaceEvent => ({
  kind: 'trouble',
  at,
  responseMs: null,
  retryAfterMs,
});

test('after a response a site is visited again when its delay is over, and not before', () => {
  assert.deepEqual(ask(answered(100)), {
    pace: { dueAt: AT + 5_000, delayMs: 5_000, crawlDelayMs: 0, responseMs: 100, failures: 0 },
    parked: false,
  });
  assert.equal(ask(answered(100, AT + 0.25)).pace.dueAt, AT + 1 + 5_000, 'a fraction of a millisecond is rounded up');
});

test('the delay in force is the longest of the configured one, the Crawl-delay and ten times the response time', () => {
  assert.equal(ask(answered(600)).pace.delayMs, 6_000);
  assert.equal(ask(answered(600), { crawlDelayMs: 7_000 }).pace.delayMs, 7_000);
  assert.equal(ask(answered(800), { crawlDelayMs: 7_000 }).pace.delayMs, 8_000);
  assert.equal(ask(answered(600.01)).pace.delayMs, 6_001);
});

test('a Crawl-delay and a slow answer are honoured up to their ceilings', () => {
  const year = 365 * 86_400_000;
  assert.equal(ask(answered(1), { crawlDelayMs: year }).pace.delayMs, CRAWL_DELAY_MAX_MS);
  assert.equal(CRAWL_DELAY_MAX_MS, 600_000);
  assert.equal(
    ask(answered(1), { crawlDelayMs: year }).pace.crawlDelayMs,
    year,
    'what was asked for is remembered as it was',
  );
  assert.equal(ask(answered(29_000)).pace.delayMs, RESPONSE_DELAY_MAX_MS);
  assert.equal(RESPONSE_DELAY_MAX_MS, 60_000);
  assert.equal(RESPONSE_MULTIPLE, 10);
});

test('with a configured delay of 0 slow responses do not count, but a Crawl-delay does', () => {
  const settings = { ...SETTINGS, delayMs: 0 };
  assert.equal(ask(answered(3_000), { settings }).pace.dueAt, AT);
  assert.equal(ask(answered(3_000), { settings, crawlDelayMs: 2_000 }).pace.dueAt, AT + 2_000);
});

test('the longest Crawl-delay that any origin of the site asked for stays in force', () => {
  const pace = ask(answered(1), { crawlDelayMs: 20_000 }).pace;
  assert.equal(ask(answered(1), { pace, crawlDelayMs: null }).pace.delayMs, 20_000);
  assert.equal(ask(answered(1), { pace, crawlDelayMs: 1_000 }).pace.crawlDelayMs, 20_000);
  assert.equal(ask(trouble(), { pace, crawlDelayMs: 25_000 }).pace.crawlDelayMs, 25_000);
});

test('trouble doubles the wait each time, up to a ceiling, and leaves the regular delay alone', () => {
  const settings = { ...SETTINGS, failuresMax: 1_000_000 };
  let pace = FRESH;
  const waits: number[] = [];
  for (let i = 0; i < 10; i += 1) {
    pace = ask(trouble(), { pace, settings }).pace;
    waits.push(pace.dueAt - AT);
    assert.equal(pace.delayMs, 5_000);
  }
  assert.deepEqual(waits.slice(0, 4), [30_000, 60_000, 120_000, 240_000]);
  assert.equal(waits.at(-1), TROUBLE_DELAY_MAX_MS);
  assert.equal(TROUBLE_DELAY_MAX_MS, 3_600_000);
  const settled = ask(trouble(), {
    pace: { ...FRESH, failures: 5_000 },
    settings: { ...settings, delayMs: 0, troubleDelayMs: 0 },
  });
  assert.equal(settled.pace.dueAt, AT, 'no doubling of nothing, however often');
});

test('the doubling starts from the delay in force when that is longer', () => {
  const pace: Pace = { ...FRESH, crawlDelayMs: 50_000, failures: 1 };
  assert.equal(ask(trouble(), { pace }).pace.dueAt, AT + 100_000);
  const settings = { ...SETTINGS, delayMs: 2 * TROUBLE_DELAY_MAX_MS };
  assert.equal(
    ask(trouble(), { settings }).pace.dueAt,
    AT + 2 * TROUBLE_DELAY_MAX_MS,
    'a ceiling on the doubling is none on the delay',
  );
});

test('trouble keeps the speed of the last answer in mind', () => {
  const pace: Pace = { ...FRESH, responseMs: 5_500 };
  const next = ask(trouble(), { pace }).pace;
  assert.equal(next.responseMs, 5_500);
  assert.equal(next.delayMs, 55_000);
  assert.equal(next.dueAt, AT + 55_000);
});

test('a Retry-After lengthens the wait, never shortens it, and is honoured up to a day', () => {
  assert.equal(ask(trouble(120_000)).pace.dueAt, AT + 120_000);
  assert.equal(ask(trouble(1_000)).pace.dueAt, AT + 30_000);
  assert.equal(ask(trouble(Number.MAX_SAFE_INTEGER)).pace.dueAt, AT + RETRY_AFTER_MAX_MS);
  assert.equal(RETRY_AFTER_MAX_MS, 86_400_000);
});

test('a site is parked when it failed too often in a row, and a response in between forgives', () => {
  let pace = FRESH;
  for (let i = 1; i <= 4; i += 1) {
    const next = ask(trouble(), { pace });
    assert.equal(next.parked, false);
    assert.equal(next.pace.failures, i);
    pace = next.pace;
  }
  assert.deepEqual([ask(trouble(), { pace }).parked, ask(trouble(), { pace }).pace.failures], [true, 5]);
  const forgiven = ask(answered(1), { pace });
  assert.deepEqual([forgiven.parked, forgiven.pace.failures], [false, 0]);
  assert.equal(ask(trouble(), { pace: forgiven.pace }).pace.dueAt, AT + 30_000);
});

test('a visit that sent no request changes nothing', () => {
  const pace: Pace = { dueAt: 77, delayMs: 1, crawlDelayMs: 2, responseMs: 3, failures: 99 };
  assert.deepEqual(ask({ kind: 'no-request' }, { pace, crawlDelayMs: 50_000 }), { pace, parked: false });
});

test('whatever happens, a site waits at least its delay and at most the longest ceiling', () => {
  let state = 42;
  const chance = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  let pace = FRESH;
  let at = AT;
  for (let i = 0; i < 20_000; i += 1) {
    const event =
      chance(3) === 0 ? trouble(chance(2) === 0 ? null : chance(200_000_000), at) : answered(chance(40_000) + 0.5, at);
    const settings = { ...SETTINGS, delayMs: chance(2) * 5_000 };
    const next = ask(event, { pace, settings, crawlDelayMs: chance(20) === 0 ? chance(900_000) : null }).pace;
    const wait = next.dueAt - at;
    assert.ok(Number.isInteger(next.dueAt) && Number.isInteger(next.delayMs), JSON.stringify(next));
    assert.ok(wait >= next.delayMs && next.delayMs >= settings.delayMs, JSON.stringify(next));
    assert.ok(
      wait >= Math.min(next.crawlDelayMs, CRAWL_DELAY_MAX_MS) && wait <= RETRY_AFTER_MAX_MS + 1,
      JSON.stringify(next),
    );
    assert.ok(next.crawlDelayMs >= pace.crawlDelayMs);
    pace = next;
    at = next.dueAt + chance(1_000) / 3;
  }
});

test('Retry-After is read as seconds or as a date in any of its three forms', () => {
  const now = Date.UTC(1994, 10, 6, 8, 49, 7);
  assert.equal(readRetryAfterMs('120', now), 120_000);
  assert.equal(readRetryAfterMs(' 0 ', now), 0);
  assert.equal(readRetryAfterMs('1.5', now), 1_500);
  assert.equal(readRetryAfterMs('30, 60', now), 30_000, 'a repeated field');
  assert.equal(readRetryAfterMs('Sun, 06 Nov 1994 08:49:37 GMT', now), 30_000);
  assert.equal(readRetryAfterMs('Sunday, 06-Nov-94 08:49:37 GMT', now), 30_000);
  assert.equal(readRetryAfterMs('Sun Nov  6 08:49:37 1994', now), 30_000);
  assert.equal(readRetryAfterMs('Sun, 06 Nov 1994 08:49:37 GMT', now + 0.5), 30_000, 'never a moment too early');
  assert.equal(readRetryAfterMs('Sat, 05 Nov 1994 08:49:37 GMT', now), 0, 'a moment that has passed');
});

test('a Retry-After that says nothing is no number', () => {
  for (const value of ['', 'soon', '-5', '1e3', '2026-01-01', 'Sun, nonsense', '12 minutes', 'NaN', 'Infinity']) {
    assert.equal(readRetryAfterMs(value, 0), null, value);
  }
  assert.equal(readRetryAfterMs('9'.repeat(400), 0), Number.MAX_SAFE_INTEGER);
});

test('the asctime form means GMT wherever we are', () => {
  const before = process.env.TZ;
  process.env.TZ = 'Pacific/Kiritimati';
  try {
    assert.equal(readRetryAfterMs('Sun Nov  6 08:49:37 1994', Date.UTC(1994, 10, 6, 8, 49, 7)), 30_000);
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
});

test('a slow answer that tells of trouble counts as a slow answer', () => {
  const slow: PaceEvent = { kind: 'trouble', at: AT, responseMs: 4_000, retryAfterMs: null };
  assert.equal(ask(slow, { settings: { ...SETTINGS, troubleDelayMs: 0 } }).pace.dueAt, AT + 40_000);
});

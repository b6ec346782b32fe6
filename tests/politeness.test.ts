/** Pace and Retry-After. The robots.txt rules have a file of their own. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CarriedRobots } from '../src/model/long-rules.ts';
import type { RobotsRecord } from '../src/model/robots.ts';
import type { Pace } from '../src/model/visit.ts';
import {
  afterPageFailed,
  afterUnreachable,
  TROUBLE_DELAY_MAX_MS,
  type OriginFailure,
} from '../src/politeness/origin.ts';
import {
  CRAWL_DELAY_MAX_MS,
  nextPace,
  RESPONSE_DELAY_MAX_MS,
  RESPONSE_MULTIPLE,
  RETRY_AFTER_MAX_MS,
  FAILED_DELAY_MAX_MS,
} from '../src/politeness/pace.ts';
import type { PaceEvent, PaceQuestion, PaceSettings } from '../src/politeness/pace.ts';
import { readRetryAfterMs } from '../src/politeness/retry-after.ts';

const SETTINGS: PaceSettings = { delayMs: 5_000, troubleDelayMs: 30_000, failuresMax: 5 };
const FRESH: Pace = { dueAt: 0, delayMs: 5_000, crawlDelayMs: 0, responseMs: 0, failures: 0 };
const AT = 1_000_000;

const ask = (event: PaceEvent, changed: Partial<PaceQuestion> = {}): Pace =>
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
    dueAt: AT + 5_000,
    delayMs: 5_000,
    crawlDelayMs: 0,
    responseMs: 100,
    failures: 0,
  });
  assert.equal(ask(answered(100, AT + 0.25)).dueAt, AT + 1 + 5_000, 'a fraction of a millisecond is rounded up');
});

test('the delay in force is the longest of the configured one, the Crawl-delay and ten times the response time', () => {
  assert.equal(ask(answered(600)).delayMs, 6_000);
  assert.equal(ask(answered(600), { crawlDelayMs: 7_000 }).delayMs, 7_000);
  assert.equal(ask(answered(800), { crawlDelayMs: 7_000 }).delayMs, 8_000);
  assert.equal(ask(answered(600.01)).delayMs, 6_001);
});

test('a Crawl-delay and a slow answer are honoured up to their ceilings', () => {
  const year = 365 * 86_400_000;
  assert.equal(ask(answered(1), { crawlDelayMs: year }).delayMs, CRAWL_DELAY_MAX_MS);
  assert.equal(CRAWL_DELAY_MAX_MS, 600_000);
  assert.equal(
    ask(answered(1), { crawlDelayMs: year }).crawlDelayMs,
    year,
    'what was asked for is remembered as it was',
  );
  assert.equal(ask(answered(29_000)).delayMs, RESPONSE_DELAY_MAX_MS);
  assert.equal(RESPONSE_DELAY_MAX_MS, 60_000);
  assert.equal(RESPONSE_MULTIPLE, 10);
});

test('with a configured delay of 0 slow responses do not count, but a Crawl-delay does', () => {
  const settings = { ...SETTINGS, delayMs: 0 };
  assert.equal(ask(answered(3_000), { settings }).dueAt, AT);
  assert.equal(ask(answered(3_000), { settings, crawlDelayMs: 2_000 }).dueAt, AT + 2_000);
});

test('the longest Crawl-delay that any origin of the site asked for stays in force', () => {
  const pace = ask(answered(1), { crawlDelayMs: 20_000 });
  assert.equal(ask(answered(1), { pace, crawlDelayMs: null }).delayMs, 20_000);
  assert.equal(ask(answered(1), { pace, crawlDelayMs: 1_000 }).crawlDelayMs, 20_000);
  assert.equal(ask(trouble(), { pace, crawlDelayMs: 25_000 }).crawlDelayMs, 25_000);
});

test('trouble doubles the wait each time, up to a ceiling, and leaves the regular delay alone', () => {
  const settings = { ...SETTINGS, failuresMax: 1_000_000 };
  let pace = FRESH;
  const waits: number[] = [];
  for (let i = 0; i < 10; i += 1) {
    pace = ask(trouble(), { pace, settings });
    waits.push(pace.dueAt - AT);
    assert.equal(pace.delayMs, 5_000);
  }
  assert.deepEqual(waits.slice(0, 4), [30_000, 60_000, 120_000, 240_000]);
  assert.equal(waits.at(-1), FAILED_DELAY_MAX_MS);
  assert.equal(FAILED_DELAY_MAX_MS, 300_000);
  const settled = ask(trouble(), {
    pace: { ...FRESH, failures: 5_000 },
    settings: { ...settings, delayMs: 0, troubleDelayMs: 0 },
  });
  assert.equal(settled.dueAt, AT, 'no doubling of nothing, however often');
});

test('the doubling starts from the delay in force when that is longer', () => {
  const pace: Pace = { ...FRESH, crawlDelayMs: 50_000, failures: 1 };
  assert.equal(ask(trouble(), { pace }).dueAt, AT + 100_000);
  const settings = { ...SETTINGS, delayMs: 2 * FAILED_DELAY_MAX_MS };
  assert.equal(
    ask(trouble(), { settings }).dueAt,
    AT + 2 * FAILED_DELAY_MAX_MS,
    'a ceiling on the doubling is none on the delay',
  );
});

test('trouble keeps the speed of the last answer in mind', () => {
  const pace: Pace = { ...FRESH, responseMs: 5_500 };
  const next = ask(trouble(), { pace });
  assert.equal(next.responseMs, 5_500);
  assert.equal(next.delayMs, 55_000);
  assert.equal(next.dueAt, AT + 55_000);
});

test('a Retry-After lengthens the wait, never shortens it, and is honoured up to a day', () => {
  assert.equal(ask(trouble(120_000)).dueAt, AT + 120_000);
  assert.equal(ask(trouble(1_000)).dueAt, AT + 30_000);
  assert.equal(ask(trouble(Number.MAX_SAFE_INTEGER)).dueAt, AT + RETRY_AFTER_MAX_MS);
  assert.equal(RETRY_AFTER_MAX_MS, 86_400_000);
});

test('a response in between forgives', () => {
  let pace = FRESH;
  for (let i = 1; i <= 4; i += 1) {
    pace = ask(trouble(), { pace });
    assert.equal(pace.failures, i);
  }
  const forgiven = ask(answered(1), { pace });
  assert.equal(forgiven.failures, 0);
  assert.equal(ask(trouble(), { pace: forgiven }).dueAt, AT + 30_000);
});

const ORIGIN = 'https://old.example.org';
const unreachable = (former: CarriedRobots | null, changes: Partial<OriginFailure> = {}): RobotsRecord =>
  afterUnreachable(
    { origin: ORIGIN, former, at: AT, cause: 'refused', isGone: false, retryAfterMs: null, ...changes },
    SETTINGS,
  );

test('an origin that cannot be reached is asked again after a wait that doubles, and parked when it failed too often', () => {
  let record: RobotsRecord | null = null;
  const waits: number[] = [];
  for (let i = 1; i <= 4; i += 1) {
    record = unreachable(record);
    assert.deepEqual([record.verdict, record.failures, record.rules], ['trouble', i, 'refused']);
    waits.push(record.expiresAt - AT);
  }
  assert.deepEqual(waits, [30_000, 60_000, 120_000, 240_000]);
  record = unreachable(record, { cause: '503' });
  assert.deepEqual([record.verdict, record.failures, record.rules], ['parked', 5, '503']);
});

test('the wait for an origin has a ceiling, and a Retry-After lengthens it', () => {
  const settings = { ...SETTINGS, failuresMax: 1_000 };
  const often = { ...unreachable(null), failures: 90 };
  const of = (retryAfterMs: number | null): RobotsRecord =>
    afterUnreachable(
      { origin: ORIGIN, former: often, at: AT + 0.5, cause: '503', isGone: false, retryAfterMs },
      settings,
    );
  assert.equal(of(null).expiresAt, AT + 1 + TROUBLE_DELAY_MAX_MS);
  assert.equal(of(2 * TROUBLE_DELAY_MAX_MS).expiresAt, AT + 1 + 2 * TROUBLE_DELAY_MAX_MS);
});

test('an origin whose name does not exist is parked at once', () => {
  const record = unreachable(null, { cause: 'no-name', isGone: true });
  assert.deepEqual([record.verdict, record.failures], ['parked', 1]);
});

test('pages that fail are no trouble of their origin until very many in a row did', () => {
  const known: RobotsRecord = { ...unreachable(null), verdict: 'all', rules: '', failures: 0 };
  let record: CarriedRobots = known;
  for (let i = 1; i < 15; i += 1) {
    record = afterPageFailed(record, { at: AT, cause: '500' }, SETTINGS);
    assert.deepEqual([record.verdict, record.failures], ['all', i]);
  }
  assert.deepEqual(unreachable(record).failures, 1, 'failures of pages do not count for the origin');
  record = afterPageFailed(record, { at: AT, cause: '500' }, SETTINGS);
  assert.deepEqual([record.verdict, record.failures, record.rules], ['parked', 15, '500']);
});

test('a visit that sent no request changes nothing', () => {
  const pace: Pace = { dueAt: 77, delayMs: 1, crawlDelayMs: 2, responseMs: 3, failures: 99 };
  assert.deepEqual(ask({ kind: 'no-request' }, { pace, crawlDelayMs: 50_000 }), pace);
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
    const next = ask(event, { pace, settings, crawlDelayMs: chance(20) === 0 ? chance(900_000) : null });
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
  assert.equal(ask(slow, { settings: { ...SETTINGS, troubleDelayMs: 0 } }).dueAt, AT + 40_000);
});

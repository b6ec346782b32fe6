/** Requests leave only while the store of a shared crawl hears this process. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LAPSED_AFTER_MS, SILENT_AFTER_MS } from '../src/model/pulse.ts';
import type { Visit } from '../src/model/visit.ts';
import { startBeating } from '../src/threads/beating.ts';
import { untilDeadline } from '../src/visit/deadline.ts';
import type { FetchPage, PageRequest, VisitParts } from '../src/visit/parts.ts';
import { createSharedPulse, lastBeat, openPulse, watchPulse } from '../src/visit/pulse.ts';
import { createManualClock, type ManualClock } from './support/manual-clock.ts';

/** Time passes, and what it wakes goes on. */
const pass = async (clock: ManualClock, ms: number): Promise<void> => {
  clock.advance(ms);
  await new Promise((resolve) => setImmediate(resolve));
};

const scene = () => {
  const clock = createManualClock();
  const wall = { aheadMs: 0 };
  const shared = createSharedPulse();
  const pulse = openPulse(shared, { monotonic: clock.now, wall: () => clock.now() + wall.aheadMs });
  const heard = (term = 0, entry = 0): void => pulse.sending()({ term, entry });
  return { clock, wall, shared, pulse, heard, watch: watchPulse(pulse, clock) };
};

test('before the first beat is answered no request may leave', () => {
  const { clock, pulse } = scene();
  clock.advance(SILENT_AFTER_MS);
  assert.equal(pulse.mayRequest(0), false);
});

test('a request may leave until two seconds after the last answered beat was sent, not after it was answered', () => {
  const { clock, pulse, shared } = scene();
  const answered = pulse.sending();
  clock.advance(1_500);
  answered({ term: 0, entry: 7 });
  assert.deepEqual([pulse.mayRequest(0), lastBeat(shared).entry], [true, 7]);
  clock.advance(SILENT_AFTER_MS - 1_500);
  assert.equal(pulse.mayRequest(0), false);
});

test('a machine that slept is silent when it wakes, though its monotonic clock stood still', () => {
  const { wall, pulse, heard } = scene();
  heard();
  assert.equal(pulse.mayRequest(0), true);
  wall.aheadMs += 3_600_000;
  assert.deepEqual([pulse.mayRequest(0), pulse.isLapsed(0)], [false, true]);
});

test('a visit of an earlier term sends nothing more, however fresh the beat', () => {
  const { pulse, heard } = scene();
  heard(1);
  assert.deepEqual([pulse.mayRequest(0), pulse.mayRequest(1), pulse.isLapsed(0)], [false, true, true]);
});

test('visits are broken off after ten seconds of silence; those claimed later in the same term are not', () => {
  const { clock, heard, watch } = scene();
  heard();
  const before = watch.lapsed(0);
  clock.advance(LAPSED_AFTER_MS - 1);
  watch.look();
  assert.equal(before.aborted, false);
  clock.advance(1);
  watch.look();
  assert.equal(before.aborted, true);
  heard();
  assert.equal(watch.lapsed(0).aborted, false);
});

test('a new term breaks off all visits of the one before', () => {
  const { heard, watch } = scene();
  heard();
  const before = watch.lapsed(0);
  heard(1);
  watch.look();
  assert.equal(before.aborted, true);
  assert.equal(watch.lapsed(1).aborted, false);
});

const visitOf = (clock: { now(): number }, term: number) =>
  ({ leaseUntil: clock.now() + 240_000, term }) as unknown as Visit;

test('a request of a visit waits while the store is not heard, and leaves when it is', async () => {
  const { clock, heard, watch } = scene();
  const sent: boolean[] = [];
  const fetch = (async (request: PageRequest) => void sent.push(request.maySend!())) as unknown as FetchPage;
  const given = { clock, pulse: watch, fetch } as unknown as VisitParts;
  const { parts, signal, done } = untilDeadline(given, visitOf(clock, 0), new AbortController().signal);
  heard();
  await parts.fetch({} as never, signal);
  assert.deepEqual(sent, [true]);
  clock.advance(SILENT_AFTER_MS);
  const waiting = parts.fetch({} as never, signal);
  for (let i = 0; i < 5; i++) await pass(clock, 100);
  assert.deepEqual(sent, [true], 'it does not leave in silence');
  heard();
  await pass(clock, 100);
  await waiting;
  assert.deepEqual(sent, [true, true]);
  done();
});

test('a request whose connection stands when the store falls silent is not sent', async () => {
  const { clock, heard, watch } = scene();
  let maySend = (): boolean => true;
  const fetch = (async (request: PageRequest) => void (maySend = request.maySend!)) as unknown as FetchPage;
  const given = { clock, pulse: watch, fetch } as unknown as VisitParts;
  const { parts, signal, done } = untilDeadline(given, visitOf(clock, 0), new AbortController().signal);
  heard();
  await parts.fetch({} as never, signal);
  assert.equal(maySend(), true);
  clock.advance(SILENT_AFTER_MS);
  assert.equal(maySend(), false);
  done();
});

test('a visit whose term lapses is stopped, also while it waits to send', async () => {
  const { clock, heard, watch } = scene();
  const fetch = (async (_: PageRequest, stopped: AbortSignal) => stopped.aborted) as unknown as FetchPage;
  const given = { clock, pulse: watch, fetch } as unknown as VisitParts;
  heard();
  const { parts, signal, done } = untilDeadline(given, visitOf(clock, 0), new AbortController().signal);
  clock.advance(SILENT_AFTER_MS);
  const waiting = parts.fetch({} as never, signal);
  heard(1);
  await pass(clock, 100);
  assert.equal(await waiting, true);
  done();
});

test('the store is beaten before anything else happens, and a beat that fails for good is told', async () => {
  const answers: (() => Promise<{ term: number; entry: number }>)[] = [
    async () => ({ term: 0, entry: 3 }),
    async () => {
      throw new Error('full');
    },
  ];
  const { pulse, shared } = scene();
  const failed = Promise.withResolvers<unknown>();
  const stop = new AbortController();
  const beat = (): Promise<{ term: number; entry: number }> => answers.shift()!();
  await startBeating({ beat }, pulse, { stop: stop.signal, onFault: failed.resolve });
  assert.equal(lastBeat(shared).entry, 3);
  assert.match(String(await failed.promise), /full/);
});

/** Changes to a crawl that runs: how they come into the process, and into the visits of a fetch thread. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { readIdentity, writeIdentity } from '../src/folder/folder.ts';
import { newEntry } from '../src/folder/in-force.ts';
import type { Claimed, Store } from '../src/contract/store.ts';
import type { CrawlChange } from '../src/model/crawl-change.ts';
import { completeSettings } from '../src/model/read-settings.ts';
import type { Settlement } from '../src/model/settlement.ts';
import type { Visit } from '../src/model/visit.ts';
import { openLive, type Live, type Standing } from '../src/run/live.ts';
import { createMemoryState, type MemoryState } from '../src/store/memory/state.ts';
import { openMemoryStore } from '../src/store/memory/store.ts';
import { createLiveSettings, heardWith, type Footing, type LiveSettings } from '../src/threads/live-settings.ts';
import type { SettingsNow } from '../src/threads/messages.ts';
import { createManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { until } from './support/until.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-live-'));
after(() => rmSync(home, { recursive: true }));
const settings = completeSettings({ email: 'a@example.org', delayMs: 1_000 }, 2);
const delay = (delayMs: number): CrawlChange => ({ kind: 'settings', who: 'me', settings: { delayMs } });

let dirs = 0;
interface Process {
  readonly live: Live;
  readonly dir: string;
  readonly logged: string[];
  /** The numbers and delays that followed, and whether the change was this process's own. */
  readonly changes: [number: number, delayMs: number, isOurs: boolean][];
}

const storeOn = (state: MemoryState): Store =>
  openMemoryStore({ clock: createManualClock(), archive: openMemoryArchive(), state });

const processOn = async (state: MemoryState, wanted: CrawlChange | null = null): Promise<Process> => {
  const dir = mkdtempSync(join(home, `${++dirs}-`));
  writeIdentity(dir, settings);
  const logged: string[] = [];
  const changes: Process['changes'] = [];
  const onChange = async ({ inForce, settings: now }: Standing, _: Standing, isOurs: boolean): Promise<void> =>
    void changes.push([inForce.number, now.delayMs, isOurs]);
  const log = (level: string, message: string): void => void logged.push(`${level} ${message}`);
  return {
    live: await openLive({ dir, settings, store: storeOn(state), log, onChange }, wanted),
    dir,
    logged,
    changes,
  };
};

test('the first process writes everything, and what a person wants; the next one finds it', async () => {
  const state = createMemoryState();
  const first = await processOn(state, delay(7));
  assert.equal(state.journal.length, 2);
  assert.deepEqual([first.live.now().settings.delayMs, first.live.now().inForce.number], [7, 2]);
  const second = await processOn(state);
  assert.equal(state.journal.length, 2, 'nothing is written twice');
  assert.equal(second.live.now().settings.delayMs, 7);
  assert.deepEqual([readIdentity(second.dir).settings.delayMs, readIdentity(second.dir).journal?.number], [7, 2]);
});

test('what one process writes another one follows, once and in order', async () => {
  const state = createMemoryState();
  const [writer, other] = [await processOn(state), await processOn(state)];
  const { inForce } = await writer.live.write(delay(5));
  assert.deepEqual([inForce.number, writer.changes], [2, [[2, 5, true]]]);
  assert.deepEqual(other.changes, []);
  await other.live.heard(2);
  await other.live.heard(2);
  await writer.live.write({ kind: 'settings', who: 'me', settings: {}, excluded: ['never.example'] });
  const stop = new AbortController();
  const following = other.live.follow(stop.signal);
  await until('it hears of it by itself', () => other.changes.length === 2);
  stop.abort();
  await following;
  assert.deepEqual(other.changes, [
    [2, 5, false],
    [3, 5, false],
  ]);
  assert.equal(readFileSync(join(other.dir, 'exclude.txt'), 'utf8'), 'never.example\n');
  assert.ok(other.live.now().excluded?.has('never.example'));
  assert.match(other.logged.join('\n'), /info change 2 of the crawl, by me: delayMs/);
});

test('a change that cannot be is said and left out, and the crawl goes on', async () => {
  const state = createMemoryState();
  const { live, logged } = await processOn(state);
  const text = JSON.stringify({ kind: 'settings', who: 'x', settings: { exclude: ['('], delayMs: 3 } });
  await storeOn(state).steer([{ kind: 'write', entry: { id: 'bad', text } }]);
  await live.heard(2);
  assert.deepEqual(
    [live.now().settings.exclude, live.now().settings.delayMs, live.now().inForce.number],
    [[], 1_000, 2],
  );
  assert.match(
    logged.join('\n'),
    /error change 2 of the crawl cannot be taken, and what was in force stays: --exclude/,
  );
  await live.write({ kind: 'settings', who: 'me', settings: { exclude: [] } });
  assert.equal(live.now().settings.delayMs, 3, 'the rest of it holds as soon as it can');
});

test('a change that the store forgot in a failover is written again by who knows it', async () => {
  const state = createMemoryState();
  const [writer, other] = [await processOn(state), await processOn(state)];
  await writer.live.write(delay(5));
  await writer.live.write(delay(6));
  const ids = state.journal.map(({ id }) => id);
  state.journal.length = 1;
  await storeOn(state).steer([
    { kind: 'write', entry: newEntry({ kind: 'settings', who: 'other', settings: { maxPages: 9 } }) },
  ]);
  const stop = new AbortController();
  const following = writer.live.follow(stop.signal);
  await until('it is there again', () => state.journal.length === 4);
  await until('and in force', () => writer.live.now().inForce.number === 4);
  stop.abort();
  await following;
  assert.deepEqual(
    state.journal.slice(2).map(({ id }) => id),
    ids.slice(1),
    'each once, in its order',
  );
  const { delayMs, maxPages } = writer.live.now().settings;
  assert.deepEqual([delayMs, maxPages], [6, 9]);
  await other.live.heard(4);
  assert.equal(other.live.now().settings.delayMs, 6);
});

const now = (number: number): SettingsNow => ({
  settings,
  number,
  userAgent: '',
  productToken: '',
  scopeName: '',
  homes: null,
  excluded: null,
});

const VISIT = { site: 'a.example', lease: 1, pace: { dueAt: 5 } } as Visit;
const claimed = (entry: number): Claimed => ({ visits: [VISIT], nextDueAt: null, entry, term: 0 });

interface Thread {
  readonly live: LiveSettings;
  readonly settled: Settlement[];
  readonly ended: number[];
  readonly behind: number[];
}

const threadAt = (first: number): Thread => {
  const settled: Settlement[] = [];
  const ended: number[] = [];
  const behind: number[] = [];
  const make = ({ number }: SettingsNow): Footing =>
    ({
      parts: { settle: async (one: Settlement) => void settled.push(one) },
      ask: { delayMs: number },
      end: async () => void ended.push(number),
    }) as unknown as Footing;
  const live = createLiveSettings(now(first), { make, onBehind: (number) => void behind.push(number) });
  return { live, settled, ended, behind };
};

test('a visit does not begin before the settings are as new as its lease, and knows the number', async () => {
  const { live, behind } = threadAt(1);
  const { signal } = new AbortController();
  assert.deepEqual((await heardWith(live, claimed(1), signal)).visits, [{ ...VISIT, entry: 1, term: 0 }]);
  let given: readonly Visit[] | null = null;
  const waiting = heardWith(live, claimed(3), signal).then(({ visits }) => (given = visits));
  await turn();
  assert.deepEqual([given, behind], [null, [3]], 'whoever can find out is asked');
  live.take(now(2));
  await turn();
  assert.equal(given, null);
  live.take(now(3));
  await waiting;
  assert.deepEqual(given, [{ ...VISIT, entry: 3, term: 0 }]);
});

test('who is stopped before it has heard of a change gives its leases back unused', async () => {
  const { live, settled } = threadAt(1);
  const stop = new AbortController();
  const waiting = heardWith(live, claimed(2), stop.signal);
  await turn();
  stop.abort();
  assert.deepEqual((await waiting).visits, []);
  assert.deepEqual(
    settled.map(({ site, lease, fate, pace, page }) => [site, lease, fate, pace, page]),
    [['a.example', 1, 'returned', VISIT.pace, null]],
  );
});

test('visits under way end with what they began with; what belongs to it is closed behind the last of them', async () => {
  const { live, ended } = threadAt(1);
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const during = gates.map(({ promise }) =>
    live.during(async ({ ask }) => {
      await promise;
      return ask.delayMs;
    }),
  );
  live.take(now(2));
  assert.equal(live.now().ask.delayMs, 2);
  assert.equal(await live.during(async ({ ask }) => ask.delayMs), 2);
  gates[0]!.resolve();
  await during[0];
  assert.deepEqual(ended, []);
  gates[1]!.resolve();
  assert.deepEqual(await Promise.all(during), [1, 1]);
  assert.deepEqual(ended, [1]);
  await live.close();
  assert.deepEqual(ended, [1, 2]);
});

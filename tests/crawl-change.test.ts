/** What the entries of a crawl's journal come to. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from '../src/contract/journal.ts';
import { inForceNow, newEntry } from '../src/folder/in-force.ts';
import {
  beginning,
  changeTo,
  fold,
  NOTHING_IN_FORCE,
  ofCrawl,
  readChange,
  writeChange,
  type CrawlChange,
} from '../src/model/crawl-change.ts';
import { completeSettings } from '../src/model/read-settings.ts';
import { CRAWL_SETTINGS, SETTING_NAMES, SETTINGS } from '../src/model/setting-table.ts';
import { openMemoryCrawl } from '../src/store/memory/crawl.ts';
import { createMemoryState } from '../src/store/memory/state.ts';
import { createManualClock } from './support/manual-clock.ts';

const settings = completeSettings({ email: 'a@example.org', delayMs: 1_000 }, 2);
const BEGUN = beginning(settings, ['never.example'], 'first');

const entry = (number: number, change: CrawlChange): Entry => ({
  number,
  id: `id-${number}`,
  at: 0,
  text: writeChange(change),
});
const delay = (delayMs: number): CrawlChange => ({ kind: 'settings', who: 'me', settings: { delayMs } });

test('the first entry has all settings of the crawl, and none of a member', () => {
  const { settings: kept, excluded } = fold(NOTHING_IN_FORCE, [entry(1, BEGUN)]);
  assert.deepEqual(Object.keys(kept).toSorted(), CRAWL_SETTINGS.toSorted());
  assert.deepEqual(excluded, ['never.example']);
  for (const name of ['fetchers', 'hooks', 'connectTo', 'allowPrivateAddresses', 'logFile', 'store'] as const)
    assert.equal(name in kept, false, name);
});

test('of each setting it is said whose it is', () => {
  const whose = Object.groupBy(SETTING_NAMES, (name) => SETTINGS[name].whose);
  assert.deepEqual(whose.fixed?.toSorted(), ['frontier', 'name', 'store']);
  assert.ok(whose.member?.includes('hooks') && whose.crawl?.includes('delayMs'));
});

test('later entries change what they name and leave the rest', () => {
  const now = fold(NOTHING_IN_FORCE, [
    entry(1, BEGUN),
    entry(2, delay(9)),
    entry(3, { kind: 'settings', who: 'me', settings: {}, excluded: [] }),
    entry(4, { kind: 'seeds', who: 'me' }),
    entry(5, { kind: 'settings', who: 'me', settings: { maxPages: null, scope: 'site' } }),
  ]);
  assert.deepEqual(
    [now.number, now.id, now.settings.delayMs, now.settings.scope, now.settings.email, now.excluded, now.seeds],
    [5, 'id-5', 9, 'site', 'a@example.org', [], 1],
  );
});

test('an entry that this version does not know is counted, and what is wrong in one is left out', () => {
  const before = fold(NOTHING_IN_FORCE, [entry(1, BEGUN)]);
  const texts = [
    '{',
    'null',
    '[]',
    '{"kind":"pause"}',
    '{"kind":"settings"}',
    '{"kind":"settings","settings":{"delayMs":"soon","hooks":"/tmp/evil.mjs","nothing":1,"sites":[{}]},"excluded":[7]}',
  ];
  const now = fold(
    before,
    texts.map((text, i) => ({ number: i + 2, id: String(i), text })),
  );
  assert.equal(now.number, texts.length + 1);
  assert.deepEqual([now.settings, now.excluded], [before.settings, before.excluded]);
  assert.equal(readChange('{"kind":"pause"}'), null);
});

test('only what differs is written, and nothing when nothing does', () => {
  const inForce = fold(NOTHING_IN_FORCE, [entry(1, BEGUN)]);
  assert.equal(changeTo(inForce, { settings, excluded: ['never.example'] }, 'me'), null);
  assert.equal(changeTo(inForce, { settings: { fetchers: 9 }, excluded: null }, 'me'), null, "a member's own");
  assert.deepEqual(changeTo(inForce, { settings: { ...settings, delayMs: 2, maxPages: 5 }, excluded: null }, 'me'), {
    kind: 'settings',
    who: 'me',
    settings: { delayMs: 2, maxPages: 5 },
  });
  assert.deepEqual(changeTo(inForce, { settings: {}, excluded: [] }, 'me'), {
    kind: 'settings',
    who: 'me',
    settings: {},
    excluded: [],
  });
  assert.deepEqual(ofCrawl({ delayMs: 1, fetchers: 2 }), { delayMs: 1 });
});

test('who knows an entry goes on after it, unless the store forgot it', async () => {
  const state = createMemoryState();
  const crawl = openMemoryCrawl({ state, clock: createManualClock() });
  const asked: number[] = [];
  const journal = (after: number): Promise<readonly Entry[]> => (asked.push(after), crawl.journal(after));
  await crawl.write(newEntry(BEGUN));
  await crawl.write(newEntry(delay(5)));
  const known = await inForceNow(journal);
  assert.deepEqual([known.number, known.settings.delayMs], [2, 5]);

  await crawl.write(newEntry(delay(6)));
  asked.length = 0;
  const next = await inForceNow(journal, known);
  assert.deepEqual([next.number, next.settings.delayMs], [3, 6]);
  assert.ok(!asked.includes(0), 'it does not begin anew');

  // Back to the first entry, and another second one since.
  state.journal.length = 1;
  await crawl.write(newEntry({ kind: 'settings', who: 'other', settings: { maxPages: 7 } }));
  const after = await inForceNow(journal, next);
  assert.deepEqual([after.number, after.settings.delayMs, after.settings.maxPages], [2, 1_000, 7]);
});

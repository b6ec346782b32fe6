/** What the visits of a fetch thread share. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCrew } from '../src/visit/crew.ts';
import type { Findings } from '../src/model/findings.ts';
import { openMemoryStore } from '../src/store/memory/store.ts';
import { createScope, NO_RULES } from '../src/url/scope.ts';
import { ask, link, settlementOf } from './contract/store-scene.ts';
import { createManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';

const never = (): never => {
  throw new Error('this is not used here');
};

const linking = (...hrefs: string[]): Findings => ({
  title: '',
  language: '',
  charset: '',
  charsetGuessed: false,
  base: 'https://a.example/',
  hrefs,
  canonical: '',
  noindex: false,
  nofollow: false,
  text: '',
});

test('a link that the store had no room for is sent to it again when a later page has it; one that it has is not', async () => {
  const clock = createManualClock();
  const store = openMemoryStore({ clock, archive: openMemoryArchive() });
  const { parts } = createCrew({
    clock,
    store,
    siteWaitingMax: 2,
    scope: createScope(NO_RULES),
    rules: {
      pace: { delayMs: 0, troubleDelayMs: 0, failuresMax: 1 },
      productToken: 'gossamer',
      bodyBytesMax: 1,
      wantsBody: () => true,
      scopeName: 'test',
      sitemaps: false,
    },
    fetch: never,
    forget: never,
    parse: never,
    readRobots: never,
  });
  const page = link('a.example/');
  const found = linking('/1', '/2', '/3', 'https://b.example/');
  await parts.admit((await parts.router.route(page, found))!);
  assert.equal((await store.census()).forgotten, 1);
  const { visits } = await store.claim(ask());
  await store.settle(visits.map((visit) => settlementOf(visit)));
  const again = (await parts.router.route(page, found))!;
  assert.ok(again.some(({ url }) => url === 'https://a.example/3'));
  assert.ok(!again.some(({ url }) => url === 'https://b.example/'));
  await parts.admit(again);
  assert.equal((await store.census()).waiting, 2);
});

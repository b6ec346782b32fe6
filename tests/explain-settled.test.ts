/** Why a link was settled as it was: every outcome, and the rules that were in force then. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLAIMS_MAX } from '../src/contract/store.ts';
import { ANSWERED_OUTCOMES, UNANSWERED_OUTCOMES, type OutcomeName } from '../src/model/outcome.ts';
import { claimOne, DELAY_MS, link, linksOf } from './contract/store-scene.ts';
import { onReadingScene, robotsRead } from './support/reading-scene.ts';

import { assertReason, settleNext } from './support/explain-scene.ts';

test('a settled link is told its outcome, whichever it is', () =>
  onReadingScene(async (scene) => {
    const { store, clock, explain } = scene;
    const outcomes = [
      ...Object.keys(ANSWERED_OUTCOMES),
      ...Object.keys(UNANSWERED_OUTCOMES),
      'failed-dns',
      'excluded',
    ] as OutcomeName[];
    for (const [n, outcome] of outcomes.entries()) {
      await store.admit([link(`a.example/${n}`)]);
      await settleNext(scene, {}, { outcome, tries: 3 });
      clock.advance(DELAY_MS);
      const { answer, reason, state } = await explain(`https://a.example/${n}`);
      assert.deepEqual([reason, state], [outcome, 'settled']);
      assert.doesNotMatch(answer, /undefined|null|no more is known/, outcome);
    }
  }));

test('a redirect names its target, and the command that explains that one', () =>
  onReadingScene(async (scene) => {
    await scene.store.admit([link('a.example/old')]);
    await settleNext(scene, {}, { outcome: 'redirected', status: 301, redirect: 'https://b.example/new' });
    const { advice } = assertReason(
      await scene.explain('https://a.example/old'),
      'redirected',
      /answered 301 and leads to https:\/\/b\.example\/new/,
    );
    assert.deepEqual(advice, [`gossamer explain ${scene.dir} https://b.example/new`]);
  }));

test('a settled link is told by the rules that were in force then, and a note says what would differ now', () =>
  onReadingScene(async (scene) => {
    const { store, clock, explain, file } = scene;
    await store.admit([link('a.example/private/1')]);
    await settleNext(
      scene,
      { robots: robotsRead('https://a.example', '', clock.now()) },
      { outcome: 'robots-denied', status: null, robots: 'line 4: Disallow: /private' },
    );
    const { notes } = assertReason(
      await explain('https://a.example/private/1'),
      'robots-denied',
      /forbids it \(line 4: Disallow: \/private\)\./,
    );
    assert.deepEqual(notes, [
      'as read on 2026-01-01 00:00:00 UTC, robots.txt allows it (no rules for us); but a settled link is not visited again',
    ]);
    file('exclude.txt', 'a.example\n');
    assert.ok(
      (await explain('https://a.example/private/1')).notes.some((note) =>
        /by the settings now in force it would not be taken: line 1 of/.test(note),
      ),
    );
  }));

test('a bare domain that was then tried over http leads there', () =>
  onReadingScene(async (scene) => {
    await scene.store.admit([
      link('a.example/', { fallback: true }),
      link('a.example/', { url: 'http://a.example/' as never }),
    ]);
    await settleNext(scene, {}, { outcome: 'failed-tls', status: null, tries: 1, detail: 'no certificate' });
    const { advice, notes } = assertReason(
      await scene.explain('a.example'),
      'failed-tls',
      /given up on .* after 1 try: the TLS handshake failed.*\(no certificate\)/,
    );
    assert.deepEqual(advice, [`gossamer explain ${scene.dir} http://a.example/`]);
    assert.deepEqual(notes, ['a seed without a scheme is tried once over https; it was then tried over http']);
  }));

test('a link that the crawl died of too often is told so', () =>
  onReadingScene(async ({ store, clock, explain }) => {
    await store.admit(linksOf('a.example', 1));
    for (let claims = 0; claims < CLAIMS_MAX; claims += 1) {
      await claimOne(store);
      await store.steer([{ kind: 'free', holder: null, counted: true }]);
      clock.advance(DELAY_MS);
    }
    assertReason(await explain('https://a.example/1'), 'gave-up', /the crawl died too often/);
  }));

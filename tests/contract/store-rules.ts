/** How a store keeps long robots rules: whole, once, and not with every visit. */

import assert from 'node:assert/strict';

import type { Store } from '../../src/contract/store.ts';
import { digestOf, RULES_CARRIED_MAX } from '../../src/model/long-rules.ts';
import type { CanonicalUrl } from '../../src/model/link.ts';
import type { RobotsRecord } from '../../src/model/robots.ts';
import type { Visit } from '../../src/model/visit.ts';
import { ask, claimOne, DELAY_MS, link, linksOf, settlementOf } from './store-scene.ts';
import type { Behaviour } from './store-scene.ts';

/** 400 KiB of rules, the like of which a large site may have. */
export const longRules = (name: string): string =>
  Array.from({ length: 16_384 }, (_, i) => `${i + 2}-/${name}/${String(i).padStart(7, '0')}/x`.padEnd(24, 'y')).join(
    '\n',
  );

export const longRobots = (origin: string, changes: Partial<RobotsRecord> = {}): RobotsRecord => ({
  origin,
  fetchedAt: 1_000,
  expiresAt: 2_000.5,
  verdict: 'rules',
  rules: longRules('long'),
  crawlDelayMs: 1_500,
  failures: 0,
  ...changes,
});

/** The record of a visit as it is with its rules, asked for as a visit does. */
const wholeOf = async (store: Store, { site, robots }: Visit): Promise<RobotsRecord | null> => {
  const digest = robots && digestOf(robots);
  return (
    robots && { ...robots, rules: digest === null ? (robots.rules as string) : (await store.rules(digest!, site))! }
  );
};

export const rulesContract = (it: Behaviour): void => {
  it('long rules survive a settlement and a crash: a visit is given their name, and the store their text', async (scene) => {
    await scene.store.admit(linksOf('a.example', 3));
    const robots = longRobots('https://a.example');
    await scene.store.settle([settlementOf(await claimOne(scene.store), { robots })]);
    for (const crashes of [false, true]) {
      if (crashes) await scene.crash();
      scene.clock.advance(DELAY_MS);
      const visit = await claimOne(scene.store);
      assert.notEqual(visit.robots && digestOf(visit.robots), null, 'the rules are not carried');
      assert.deepEqual(await wholeOf(scene.store, visit), robots);
      // What a visit learns besides is settled without the text.
      await scene.store.settle([settlementOf(visit, { robots: { ...visit.robots!, failures: 0 } })]);
    }
  });

  it('no visit of a claim carries more than RULES_CARRIED_MAX characters of rules, and short rules come with it', async ({
    store,
    clock,
  }) => {
    const lengths = [0, 1, RULES_CARRIED_MAX, RULES_CARRIED_MAX + 1, 400 * 1024];
    await store.admit(lengths.flatMap((_, i) => linksOf(`s${i}.example`, 2)));
    const robotsAt = (i: number): RobotsRecord =>
      longRobots(`https://s${i}.example`, { rules: longRules(`s${i}`).slice(0, lengths[i]) });
    const numberOf = ({ site }: Visit): number => Number(/\d/.exec(site)?.[0]);
    const { visits } = await store.claim(ask());
    await store.settle(visits.map((visit) => settlementOf(visit, { robots: robotsAt(numberOf(visit)) })));
    clock.advance(DELAY_MS);
    const again = (await store.claim(ask())).visits;
    assert.equal(again.length, lengths.length);
    assert.ok(JSON.stringify(again).length < again.length * 8 * 1024, 'a claim is a small message');
    for (const visit of again) {
      const i = numberOf(visit);
      assert.ok(JSON.stringify(visit.robots!.rules).length <= RULES_CARRIED_MAX + 1_000, `rules of ${lengths[i]}`);
      if (lengths[i]! <= RULES_CARRIED_MAX) assert.deepEqual(visit.robots, robotsAt(i));
      assert.deepEqual(await wholeOf(store, visit), robotsAt(i));
    }
  });

  it('origins with the same long rules name the same text, each change of it has another name, and both are kept', async ({
    store,
    clock,
  }) => {
    const plain = link('a.example/2', { url: 'http://a.example/2' as CanonicalUrl });
    await store.admit([
      link('a.example/1'),
      plain,
      link('a.example/3'),
      { ...plain, url: `${plain.url}x` as CanonicalUrl },
    ]);
    const rules = [longRobots('https://a.example'), longRobots('http://a.example', { crawlDelayMs: null })];
    for (const robots of rules) {
      await store.settle([settlementOf(await claimOne(store), { robots })]);
      clock.advance(DELAY_MS);
    }
    const secure = await claimOne(store);
    const newer = longRobots('https://a.example', { rules: longRules('newer') });
    await store.settle([settlementOf(secure, { fate: 'returned', robots: newer })]);
    clock.advance(DELAY_MS);
    const newest = await claimOne(store);
    assert.deepEqual(await wholeOf(store, newest), newer);
    await store.settle([settlementOf(newest)]);
    clock.advance(DELAY_MS);
    const insecure = await claimOne(store);
    assert.deepEqual(insecure.robots?.rules, secure.robots?.rules);
    assert.notDeepEqual(newest.robots?.rules, secure.robots?.rules);
    assert.deepEqual(await wholeOf(store, insecure), rules[1]);
  });

  it('rules that are short again come with the visit, and a text that nobody stored is null', async ({
    store,
    clock,
  }) => {
    await store.admit(linksOf('a.example', 2));
    await store.settle([
      settlementOf(await claimOne(store), { fate: 'retry', robots: longRobots('https://a.example') }),
    ]);
    clock.advance(DELAY_MS);
    const short = longRobots('https://a.example', { rules: '1-/' });
    await store.settle([settlementOf(await claimOne(store), { robots: short })]);
    clock.advance(DELAY_MS);
    assert.deepEqual((await claimOne(store)).robots, short);
    assert.equal(await store.rules('nobodyHasThis', 'a.example'), null);
  });
};

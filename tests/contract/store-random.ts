/** Thousands of verbs in a random order, with crashes in between, checked against the model on the way. */

import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';

import { StoreFault } from '../../src/contract/fault.ts';
import type { Admitted, Change } from '../../src/contract/store.ts';
import type { Link } from '../../src/model/link.ts';
import { RULES_CARRIED_MAX } from '../../src/model/long-rules.ts';
import { ANSWERED_OUTCOMES } from '../../src/model/outcome.ts';
import { isArchived } from '../../src/model/page.ts';
import type { Settlement } from '../../src/model/settlement.ts';
import type { Visit } from '../../src/model/visit.ts';
import { isSideQueue, originQueue, refusedQueue, siteOfQueue } from '../../src/url/side-queue.ts';
import {
  checkCensus,
  createModel,
  followAdmit,
  followClaim,
  followChange,
  followSettle,
  leasedVisits,
  sitesOf,
} from './store-model.ts';
import type { Model } from './store-model.ts';
import { ALL_SHARDS, ask, link, pageOf, paceAfter, recordsOf, ROUNDS_MAX, settlementOf } from './store-scene.ts';
import type { Behaviour, Scene } from './store-scene.ts';

const STEPS = 3_000; // two seconds on a store with a disk
/** On a server a look at all counts costs more than the step before it; a count that is wrong stays wrong. */
const STEPS_PER_LOOK_ON_SERVER = 4;
const SITES = 40;
const PATHS = 60; // 2,400 addresses: many are found again, none runs out of links
const HOLDERS = ['fetch-1', 'fetch-2', 'fetch-3'];
const OUTCOMES = ['fetched', 'fetched', 'client-error', 'robots-denied', 'failed-reset'] as const;
/** The least delay is the one asked for, as with every pace that the crawl decides. */
const RUN_DELAY_MS = 500;

export interface RandomRun {
  readonly scene: Scene;
  readonly model: Model;
  readonly dice: Dice;
  /** Visits whose lease ended: to settle one again must be refused. */
  readonly ended: Visit[];
}

interface Dice {
  /** A whole number from 0 to below that. */
  below(limit: number): number;
  oneOf<T>(choices: readonly T[]): T;
}

/** The same throws for the same seed: one seed replays one run. */
const createDice = (seed: number): Dice => {
  let state = seed | 0 || 1;
  const below = (limit: number): number => {
    // xorshift32: three shifts run through all 2^32 - 1 states
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
  return {
    below,
    oneOf: <T>(choices: readonly T[]): T => {
      if (choices.length === 0) throw new RangeError('nothing to choose from');
      return choices[below(choices.length)] as T;
    },
  };
};

export const randomContract = (it: Behaviour, isServer: boolean): void => {
  it('verbs in a random order, with crashes, leave every link in one state, and every page settled once', (scene) =>
    runAtRandom(scene, async (run) => {
      // A run that is replayed stops at the very step that went wrong.
      const stepsPerLook = isServer && process.env.GOSSAMER_SEED === undefined ? STEPS_PER_LOOK_ON_SERVER : 1;
      for (let step = 0; step < STEPS; step++) {
        await takeStep(run);
        if (step % stepsPerLook === 0) checkCensus(run.model, await run.scene.store.census());
      }
      await finish(run);
      await checkPages(run);
    }));
};

/** Tells the seed of what goes wrong. */
export const runAtRandom = async (scene: Scene, work: (run: RandomRun) => Promise<void>): Promise<void> => {
  const seed = Number(process.env.GOSSAMER_SEED ?? randomInt(1, 2 ** 31));
  try {
    await work({ scene, model: createModel(), dice: createDice(seed), ended: [] });
  } catch (cause) {
    throw new Error(`it failed; GOSSAMER_SEED=${seed} replays it`, { cause });
  }
};

export const takeStep = async (run: RandomRun): Promise<void> => {
  const throwOf100 = run.dice.below(100);
  if (throwOf100 < 25) return admitSome(run);
  if (throwOf100 < 50) return claimSome(run);
  if (throwOf100 < 80) return settleSome(run);
  if (throwOf100 < 90) return run.scene.clock.advance(run.dice.below(3_000));
  if (throwOf100 < 98) return steerOnce(run);
  return crashOnce(run);
};

const admitSome = async ({ scene: { store, clock }, model, dice }: RandomRun): Promise<void> => {
  const links = Array.from({ length: dice.below(9) }, (): Link => {
    // The square makes some sites hot and leaves others with a link or two.
    const site = Math.floor((dice.below(SITES) * dice.below(SITES)) / SITES);
    return link(`s${site}.example/${dice.below(PATHS)}`, {
      first: dice.below(6) === 0,
      depth: dice.below(5),
      hops: dice.below(3),
      via: dice.oneOf(['', 'https://v.example/', 'https://w.example/ü']),
      fallback: dice.below(9) === 0,
      ...dice.oneOf([{}, {}, { sitemap: 'listed' as const }]),
    });
  });
  const siteWaitingMax = dice.oneOf([null, null, 5, 12]);
  const expected = followAdmit(model, links, { siteWaitingMax: siteWaitingMax ?? Infinity, now: clock.now() });
  // Where shards answer each for itself, full sites come in any order.
  const inOrder = (admitted: Admitted): Admitted => ({ ...admitted, full: admitted.full.toSorted() });
  assert.deepEqual(inOrder(await store.admit(links, siteWaitingMax)), inOrder(expected));
};

/** Some sites have a budget of their own, or none. */
const budgetsOf = (dice: Dice): Record<string, number | null> =>
  Object.fromEntries(
    Array.from({ length: dice.below(6) }, () => [
      `s${dice.below(SITES)}.example`,
      dice.oneOf([null, 1, 10 + dice.below(30)]),
    ]),
  );

const claimSome = async ({ scene: { store, clock }, model, dice }: RandomRun): Promise<void> => {
  const pages = sitesOf(model).reduce((sum, site) => sum + site.pages, 0);
  const limits = dice.oneOf([
    { visits: 1 + dice.below(6) },
    { visits: 1 + dice.below(20), pagesMax: pages + dice.below(8) },
    { sitePagesMax: { all: 5 + dice.below(40) } },
    { sitePagesMax: { all: dice.oneOf([null, 30]), sites: budgetsOf(dice) } },
  ]);
  const shards = dice.oneOf([ALL_SHARDS, ALL_SHARDS.filter((shard) => shard % 2 === dice.below(2))]);
  const asked = ask({ holder: dice.oneOf(HOLDERS), shards, delayMs: RUN_DELAY_MS, ...limits });
  followClaim(model, { asked, claimed: await store.claim(asked), now: clock.now() });
};

const settleSome = async (run: RandomRun): Promise<void> => {
  const {
    scene: { store, archive },
    model,
    dice,
    ended,
  } = run;
  const chosen = leasedVisits(model).filter(() => dice.below(3) > 0);
  if (ended.length > 0 && dice.below(4) === 0) chosen.push(dice.oneOf(ended));
  if (chosen.length > 0 && dice.below(8) === 0) chosen.push(dice.oneOf(chosen));
  const settlements = chosen.map((visit) => settlementFor(run, visit));
  const first = settlements[0];
  if (dice.below(10) === 0 && first?.records && leasedVisits(model).some(({ lease }) => lease === first.lease)) {
    archive.fault = new Error('no space left');
    await assert.rejects(store.settle(settlements), StoreFault);
    archive.fault = null;
    return;
  }
  const kept = followSettle(model, settlements);
  ended.push(...chosen);
  const refusedAt = settlements.flatMap((one, i) => (kept.includes(one) ? [] : [i]));
  assert.deepEqual(await store.settle(settlements), {
    settled: kept.length,
    refused: refusedAt.length,
    ...(refusedAt.length > 0 ? { refusedAt } : {}),
  });
  assert.equal(archive.totalBytes(), model.archivedBytes, 'the archive holds what was settled');
};

const settlementFor = (run: RandomRun, visit: Visit): Settlement => {
  const { clock } = run.scene;
  const { dice } = run;
  // Nothing of the queue of an origin is settled there: its links go back to their site, or wait on.
  if (isSideQueue(visit.site) || dice.below(8) === 0) return movingFor(run, visit);
  const fate = dice.oneOf(['settled', 'settled', 'settled', 'retry', 'returned'] as const);
  const parked = dice.below(12) === 0;
  // Its clock does not outlast the parking, so that all readings of "from now on" agree.
  const dueAt = parked ? clock.now() : clock.now() + dice.below(6_000);
  const { origin } = new URL(visit.link.url);
  const outcome = dice.oneOf(OUTCOMES);
  return settlementOf(visit, {
    fate,
    parked,
    page: fate === 'settled' ? pageOf(visit, { outcome }) : null,
    records:
      fate === 'settled' && outcome in ANSWERED_OUTCOMES && dice.below(5) > 0
        ? recordsOf(`${visit.link.url} ${visit.lease}`, dice.oneOf(['', 'robots;']))
        : null,
    pace: paceAfter(visit, { dueAt, delayMs: RUN_DELAY_MS + dice.below(4_000), failures: dice.below(4) }),
    robots:
      dice.below(4) > 0
        ? null
        : {
            origin,
            fetchedAt: clock.now(),
            expiresAt: clock.now() + 1,
            verdict: 'rules',
            // the name of long rules, where the visit has it and learned no others
            rules:
              typeof visit.robots?.rules === 'object' && dice.below(2) === 0
                ? visit.robots.rules
                : `-/${visit.lease}`.padEnd(dice.oneOf([0, 0, RULES_CARRIED_MAX + 1]), 'x'),
            crawlDelayMs: null,
            failures: dice.below(3),
          },
  });
};

/** Scopes that refused links. */
const SCOPES = ['0a', '0b'];

const movingFor = ({ scene: { clock }, dice }: RandomRun, visit: Visit): Settlement => {
  const isBack = isSideQueue(visit.site);
  const held = !isBack && dice.below(3) === 0;
  const queue = isBack
    ? siteOfQueue(visit.site)
    : held
      ? refusedQueue(visit.site, dice.oneOf(SCOPES))
      : originQueue(visit.site, dice.oneOf([`https://${visit.site}`, `http://old.${visit.site}`]));
  const parked = !isBack && !held && dice.below(3) === 0;
  const to = {
    queue,
    first: dice.below(2) === 0,
    pace: paceAfter(visit, { dueAt: clock.now() + (parked ? 0 : dice.below(6_000)), delayMs: RUN_DELAY_MS }),
    parked,
    held,
    isNews: held || (!isBack && dice.below(2) === 0),
  };
  const pace = paceAfter(visit, { dueAt: clock.now() + dice.below(3_000), delayMs: RUN_DELAY_MS, failures: 1 });
  return settlementOf(visit, { fate: 'returned', page: null, pace, ...(isBack && dice.below(4) === 0 ? {} : { to }) });
};

const steerOnce = async ({ scene: { store, clock }, model, dice, ended }: RandomRun): Promise<void> => {
  const changes: readonly Change[] = [
    { kind: 'free', holder: dice.oneOf([...HOLDERS, null]), counted: dice.below(3) > 0 },
    { kind: 'retry-parked' },
    { kind: 'release-held', sitePagesMax: { all: dice.oneOf([null, 20, 40]), sites: budgetsOf(dice) } },
    { kind: 'release-refused', scope: dice.oneOf(SCOPES) },
    { kind: 'mark', name: dice.oneOf(['seeds', 'other']), value: dice.below(1_000) },
  ];
  const given = changes.filter(() => dice.below(3) === 0);
  const before = leasedVisits(model);
  for (const change of given) followChange(model, change, clock.now());
  const after = new Set(leasedVisits(model));
  ended.push(...before.filter((visit) => !after.has(visit)));
  await store.steer(given);
};

const crashOnce = async (run: RandomRun): Promise<void> => {
  // As if it had died between the append and the commit.
  if (run.dice.below(2) === 0) run.scene.archive.append([new Uint8Array(1 + run.dice.below(3_000)), new Uint8Array(7)]);
  await run.scene.crash();
  // A process numbers its own leases: what belonged to the one before is not sent by this one.
  run.ended.length = 0;
  run.model.leases.clear();
  followChange(run.model, { kind: 'free', holder: null, counted: true }, run.scene.clock.now());
  assert.equal(run.scene.archive.totalBytes(), run.model.archivedBytes, 'the unsettled tail is cut');
  await checkPages(run);
};

/** Bring everything back and visit until nothing waits: no link may be left over. */
const finish = async (run: RandomRun): Promise<void> => {
  const {
    scene: { store, clock },
    model,
  } = run;
  const changes: Change[] = [
    { kind: 'free', holder: null, counted: false },
    { kind: 'retry-parked' },
    { kind: 'release-held', sitePagesMax: { all: null } },
    { kind: 'release-refused', scope: 'none' },
  ];
  await store.steer(changes);
  for (const change of changes) followChange(model, change, clock.now());
  for (let round = 0; round < ROUNDS_MAX; round++) {
    clock.advance(10_000);
    const asked = ask({ delayMs: RUN_DELAY_MS });
    const claimed = await store.claim(asked);
    followClaim(model, { asked, claimed, now: clock.now() });
    if (claimed.visits.length === 0) break;
    const settlements = claimed.visits.map((visit) =>
      isSideQueue(visit.site) ? backToSite(visit) : settlementOf(visit, { records: recordsOf(visit.link.url) }),
    );
    assert.equal(followSettle(model, settlements).length, settlements.length);
    await store.settle(settlements);
  }
  const census = await store.census();
  checkCensus(model, census);
  assert.deepEqual([census.waiting, census.leased, census.parked, census.held], [0, 0, 0, 0]);
  assert.deepEqual(new Set(model.settled.map(({ url }) => url)), model.seen);
};

const backToSite = (visit: Visit): Settlement => {
  const to = { queue: siteOfQueue(visit.site), first: true, pace: visit.pace, parked: false, isNews: false };
  return settlementOf(visit, { fate: 'returned', page: null, to });
};

const checkPages = async ({ scene, model }: RandomRun): Promise<void> => {
  const rows = await scene.pages();
  const known = rows.map((row) => ({
    url: row.url as string,
    outcome: row.outcome as string,
    record: isArchived(row) ? new TextDecoder().decode(scene.archive.read(row)) : null,
  }));
  const inOrderOfAddress = (list: typeof known): typeof known => list.toSorted((a, b) => (a.url < b.url ? -1 : 1));
  // Settled in one batch by a change (given up), rows may stand in any order.
  assert.deepEqual(inOrderOfAddress(known), inOrderOfAddress(model.settled));
  assert.equal(new Set(known.map(({ url }) => url)).size, known.length, 'no page twice');
};

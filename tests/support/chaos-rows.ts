/** The rows of the failure table: what is done to a crawl with three members, and when. */

import { rmSync } from 'node:fs';
import { leaseMsOf } from '../../src/threads/visit-times.ts';
import type { Dice } from '../../src/world/random.ts';
import type { Link, MemberIndex } from './chaos-network.ts';
import { ALL_MEMBERS, DELAY_MS, MEMBER_NAMES, TIMEOUT_MS, tailOf, type Scene } from './chaos-scene.ts';
import { pause, type ChaosStore } from './chaos-store.ts';

export interface RowContext {
  readonly scene: Scene;
  readonly dice: Dice;
  /** How often it is hit, where a row can be hit more than once. */
  readonly hits: number;
  /** What is being done, for the progress. */
  readonly tell: (what: string) => void;
}

export interface Row {
  readonly about: string;
  /** How long the crawl takes without a hit. */
  readonly seconds: number;
  /** What it needs of the store. */
  readonly needs?: keyof ChaosStore;
  /** Links to a member are cut. */
  readonly cuts?: true;
  /** Members that begin with the row; by default all. */
  readonly first?: readonly MemberIndex[];
  /** Hits; how often it did. */
  readonly hit: (context: RowContext) => Promise<number>;
  /** After the crawl has ended; the directory of a member that is gone. */
  readonly after?: (context: RowContext) => Promise<string | null>;
}

/** Before the first hit, and between two. */
const BEFORE_MS = 6_000;
const LAG_MS = 3_000;
const AWAY_MS = 3_000;
const REFUSED_MS = 12_000;
const SLOTS = 1_500;
const LEASE_MS = leaseMsOf({ timeoutMs: TIMEOUT_MS });
/** Sites of a dead member are visited again after its death was noticed and a delay, with some room. */
const TAKEN_OVER_MS_MAX = 35_000;

const victimOf = (dice: Dice): MemberIndex => dice(ALL_MEMBERS.length);

const somewhatLater = (dice: Dice): Promise<void> => pause(BEFORE_MS + dice(3_000));

/** Both ways of silence: nothing reaches it, or it does nothing. */
const silence =
  (ms: number, links: readonly Link[] | 'stop') =>
  async ({ scene, dice, tell }: RowContext): Promise<number> => {
    await somewhatLater(dice);
    const victim = victimOf(dice);
    tell(`the ${MEMBER_NAMES[victim]} is ${links === 'stop' ? 'stopped' : `cut from ${links.join(' and ')}`}`);
    if (links === 'stop') scene.runOf(victim).send('SIGSTOP');
    else scene.cut(victim, links);
    await pause(ms);
    if (links === 'stop') scene.runOf(victim).send('SIGCONT');
    else scene.mend(victim);
    tell('all go on');
    return 1;
  };

/** The same hit on the store several times. */
const onStore =
  (what: string, hit: (store: ChaosStore, context: RowContext) => Promise<void>) =>
  async (context: RowContext): Promise<number> => {
    for (let n = 0; n < context.hits; n++) {
      await somewhatLater(context.dice);
      context.tell(what);
      await hit(context.scene.store, context);
      context.tell('all go on');
    }
    return context.hits;
  };

/** How long the sites that a member visited last were left alone after its death. */
const tellTakenOver = async (scene: Scene, victim: MemberIndex, diedAt: number): Promise<void> => {
  if (scene.network.kind === 'loopback')
    return void scene.remarks.push('on loopback nobody sees whose sites they were');
  const waits: number[] = [];
  for (const hits of Map.groupBy(await scene.web.log(), ({ site }) => site).values()) {
    const last = hits.findLast(({ at }) => at <= diedAt);
    const next = hits.find(({ at }) => at > diedAt);
    if (last && next && scene.network.memberAt(last.from) === victim && last.at > diedAt - DELAY_MS)
      waits.push(next.at - diedAt);
  }
  const most = Math.max(0, ...waits);
  const says = `${waits.length} sites that the dead member visited last were visited again after ${(most / 1_000).toFixed(1)} s at the most`;
  scene.remarks.push(says);
  if (most > TAKEN_OVER_MS_MAX) scene.violations.push(`${says}; ${TAKEN_OVER_MS_MAX / 1_000} s would be soon`);
};

/** What it had appended and not settled is still in its archive: when it is found again, an opening cuts that. */
const clearTail = async (scene: Scene, victim: MemberIndex): Promise<void> => {
  const checked = await scene.gossamer('verify', ...scene.dirs());
  if (checked.code === 1)
    scene.violations.push(`verify before the dead member is found again: ${tailOf(checked.stdout)}`);
  const ran = await scene.gossamer('resume', scene.dirOf(victim));
  if (ran.code !== 0)
    scene.violations.push(`the dead member, found again, ended with ${ran.code}: ${tailOf(ran.stderr)}`);
};

const died = new WeakMap<Scene, { readonly victim: MemberIndex; readonly at: number }>();

const killForGood = async ({ scene, dice, tell }: RowContext): Promise<number> => {
  await somewhatLater(dice);
  const victim = victimOf(dice);
  tell(`the ${MEMBER_NAMES[victim]} is killed for good`);
  await scene.kill(victim);
  died.set(scene, { victim, at: (await scene.web.count()).now });
  return 1;
};

/** A member is killed, or stopped, in the time that the failover forgets, and comes back so long after it. */
const absentAt =
  (how: 'killed' | 'stopped', backMs: number) =>
  async ({ scene, dice, tell }: RowContext): Promise<number> => {
    await somewhatLater(dice);
    const victim = victimOf(dice);
    tell('the store fails over');
    const over = scene.store.failOver!(LAG_MS);
    over.catch(() => {}); // told below
    await pause(LAG_MS / 3 + dice(LAG_MS / 3));
    tell(`the ${MEMBER_NAMES[victim]} is ${how} meanwhile`);
    if (how === 'killed') await scene.kill(victim);
    else scene.runOf(victim).send('SIGSTOP');
    await over;
    await pause(backMs);
    if (how === 'killed') scene.start(victim);
    else scene.runOf(victim).send('SIGCONT');
    tell('all go on');
    return 1;
  };

export const ROWS: Readonly<Record<string, Row>> = {
  calm: { about: 'nothing happens', seconds: 40, hit: async () => 0 },
  kill: {
    about: 'a member is killed with -9 and resumed',
    seconds: 60,
    hit: async ({ scene, dice, hits, tell }) => {
      for (let n = 0; n < hits; n++) {
        await somewhatLater(dice);
        const victim = victimOf(dice);
        tell(`the ${MEMBER_NAMES[victim]} is killed`);
        await scene.kill(victim);
        await pause(dice(3_000));
        scene.start(victim);
        tell('it is resumed');
      }
      return hits;
    },
  },
  'kill-for-good': {
    about: 'a member is killed with -9 and stays dead',
    seconds: 80,
    hit: killForGood,
    after: async ({ scene }) => {
      const { victim, at } = died.get(scene)!;
      await tellTakenOver(scene, victim, at);
      await clearTail(scene, victim);
      return null;
    },
  },
  'late-join': {
    about: 'the third member joins after 20 s',
    seconds: 60,
    first: [0, 1],
    hit: async ({ scene, tell }) => {
      await pause(20_000);
      tell('the third joins');
      scene.start(2);
      return 1;
    },
  },
  'partition-20': {
    about: 'a member is cut off from web and store for 20 s',
    seconds: 70,
    cuts: true,
    hit: silence(20_000, ['web', 'store']),
  },
  'partition-75': {
    about: 'a member is cut off from web and store for 75 s',
    seconds: 120,
    cuts: true,
    hit: silence(75_000, ['web', 'store']),
  },
  'store-cut-20': {
    about: 'a member is cut off from the store alone for 20 s',
    seconds: 70,
    cuts: true,
    hit: silence(20_000, ['store']),
  },
  'store-cut-75': {
    about: 'a member is cut off from the store alone for 75 s',
    seconds: 120,
    cuts: true,
    hit: silence(75_000, ['store']),
  },
  'stop-20': { about: 'SIGSTOP of a member for 20 s', seconds: 70, hit: silence(20_000, 'stop') },
  'stop-lease': {
    about: 'SIGSTOP of a member for longer than its leases',
    seconds: 110,
    hit: silence(LEASE_MS + 10_000, 'stop'),
  },
  server: {
    about: 'kill -9 of the server, which is started again',
    seconds: 60,
    hit: onStore('the server is killed', (store) => store.crash(AWAY_MS)),
  },
  failover: {
    about: 'the master is killed when its replica is 3 s behind, which takes its place',
    seconds: 60,
    needs: 'failOver',
    hit: onStore('the store fails over', (store) => store.failOver!(LAG_MS)),
  },
  'failover-killed': {
    about: 'the same; a member is killed just before, and resumed 4 s later',
    seconds: 60,
    needs: 'failOver',
    hit: absentAt('killed', 4_000),
  },
  'failover-absent': {
    about: 'the same; a member is killed just before, and resumed 25 s later',
    seconds: 80,
    needs: 'failOver',
    hit: absentAt('killed', 25_000),
  },
  'failover-stopped': {
    about: 'the same; a member is stopped just before, and goes on 25 s later',
    seconds: 80,
    needs: 'failOver',
    hit: absentAt('stopped', 25_000),
  },
  'go-back': {
    about: 'the server is killed and starts with what it had on disk 3 s before',
    seconds: 60,
    needs: 'goBack',
    hit: onStore('the store goes back', (store) => store.goBack!(LAG_MS)),
  },
  reshard: {
    about: '1,500 slots with their keys are moved to another master',
    seconds: 60,
    needs: 'reshard',
    hit: onStore('slots are moved', async (store, { scene }) => {
      const keys = await store.reshard!(SLOTS);
      scene.remarks.push(`${keys} keys were moved with ${SLOTS} slots`);
    }),
  },
  'read-only': {
    about: 'the server takes no writes for 12 s',
    seconds: 60,
    needs: 'refuseWrites',
    hit: onStore('the store is read-only', (store) => store.refuseWrites!(REFUSED_MS)),
  },
  connections: {
    about: 'the server has no connection left for 12 s',
    seconds: 60,
    needs: 'refuseConnections',
    hit: onStore('the store has no connections', (store) => store.refuseConnections!(REFUSED_MS)),
  },
  'directory-gone': {
    about: 'a member is killed and its directory removed; verify must say so',
    seconds: 60,
    hit: killForGood,
    after: async ({ scene }) => {
      const { victim } = died.get(scene)!;
      const gone = scene.dirOf(victim);
      rmSync(gone, { recursive: true });
      const dirs = scene.dirs();
      const together = await scene.gossamer('verify', '--all', ...dirs);
      const ran = together.code === 2 ? await scene.gossamer('verify', dirs[0]!) : together; // one at a time, formerly
      const says = ran.stdout.trim().split('\n');
      scene.remarks.push(`verify of the others says: ${[says[0], ...says.slice(-2)].join(' / ')}`);
      if (ran.code !== 1 || !ran.stdout.includes(gone))
        scene.violations.push(`verify does not notice that ${gone} of the ${MEMBER_NAMES[victim]} is gone`);
      return gone;
    },
  },
};

/**
 * One seed, one run: a web, a crawl, a fault; then the verdict.
 *
 * On a real Redis or PostgreSQL time stands still while the store performs a verb, so that verbs happen one after the
 * other, in the order of their seed; within one the connection may be lost, or the process die.
 */

import type { Store } from '../../src/contract/store.ts';
import type { Census } from '../../src/model/census.ts';
import { SHARDS } from '../../src/url/shard.ts';
import { diceFor, mix, pick } from '../../src/world/random.ts';
import { createFaultyArchive, faultyStore, gathering, standing, type StoreFaults } from './faulty.ts';
import { createFetchModel } from './fetch-model.ts';
import { memberDurable, memoryDurable, sqliteDurable, type Durable } from './holding.ts';
import { judge } from './judge.ts';
import { createMemberFaults } from './member-faults.ts';
import { MEMBER_FAULTS, type RunPlan, type Verdict } from './plan.ts';
import { startProcess, type Process, type SimSettings } from './process.ts';
import { sharedDurable } from './shared-holding.ts';
import { SHARED_SHARDS, type SharedServer } from './shared-place.ts';
import { createVirtualClock } from './virtual-clock.ts';
import { linksOn } from './parse-model.ts';
import { createWeb } from './web.ts';
import { createWitness } from './witness.ts';

/** A crawl that is hit this often by a fault that does not stop has suffered enough. */
const HITS_MAX = 6;
/** A process whose threads die more often than this would be given up. */
const DEATHS_MAX = 1_000;
/** A fault costs two processes at the most, and a crawl whose processes end by themselves would be started for ever. */
const LIVES_MAX = 40;
/** Ten times what the longest run of the first thousand seeds needs; the webs of shared stores are smaller. */
const EVENTS_MAX = 1_000_000;
const SHARED_EVENTS_MAX = 300_000;
const LEASE_MS = 45_000;
/** Where a member dies for good its leases must be freed long before they end. */
const LONG_LEASE_MS = 24 * 3_600_000;
/** Links that a member remembers to send again: as many as it likes, or hardly any. */
const ADMITTED_MAX = [250_000, 10] as const;
/** With hardly any, what a member sent first must not be forgotten by the store. */
const ESTABLISHED_MS = 15_000;

/** Who knows fewer sites that answered cannot tell whose trouble it is. */
const KNOWN_SITES_LEAST = 3;
/** As long as sites are found. */
const ROBOTS_AWAITED_EVENTS = 1_000;
/** The directories of the crawl: with one process, and with two. */
const MAIN = 'm1';
const OTHER = 'm2';
const THIRD = 'm3';
/** So long after its death what a process had sent may still arrive; another is started later than that. */
const LAST_WORDS_MS = 50;

/** One process of the crawl, and the store as it has opened it. */
interface Life {
  readonly member: string;
  readonly process: Process;
  readonly store: Store;
}

/** Without a server, on the memory store or SQLite. */
export const simulate = async (
  { seed, fault, always, sitemaps = false }: RunPlan,
  server: SharedServer | null = null,
): Promise<Verdict> => {
  const dice = diceFor(mix(seed, 3));
  const size = server
    ? { sites: 6 + dice(14), pagesMean: 6 + dice(12) }
    : { sites: 8 + dice(40), pagesMean: 6 + dice(30) };
  const web = createWeb({
    seed,
    ...size,
    pagesMax: 150,
    crossLinks: dice(6),
    troubled: dice(3) * 0.1,
    seedSites: 2,
    sitemaps,
  });
  const clock = createVirtualClock();
  const startedAt = clock.now();
  // An archive belongs to one process: who dies while he appends leaves a tail to himself alone.
  const shared =
    server !== null ||
    fault === 'store-slower-than-lease' ||
    (fault !== 'process-dies-in-commit' && dice(4) === 0) ||
    fault === 'process-stands-still' ||
    MEMBER_FAULTS.some((one) => one === fault);
  const settings: SimSettings = {
    // With several, each would know few sites of these small webs: too few to tell whose trouble it is.
    fetchers: fault === 'machine-cut-off' ? 1 + 0 * dice(3) : 1 + dice(3),
    parsers: fault === 'parse-thread-dies' ? 1 : dice(2),
    parseMs: fault === 'parse-thread-dies' ? 300 : 3,
    slots: pick([1, 4, 20, 100], dice(4)),
    delayMs: pick([0, 1_000, 5_000], dice(3)),
    troubleDelayMs: server ? 1_000 : 10_000,
    parkAfter: 8,
    shards: server ? SHARED_SHARDS : SHARDS,
    leaseMs: shared ? (fault === 'member-dies-for-good' ? LONG_LEASE_MS : LEASE_MS) : null,
    // What is sent again may find no room: then nobody is told.
    siteWaitingMax: fault !== 'store-goes-back' && mix(seed, 4) % 5 === 0 ? 3 + (mix(seed, 5) % 5) : null,
    survivesStoreFaults: dice(3) > 0,
  };
  const witness = createWitness(web, settings.delayMs);
  const model = createFetchModel(web, clock, witness);
  const admittedMax = pick(ADMITTED_MAX, mix(seed, 8));
  const embedded = (): Durable => {
    if (shared) return memberDurable(clock, admittedMax);
    const archive = createFaultyArchive();
    return dice(3) === 0 ? memoryDurable(clock, archive) : sqliteDurable(clock, archive);
  };
  /** A process may be alone, with nobody to take over; then its waiting links can lie in files. */
  const isAlone = !shared || (server !== null && fault !== 'member-dies-for-good' && mix(seed, 6) % 4 === 0);
  const isInFiles = server?.kind === 'redis' && isAlone && mix(seed, 7) % 2 === 0;
  const durable = server
    ? sharedDurable(clock, server, { frontier: isInFiles ? 'files' : 'store', linksOn: linksOn(web) })
    : embedded();

  let hits = 0;
  let deaths = 0;
  let lives = 0;
  /** Of three members one is left. */
  const hitsMax = fault === 'member-dies-for-good' ? 2 : HITS_MAX;
  const spent = (): boolean => hits >= (always ? hitsMax : 1);
  /** The webs of shared stores are small: there faults follow each other sooner. */
  const hurry = server ? 3 : 1;
  let nextHit = 20 + dice(fault === 'none' ? 1 : 1_500 / hurry);
  // Sometimes it forgets even the seeds.
  if (fault === 'store-goes-back' && mix(seed, 9) % 3 === 0) nextHit = 1 + dice(5);
  const due = (): boolean => fault !== 'none' && !spent() && clock.events() >= nextHit;
  const hit = (): void => {
    hits++;
    nextHit = clock.events() + 10 + dice(600 / hurry);
  };

  /** Links for which there was no room once: they may be missing at the end. */
  const forgotten = new Set<string>();
  const callMs = pick([2, 2, 60, 500], dice(4));
  /** A death in the middle of a settlement: some are planted in the archive, some on the way to the server. */
  const diesOnTheWay = (): boolean =>
    fault === 'process-dies-in-commit' && server !== null && mix(seed, 100 + hits) % 2 === 0;
  /** Claims are many: where processes share a server, the dice choose which verb is struck next. */
  const isStruck = (verb: string): boolean =>
    verb === pick(['claim', 'settle', 'settle', 'admit'], mix(seed, 200 + hits));
  const faultsOf = (member: string, self: () => Life): StoreFaults => ({
    slowMs: LEASE_MS * 1.5,
    callMs,
    isGone: () => !shared && !self().process.isAlive(),
    cutUntil: () => memberFaults.cutUntil(member),
    onSettled: witness.remembers,
    onRefused: witness.missed,
    onForgotten: (url) => void forgotten.add(url),
    next: (verb) => {
      if (verb === 'census' || !due()) return 'nothing';
      // A process whose beat fails for good ends; here it waits.
      if (verb === 'beat' && fault !== 'store-slower-than-lease') return 'nothing';
      switch (fault) {
        case 'store-fails-before':
          return (hit(), 'before');
        case 'store-fails-after':
          return (hit(), 'after');
        // A claim that is long on its way is the worst: its leases are old when they arrive. A settlement may come when
        // its lease is over.
        case 'store-slower-than-lease':
          if (server) return isStruck(verb) ? (hit(), verb === 'claim' ? 'slow' : 'late') : 'nothing';
          return verb === 'claim' || dice(4) === 0 ? (hit(), 'slow') : 'nothing';
        case 'connection-lost':
          return isStruck(verb) ? (hit(), 'within') : 'nothing';
        case 'process-dies-in-commit':
          return member === MAIN && verb === 'settle' && diesOnTheWay() ? 'within' : 'nothing';
        default:
          return 'nothing';
      }
    },
    within: async (effect) => {
      const dies = fault === 'process-dies-in-commit';
      const die = (): void => {
        hit();
        killProcess(self().process);
        void close(self().store);
      };
      server!.breakNext(dice, () => dies && self().process.isAlive() && die());
      try {
        return await effect();
      } finally {
        server!.restore();
        if (dies && self().process.isAlive()) die(); // all was done, and nobody hears of it
      }
    },
  });

  const answered = new Set<string>();
  /** Those at work; the first one is the main one. */
  let living: Life[] = [];
  const everyone: Life[] = [];
  const start = async (name: string, member: string): Promise<Life> => {
    if (++lives > LIVES_MAX) throw new Error(`${LIVES_MAX} processes ended, and the crawl did not`);
    const opened = await clock.standFor(Promise.resolve(durable.open(member)));
    const store = server ? standing(opened, clock) : 'together' in opened ? gathering(opened, clock) : opened;
    const life: Life = {
      member,
      store,
      process: startProcess({
        name,
        web,
        clock,
        store: faultyStore(
          store,
          clock,
          faultsOf(member, () => life),
        ),
        model,
        settings,
        answered,
      }),
    };
    everyone.push(life);
    return life;
  };
  /** Resolves when somebody kills the process that is waited for. */
  let killed: () => void = () => {};
  const killProcess = (process: Process): void => {
    process.kill();
    deaths++;
    killed();
  };
  /** Where processes share a store, its connections end with the process: no message of the dead arrives after that. */
  const close = async (store: Store): Promise<void> => void (shared && (await store.close()));
  const bury = async ({ process, store }: Life): Promise<void> => {
    process.kill();
    if (!shared) return;
    await clock.sleep(dice(LAST_WORDS_MS));
    await close(store);
  };

  let isOver = false;
  const memberFaults = createMemberFaults({
    clock,
    durable,
    witness,
    dice,
    members: () => living.map(({ member }) => member),
    kill: () => living[0] && killProcess(living[0].process),
    isOver: () => isOver,
  });

  clock.onEvent = () => {
    if (!due()) return;
    const [process] = living.map((life) => life.process);
    if (!process) return;
    const archive = durable.archive(MAIN);
    switch (fault) {
      case 'fetch-thread-dies':
        return (hit(), deaths++, process.killFetcher(dice(8)));
      case 'parse-thread-dies':
        return process.killParser() ? hit() : undefined;
      case 'process-dies':
        return (hit(), killProcess(process));
      case 'process-dies-in-commit':
        if (diesOnTheWay()) return;
        archive.onDeath = () => {
          hit();
          killProcess(process);
        };
        archive.state = 'die';
        return;
      case 'process-stands-still':
        // The worst moment is between a robots.txt and its page: who wakes has a response, and no lease any more. It
        // may never come again.
        if (!model.isAskingRobots() && clock.events() < nextHit + ROBOTS_AWAITED_EVENTS) return;
        hit();
        deaths++;
        process.standStill();
        return void clock.sleep(LEASE_MS * pick([0.5, 0.95, 1.3, 3], dice(4))).then(process.wake);
      case 'disk-full':
        return (hit(), void (archive.state = settings.survivesStoreFaults ? 'full-once' : 'full'));
      case 'request-never-ends':
        return (hit(), void (model.hangShare = always ? 0.3 : 0.1));
      case 'machine-cut-off': {
        if (living.some((one) => one.process.sitesKnown() < KNOWN_SITES_LEAST)) return;
        const means = pick(['names', 'connections'] as const, dice(2));
        return (hit(), void (model.cut = { means, until: clock.now() + pick([2_000, 60_000, 3_600_000], dice(3)) }));
      }
      case 'store-goes-back':
        if (!server && admittedMax < ADMITTED_MAX[0] && clock.now() - startedAt < ESTABLISHED_MS) return;
        return (hit(), deaths++, memberFaults.goBack());
      case 'member-cut-off':
        return (hit(), deaths++, memberFaults.cutOff());
      case 'member-dies-for-good': {
        const dead = living[dice(living.length)]!;
        living = living.filter((one) => one !== dead);
        return (hit(), deaths++, void bury(dead));
      }
      default:
        return;
    }
  };

  /** The store may have gone back a moment after a process saw that all was done: then a resume finds more to do. */
  const isDone = async ({ store }: Life): Promise<boolean> => {
    if (fault !== 'store-goes-back') return true;
    const { waiting, leased } = await store.census();
    return waiting + leased === 0;
  };
  const othersOf = (fault === 'member-dies-for-good' ? [OTHER, THIRD] : [OTHER]).slice(isAlone ? Infinity : 0);
  const crawl = async (): Promise<void> => {
    for (let n = 0; ; n++) {
      const main = await start(`run-${n}`, MAIN);
      const others: Life[] = [];
      for (const member of othersOf) others.push(await start(`other-${member}-${n}`, member));
      living = [main, ...others];
      const death = new Promise<'killed'>((resolve) => (killed = () => resolve('killed')));
      const end = await Promise.race([...living.map((one) => one.process.ended), death]);
      if (end === 'finished' && (await isDone(main))) return;
      // A process that cannot go on does not end at once: visits under way may still settle.
      if (end === 'fault') await clock.sleep(dice(500));
      const buried = [bury(main)];
      // On a shared store another may live on for a while.
      if (fault === 'request-never-ends' && spent()) model.hangShare = 0;
      for (const other of others) {
        if (dice(2) === 0 && end === 'killed') {
          living = [other];
          const outcome = await Promise.race([
            other.process.ended,
            clock.sleep(LEASE_MS * 3).then(() => 'time' as const),
          ]);
          if (outcome === 'finished' && (await isDone(other))) return;
        }
        buried.push(bury(other));
      }
      living = [];
      await clock.sleep(LAST_WORDS_MS + dice(3_000));
      await Promise.all(buried);
    }
  };

  const broken: string[] = [];
  let census: Census | null = null;
  try {
    const work = crawl().then(async () => {
      isOver = true;
      living = [];
      for (const { process, store } of everyone) {
        process.kill();
        await close(store);
      }
      census = await clock.standFor(durable.rest());
    });
    const end = await clock.drive(work, server ? SHARED_EVENTS_MAX : EVENTS_MAX, () =>
      living.some((one) => one.process.deaths() > DEATHS_MAX),
    );
    if (living.some((one) => one.process.deaths() > DEATHS_MAX)) broken.push('threads die without end');
    if (end === 'done')
      await work.catch((error: unknown) => broken.push(`the crawl failed: ${(error as Error).stack}`));
    else broken.push(`the crawl ${end}`);
    for (const { process } of everyone) broken.push(...process.overCeilings());
    broken.push(...witness.violations);
    if (fault === 'member-dies-for-good' && clock.now() - startedAt >= LONG_LEASE_MS)
      broken.push('the sites of a member that died waited for its leases to end');
    if (census) {
      broken.push(
        ...judge({
          web,
          census,
          forgotten,
          holding: await durable.holding(),
          records: durable.records(),
          recordAt: durable.recordAt,
          webFaults: fault === 'request-never-ends',
          parsersDied: fault === 'parse-thread-dies',
          deaths: fault === 'request-never-ends' ? -1 : deaths,
        }),
      );
    }
  } finally {
    isOver = true;
    for (const { store } of everyone) if (server) await store.close();
    durable.remove();
  }
  const final = census as Census | null;
  return {
    seed,
    fault,
    always,
    broken,
    requests: witness.requests,
    gaps: witness.gaps,
    lives,
    faults: hits,
    simulatedMs: clock.now() - startedAt,
    events: clock.events(),
    pages: final?.pages ?? 0,
    links: final ? final.waiting + final.parked + Object.values(final.settled).reduce((sum, n) => sum + n, 0) : 0,
  };
};

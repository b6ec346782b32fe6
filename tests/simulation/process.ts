/** One life of a crawler process: fetch threads as actors, parse threads as actors, a supervisor. */

import { runClaimLoop } from '../../src/visit/claim-loop.ts';
import { createCrew } from '../../src/visit/crew.ts';
import { isFinished } from '../../src/visit/finished.ts';
import type { Parsed, ParseJob } from '../../src/visit/parts.ts';
import type { Store } from '../../src/contract/store.ts';
import { watchPulse } from '../../src/visit/pulse.ts';
import { createReach } from '../../src/visit/reach.ts';
import { visit } from '../../src/visit/visit.ts';
import type { Census } from '../../src/model/census.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { LAPSED_AFTER_MS } from '../../src/model/pulse.ts';
import { ROBOTS_REDIRECTS_MAX } from '../../src/model/robots.ts';
import { parseRobots } from '../../src/politeness/robots.ts';
import { canonicalize } from '../../src/url/canonical.ts';
import { createScope, NO_RULES } from '../../src/url/scope.ts';
import { siteOf } from '../../src/url/site.ts';
import { createBeating } from './beating.ts';
import { robotsText, type FetchModel } from './fetch-model.ts';
import { createParseModel } from './parse-model.ts';
import type { ModelWeb } from './web.ts';

export interface ProcessParts {
  readonly name: string;
  readonly web: ModelWeb;
  readonly clock: Clock;
  readonly store: Store;
  readonly model: FetchModel;
  readonly settings: SimSettings;
  /** Origins that answered, also to processes before this one: the pages of the store tell of them. */
  readonly answered: Set<string>;
}

export interface SimSettings {
  readonly fetchers: number;
  /** 0 parses in the fetch threads: then a poison page kills one of those. */
  readonly parsers: number;
  readonly slots: number;
  readonly parseMs: number;
  readonly delayMs: number;
  readonly troubleDelayMs: number;
  readonly parkAfter: number;
  /** The shards of the crawl. */
  readonly shards: number;
  /** Null: one process owns the store. */
  readonly leaseMs: number | null;
  /** Null: lines have no end. */
  readonly siteWaitingMax: number | null;
  /** A fetch thread that the store fails is started again, and the store lives on; otherwise the process ends. */
  readonly survivesStoreFaults: boolean;
}

export interface Process {
  /** How it ended; never resolves for a process that was killed. */
  readonly ended: Promise<'finished' | 'fault' | 'stopped'>;
  kill(): void;
  isAlive(): boolean;
  stop(): void;
  /** A fetch thread dies, with its visits. */
  killFetcher(index: number): void;
  /** A parse thread dies, with its jobs; false when it had none. */
  killParser(): boolean;
  /**
   * Nothing moves in it until `wake`: what comes meanwhile waits, though time goes on for all others. It cannot hang
   * up, either: what a site has not answered when its visits should have been broken off is not held against it.
   */
  standStill(): void;
  wake(): void;
  /** How many sites the fetch thread that knows fewest knows to have answered. */
  sitesKnown(): number;
  /** Fetch threads that died. */
  deaths(): number;
  /** Ceilings that a fetch thread went over, each as a sentence. */
  overCeilings(): readonly string[];
}

/** The page, and a robots.txt with all its redirects. */
const BODIES_PER_VISIT_MAX = ROBOTS_REDIRECTS_MAX + 2;
const CENSUS_MS = 5_000;
const RESTART_MS = 20;
/** How often a fetch thread looks whether its visits must be broken off. */
const LOOK_MS = 500;

/** The client is dead, so its connections close. */
const hangUp = (requests: Set<() => void>): void => {
  for (const drop of requests) drop();
  requests.clear();
};

export const startProcess = ({ name, web, clock, store, model, settings, answered }: ProcessParts): Process => {
  let alive = true;
  const stop = new AbortController();
  const fetchers = new Map<number, { alive: boolean; readonly requests: Set<() => void> }>();
  const jobs = new Set<(parsed: Parsed) => void>();
  /** Sites that answered before, by fetch thread. */
  const known = new Map<number, number>();
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<'fault'>((resolve) => (fail = () => resolve('fault')));
  const over = new Set<string>();
  let deaths = 0;

  /** What has come while the process stands still; null while it goes. */
  let asleep: (() => void)[] | null = null;
  const whenAwake = (go: () => void): void => {
    if (asleep) asleep.push(go);
    else go();
  };
  /** What the dead wait for never comes. */
  const guard =
    (isAlive: () => boolean) =>
    <T>(promise: Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        promise.then(
          (value) => whenAwake(() => isAlive() && resolve(value)),
          (error: unknown) => whenAwake(() => isAlive() && reject(error as Error)),
        );
      });
  const here = guard(() => alive);
  /** Where processes share a store, it must hear this one. */
  const beating =
    settings.leaseMs === null
      ? null
      : createBeating(
          { beat: () => here(store.beat()) },
          { now: clock.now, sleep: (ms, signal) => here(clock.sleep(ms, signal)) },
        );

  const { work, isPoison } = createParseModel(web);
  const parseInThread = (job: ParseJob): Promise<Parsed> =>
    new Promise((resolve) => {
      jobs.add(resolve);
      void clock.sleep(settings.parseMs).then(() => {
        if (!jobs.delete(resolve)) return;
        resolve(isPoison(job) ? { kind: 'lost', culprit: true } : work(job));
      });
    });

  const startFetcher = (index: number): void => {
    const state = { alive: true, requests: new Set<() => void>() };
    const held = { visits: 0, bodies: 0, jobs: 0, settlements: 0 };
    /** What a fetch thread has in memory has a ceiling: its slots, and what one visit may hold. */
    const count = (what: keyof typeof held, change: number): void => {
      held[what] += change;
      const most = what === 'bodies' ? settings.slots * BODIES_PER_VISIT_MAX : settings.slots;
      if (held[what] > most)
        over.add(`more than ${most} ${what} at one time in a fetch thread of ${settings.slots} slots`);
      if (held.visits === 0 && held.bodies > 0 && what === 'visits')
        over.add(`${held.bodies} bodies stay in memory when no visit is under way`);
    };
    const counted = async <T>(what: keyof typeof held, n: number, work: Promise<T>): Promise<T> => {
      count(what, n);
      try {
        return await work;
      } finally {
        count(what, -n);
      }
    };
    fetchers.set(index, state);
    const mine = guard(() => alive && state.alive);
    const myClock: Clock = { now: clock.now, sleep: (ms, signal) => mine(clock.sleep(ms, signal)) };
    const die = (culprit?: number): void => {
      if (!state.alive) return;
      state.alive = false;
      hangUp(state.requests);
      restart(index, culprit);
    };
    const parseHere = async (job: ParseJob): Promise<Parsed> => {
      await myClock.sleep(settings.parseMs);
      if (isPoison(job)) {
        die(job.lease);
        await mine(new Promise(() => {}));
      }
      return work(job);
    };
    known.set(index, 0);
    const reach = createReach({
      clock: myClock,
      ask: (origin, means) => mine(model.ask(origin, means)),
      namedAt: model.namedAt,
      onCut: () => {},
      onBack: () => {},
      answered: [...answered],
      onKnown: (origin) => {
        answered.add(origin);
        known.set(index, (known.get(index) ?? 0) + 1);
      },
    });
    const watch = beating && watchPulse(beating.pulse, myClock);
    const lookOn = async (): Promise<never> => {
      for (;;) {
        await myClock.sleep(LOOK_MS);
        watch?.look();
      }
    };
    if (watch) void lookOn();
    let lastTerm = 0;
    const { parts, forgetKnown } = createCrew({
      ...(watch ? { pulse: watch } : {}),
      clock: myClock,
      scope: createScope(NO_RULES),
      siteWaitingMax: settings.siteWaitingMax,
      store: {
        admit: (links, siteWaitingMax) => mine(store.admit(links, siteWaitingMax)),
        rules: (digest, site) => mine(store.rules(digest, site)),
        settle: (settlements) => counted('settlements', settlements.length, mine(store.settle(settlements))),
      },
      rules: {
        pace: { delayMs: settings.delayMs, troubleDelayMs: settings.troubleDelayMs, failuresMax: settings.parkAfter },
        productToken: 'gossamer',
        bodyBytesMax: 1_000_000,
        wantsBody: () => true,
        scopeName: 'test',
        sitemaps: web.plan.sitemaps === true,
      },
      fetch: async (request, signal) => {
        const maySend = (): boolean => {
          const goes = request.maySend?.() ?? true;
          const silentMs = beating?.silence() ?? null;
          if (goes && silentMs !== null) over.add(`${request.url} was asked for ${silentMs} ms after the last beat`);
          return goes;
        };
        const exchange = await mine(model.fetch({ ...request, maySend }, signal, state.requests));
        if (exchange.kind === 'answered') count('bodies', 1);
        return mine(reach.judge(exchange));
      },
      forget: (exchange) => {
        if (exchange.kind === 'answered') count('bodies', -1);
      },
      parse: (job) => counted('jobs', 1, settings.parsers === 0 ? parseHere(job) : mine(parseInThread(job))),
      readRobots: async (answer) => parseRobots(robotsText(web, answer.url), 'gossamer'),
    });
    const abort = new AbortController();
    const shards = Array.from({ length: settings.shards }, (_, shard) => shard);
    const loop = runClaimLoop({
      clock: myClock,
      slots: settings.slots,
      stop: stop.signal,
      claim: async ({ visits: wanted }) => {
        await mine(reach.passable(stop.signal));
        if (!alive || !state.alive) return new Promise(() => {}); // it died a moment ago
        const { visits, nextDueAt, term } = await mine(
          store.claim({
            holder: `${name}-fetch-${index}`,
            visits: wanted,
            delayMs: settings.delayMs,
            pagesMax: null,
            sitePagesMax: { all: null },
            leaseMs: settings.leaseMs,
            shards: settings.leaseMs === null ? shards.filter((shard) => shard % settings.fetchers === index) : shards,
          }),
        );
        if (term !== lastTerm) forgetKnown();
        lastTerm = term;
        return { visits: beating ? visits.map((one) => ({ ...one, term })) : visits, nextDueAt };
      },
      visit: (leased) => {
        count('visits', 1);
        return visit(parts, leased, abort.signal).finally(() => count('visits', -1));
      },
    });
    loop.catch((error: unknown) => {
      if (!settings.survivesStoreFaults) return fail(error);
      if (alive && state.alive) die();
    });
    loops.push(mine(loop).catch(() => {}));
  };

  /** As the supervisor does: the leases of the dead are freed, then another takes its place. */
  const restart = (index: number, culprit?: number): void => {
    deaths++;
    void (async () => {
      await here(clock.sleep(RESTART_MS));
      await freeOf(index, culprit);
      if (!stop.signal.aborted) startFetcher(index);
    })().catch(fail);
  };

  /** The store may fail here too: whoever must free leases asks until it is heard. */
  const freeOf = async (index: number, culprit?: number): Promise<void> => {
    const change = {
      kind: 'free',
      holder: `${name}-fetch-${index}`,
      counted: true,
      ...(culprit === undefined ? {} : { culprit }),
    } as const;
    for (;;) {
      try {
        return await here(store.steer([change]));
      } catch (error) {
        if (!settings.survivesStoreFaults) throw error;
        await here(clock.sleep(RESTART_MS));
      }
    }
  };

  const loops: Promise<unknown>[] = [];

  const run = async (): Promise<'finished' | 'stopped'> => {
    const seeds = web.seeds
      .map((url) => canonicalize(url))
      .flatMap((address) => (typeof address === 'string' ? [] : [address]));
    await beating?.begin(fail);
    await here(
      store.admit(
        seeds.map(({ url, host }) => ({
          url,
          site: siteOf(host),
          depth: 0,
          via: '',
          hops: 0,
          fallback: false,
          first: false,
        })),
      ),
    );
    for (let i = 0; i < settings.fetchers; i++) startFetcher(i);
    let before: Census | null = null;
    while (!stop.signal.aborted) {
      const census: Census = await here(store.census());
      if (isFinished(before, census)) {
        stop.abort();
        return 'finished';
      }
      before = census;
      await here(clock.sleep(CENSUS_MS, stop.signal));
    }
    await here(Promise.all(loops));
    return 'stopped';
  };

  return {
    ended: here(Promise.race([run().catch(() => 'fault' as const), failed])),
    kill: () => {
      alive = false;
      stop.abort();
      for (const { requests } of fetchers.values()) hangUp(requests);
    },
    isAlive: () => alive,
    stop: () => stop.abort(),
    killFetcher: (index) => {
      const state = fetchers.get(index % settings.fetchers);
      if (!state?.alive) return;
      state.alive = false;
      hangUp(state.requests);
      restart(index % settings.fetchers);
    },
    killParser: () => {
      if (jobs.size === 0) return false;
      let first = true;
      for (const resolve of [...jobs]) {
        jobs.delete(resolve);
        resolve({ kind: 'lost', culprit: first });
        first = false;
      }
      return true;
    },
    standStill: () => {
      const sleep = (asleep ??= []);
      const requests = [...fetchers.values()].flatMap((fetcher) => [...fetcher.requests]);
      if (beating)
        void clock.sleep(LAPSED_AFTER_MS + LOOK_MS).then(() => asleep === sleep && requests.forEach((drop) => drop()));
    },
    wake: () => {
      const come = asleep ?? [];
      asleep = null;
      // one by one, as from an event loop: what one sets off is under way before the next
      for (const go of come) void clock.sleep(0).then(go);
    },
    overCeilings: () => [...over],
    sitesKnown: () => Math.min(...known.values()),
    deaths: () => deaths,
  };
};

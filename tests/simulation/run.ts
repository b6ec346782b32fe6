/** One seed, one run: a web, a crawl, a fault; then the verdict. */

import type { Census } from '../../src/model/census.ts';
import { diceFor, mix, pick } from '../../src/world/random.ts';
import { createFaultyArchive, faultyStore, gathering, type StoreFaults } from './faulty.ts';
import { createFetchModel } from './fetch-model.ts';
import { memoryDurable, sqliteDurable } from './holding.ts';
import { judge } from './judge.ts';
import { startProcess, type Process, type SimSettings } from './process.ts';
import { createVirtualClock } from './virtual-clock.ts';
import { createWeb } from './web.ts';
import { createWitness } from './witness.ts';

/** What goes wrong: once, or from some moment on always, until the crawl has suffered enough. */
export const FAULTS = [
  'none', 'fetch-thread-dies', 'parse-thread-dies', 'process-dies', 'process-dies-in-commit',
  'store-fails-before', 'store-fails-after', 'store-slower-than-lease', 'disk-full', 'call-never-ends',
] as const;
export type FaultName = (typeof FAULTS)[number];

export interface RunPlan {
  readonly seed: number;
  readonly fault: FaultName;
  readonly always: boolean;
  /** Sites have sitemaps, and the crawl reads them. */
  readonly sitemaps?: boolean;
}

export interface Verdict extends RunPlan {
  readonly broken: readonly string[];
  readonly calls: number;
  readonly gaps: number;
  readonly pages: number;
  readonly links: number;
  readonly lives: number;
  readonly faults: number;
  readonly simulatedMs: number;
  readonly events: number;
}

/** A crawl that is hit this often by a fault that does not stop has suffered enough. */
const HITS_MAX = 6;
/** A process whose threads die more often than this would be given up. */
const DEATHS_MAX = 1_000;
/** Ten times what the longest run of the first thousand seeds needs. */
const EVENTS_MAX = 1_000_000;
const LEASE_MS = 45_000;

export const planOf = (seed: number): RunPlan => ({ seed, fault: pick(FAULTS, mix(seed, 1)), always: mix(seed, 2) % 2 === 0 });

export const simulate = async ({ seed, fault, always, sitemaps = false }: RunPlan): Promise<Verdict> => {
  const dice = diceFor(mix(seed, 3));
  const web = createWeb({ seed, sites: 8 + dice(40), pagesMean: 6 + dice(30), pagesMax: 150, crossLinks: dice(6), troubled: dice(3) * 0.1, seedSites: 2, sitemaps });
  const clock = createVirtualClock();
  // An archive belongs to one process: who dies while he appends leaves a tail to himself alone.
  const shared = fault === 'store-slower-than-lease' || (fault !== 'process-dies-in-commit' && dice(4) === 0);
  const settings: SimSettings = {
    fetchers: 1 + dice(3), parsers: fault === 'parse-thread-dies' ? 1 : dice(2), parseMs: fault === 'parse-thread-dies' ? 300 : 3, slots: pick([1, 4, 20, 100], dice(4)), delayMs: pick([0, 1_000, 5_000], dice(3)),
    troubleDelayMs: 10_000, parkAfter: 8, leaseMs: shared ? LEASE_MS : null, siteWaitingMax: mix(seed, 4) % 5 === 0 ? 3 + (mix(seed, 5) % 5) : null, survivesStoreFaults: dice(3) > 0,
  };
  const witness = createWitness(web, settings.delayMs);
  const model = createFetchModel(web, clock, witness);
  const archive = createFaultyArchive();
  const durable = shared || dice(3) === 0 ? memoryDurable(clock, archive, shared) : sqliteDurable(clock, archive);

  let hits = 0;
  let deaths = 0;
  let lives = 0;
  const spent = (): boolean => hits >= (always ? HITS_MAX : 1);
  let nextHit = 20 + dice(fault === 'none' ? 1 : 1_500);
  const due = (): boolean => fault !== 'none' && !spent() && clock.events() >= nextHit;
  const hit = (): void => {
    hits++;
    nextHit = clock.events() + 10 + dice(600);
  };

  /** Links for which there was no room once: they may be missing at the end. */
  const forgotten = new Set<string>();
  const faults: StoreFaults = {
    slowMs: LEASE_MS * 1.5,
    callMs: pick([2, 2, 60, 500], dice(4)),
    onSettled: witness.remembers,
    onForgotten: (url) => void forgotten.add(url),
    next: (verb) => {
      if (verb === 'census' || !due()) return 'nothing';
      switch (fault) {
        case 'store-fails-before': return hit(), 'before';
        case 'store-fails-after': return hit(), 'after';
        // A claim that is long on its way is the worst: its leases are old when they arrive.
        case 'store-slower-than-lease': return verb === 'claim' || dice(4) === 0 ? (hit(), 'slow') : 'nothing';
        default: return 'nothing';
      }
    },
  };

  let processes: Process[] = [];
  const everyone: Process[] = [];
  const start = (name: string): Process => {
    lives++;
    const store = durable.open();
    const process = startProcess({ name, web, clock, store: faultyStore('run' in store ? gathering(store, clock) : store, clock, faults), model, settings });
    everyone.push(process);
    return process;
  };
  /** Resolves when somebody kills the process that is waited for. */
  let killed: () => void = () => {};
  const killProcess = (process: Process): void => {
    process.kill();
    deaths++;
    killed();
  };

  clock.onEvent = () => {
    if (!due()) return;
    const [process] = processes;
    if (!process) return;
    switch (fault) {
      case 'fetch-thread-dies': return hit(), deaths++, process.killFetcher(dice(8));
      case 'parse-thread-dies': return process.killParser() ? hit() : undefined;
      case 'process-dies': return hit(), killProcess(process);
      case 'process-dies-in-commit':
        archive.onDeath = () => {
          hit();
          killProcess(process);
        };
        archive.state = 'die';
        return;
      case 'disk-full': return hit(), void (archive.state = settings.survivesStoreFaults ? 'full-once' : 'full');
      case 'call-never-ends': return hit(), void (model.hangShare = always ? 0.3 : 0.1);
      default: return;
    }
  };

  const crawl = async (): Promise<void> => {
    for (let n = 0; ; n++) {
      const process = start(`run-${n}`);
      const others = shared ? [start(`other-${n}`)] : [];
      processes = [process, ...others];
      const death = new Promise<'killed'>((resolve) => (killed = () => resolve('killed')));
      const end = await Promise.race([process.ended, ...others.map((other) => other.ended), death]);
      if (end === 'finished') return;
      // A process that cannot go on does not end at once: visits under way may still settle.
      if (end === 'fault') await clock.sleep(dice(500));
      process.kill();
      // On a shared store another may live on for a while.
      if (fault === 'call-never-ends' && spent()) model.hangShare = 0;
      for (const other of others) {
        if (dice(2) === 0 && end === 'killed') {
          const outcome = await Promise.race([other.ended, clock.sleep(LEASE_MS * 3).then(() => 'time' as const)]);
          if (outcome === 'finished') return;
        }
        other.kill();
      }
      processes = [];
      await clock.sleep(50 + dice(3_000));
    }
  };

  const startedAt = clock.now();
  const broken: string[] = [];
  let census: Census | null = null;
  try {
    const work = crawl().then(async () => (census = await durable.open().census()));
    const end = await clock.drive(work, EVENTS_MAX, () => processes.some((one) => one.deaths() > DEATHS_MAX));
    if (processes.some((one) => one.deaths() > DEATHS_MAX)) broken.push('threads die without end');
    if (end === 'done') await work.catch((error: unknown) => broken.push(`the crawl failed: ${(error as Error).stack}`));
    else broken.push(`the crawl ${end}`);
    for (const one of everyone) broken.push(...one.overCeilings());
    broken.push(...witness.violations);
    if (census) {
      broken.push(...judge({
        web, census, forgotten, holding: durable.holding(), records: archive.records(), webFaults: fault === 'call-never-ends', parsersDied: fault === 'parse-thread-dies',
        deaths: fault === 'call-never-ends' ? -1 : deaths,
      }));
    }
  } finally {
    durable.remove();
  }
  const final = census as Census | null;
  return {
    seed, fault, always, broken, calls: witness.calls, gaps: witness.gaps, lives, faults: hits, simulatedMs: clock.now() - startedAt, events: clock.events(),
    pages: final?.pages ?? 0, links: final ? final.waiting + final.parked + Object.values(final.settled).reduce((sum, n) => sum + n, 0) : 0,
  };
};

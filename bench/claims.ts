/**
 * `npm run bench -- claims`: how long a claim takes on each store while hundreds of visits are under way and millions
 * of links wait.
 *
 * The claim loop of a fetch thread, over the message port of the real store thread, as in a crawl; visits are a random
 * wait, then admit their links and settle, batched as crew.ts does. There is no web and no archive. The time of a claim
 * is what the loop waits.
 */

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { runClaimLoop, type LoopGauges } from '../src/visit/claim-loop.ts';
import { ADMITTED_MAX, SETTLED_MAX } from '../src/visit/crew.ts';
import type { Claimed, Store } from '../src/contract/store.ts';
import { createClock, type Clock } from '../src/lib/clock.ts';
import { createGroup } from '../src/lib/group.ts';
import { writeCount } from '../src/lib/units.ts';
import type { Link } from '../src/model/link.ts';
import { completeSettings } from '../src/model/read-settings.ts';
import type { Settlement } from '../src/model/settlement.ts';
import type { Visit } from '../src/model/visit.ts';
import { startSupervisor, type Supervisor } from '../src/threads/supervisor.ts';
import { leaseMsOf } from '../src/threads/visit-times.ts';
import { SHARDS } from '../src/url/shard.ts';
import { createTeller, telling } from './progress.ts';
import { ALL_SHARDS, createStoreLoad, LINKS_PER_BATCH, settled, type StoreLoad } from './store-load.ts';
import { startPlace, STORES, type StorePlace } from './store-places.ts';
import { fixed } from './whole-crawl.ts';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    stores: { type: 'string', default: STORES.join(',') },
    /** Concurrent visits. */
    slots: { type: 'string', default: '500,2000' },
    /** Links that wait before the first case. */
    links: { type: 'string', default: '2000000' },
    sites: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '60' },
    /** How long a visit takes: from-to. */
    'visit-ms': { type: 'string', default: '50-500' },
    /** The delay of a site, start to start. With 5 s, 100,000 sites give 20,000 visits a second: one is always due. */
    'delay-ms': { type: 'string', default: '5000' },
    /** Links that a visit admits. */
    'new-links': { type: 'string', default: '2' },
  },
});
const stores = values.stores.split(',').map((name) => {
  const kind = STORES.find((one) => one === name);
  if (!kind) throw new Error(`there is no store "${name}": --stores takes ${STORES.join(', ')}`);
  return kind;
});
const [VISIT_MS_LEAST, VISIT_MS_MOST] = values['visit-ms'].split('-').map(Number) as [number, number];
const DELAY_MS = Number(values['delay-ms']);
const NEW_LINKS = Number(values['new-links']);
const MEASURE_MS = Number(values.seconds) * 1_000;
/** The claim loop opens its slots over five seconds. */
const RAMP_MS = 8_000;
/** Batches under way at once while links are brought in. */
const FILL_LANES = 8;
/** A store that takes no more than this is measured with what it has then. */
const FILL_MS_MAX = 20 * 60_000;
/** More say nothing new, and a loop around a broken store would never end. */
const ERRORS_MAX = 100;
const ERROR_PAUSE_MS = 100;

const settings = completeSettings({ email: 'bench@example.org', delayMs: DELAY_MS }, availableParallelism());

interface Case {
  readonly store: Store;
  readonly clock: Clock;
  readonly load: StoreLoad;
  readonly place: StorePlace;
  readonly slots: number;
}

interface Tried {
  readonly claimsMs: number[];
  readonly errors: Map<string, number>;
  visits: number;
  /** Claims that found fewer sites due than there were free slots. */
  short: number;
  underWay: number[];
}

const NOTHING: Claimed = { visits: [], nextDueAt: null, entry: 0, term: 0 };

const fill = async (load: StoreLoad, what: string): Promise<void> => {
  const tell = createTeller();
  const until = performance.now() + FILL_MS_MAX;
  const target = Number(values.links);
  await load.seed();
  let known = Math.min(Number(values.sites), target);
  const lane = async (): Promise<void> => {
    while (known < target && performance.now() < until) {
      known += LINKS_PER_BATCH;
      await load.admit();
      tell(() => `${what}: ${writeCount(known)} of ${writeCount(target)} links`);
    }
  };
  await Promise.all(Array.from({ length: FILL_LANES }, lane));
};

const runCase = async ({ store, clock, load, place, slots }: Case): Promise<Tried> => {
  const tried: Tried = { claimsMs: [], errors: new Map(), visits: 0, short: 0, underWay: [] };
  const stop = new AbortController();
  const gauges: LoopGauges = { visits: 0, slots: 0 };
  let measuring = false;
  let errors = 0;
  const note = async (error: unknown): Promise<void> => {
    const { message } = error as Error;
    tried.errors.set(message, (tried.errors.get(message) ?? 0) + 1);
    if (++errors >= ERRORS_MAX) stop.abort();
    await clock.sleep(ERROR_PAUSE_MS, stop.signal);
  };

  const links = createGroup<Link>(
    async (batch) => void (await store.admit(batch, settings.maxWaitingPerSite)),
    ADMITTED_MAX,
  );
  const settlements = createGroup<Settlement>(async (batch) => void (await store.settle(batch)), SETTLED_MAX);
  const visit = async (leased: Visit): Promise<void> => {
    await clock.sleep(VISIT_MS_LEAST + Math.random() * (VISIT_MS_MOST - VISIT_MS_LEAST));
    try {
      if (NEW_LINKS > 0) await links.add(load.fresh(NEW_LINKS));
      await settlements.add([
        {
          ...settled(leased),
          pace: { dueAt: leased.claimedAt + DELAY_MS, delayMs: DELAY_MS, crawlDelayMs: 0, responseMs: 50, failures: 0 },
        },
      ]);
      if (measuring) tried.visits++;
    } catch (error) {
      await note(error);
    }
  };
  const claim = async ({ visits }: { visits: number }): Promise<Claimed> => {
    const counts = measuring;
    const startedAt = performance.now();
    try {
      const claimed = await store.claim({
        holder: 'fetch-1',
        shards: ALL_SHARDS,
        visits,
        delayMs: DELAY_MS,
        pagesMax: null,
        sitePagesMax: { all: null },
        leaseMs: place.kind === 'sqlite' ? null : leaseMsOf(settings),
      });
      if (counts) {
        tried.claimsMs.push(performance.now() - startedAt);
        if (claimed.visits.length < visits) tried.short++;
      }
      return claimed;
    } catch (error) {
      await note(error);
      return NOTHING;
    }
  };

  const looking = setInterval(() => measuring && tried.underWay.push(gauges.visits), 250);
  const loop = runClaimLoop({ clock, slots, claim, visit, stop: stop.signal }, gauges);
  await clock.sleep(RAMP_MS, stop.signal);
  measuring = true;
  await telling(
    () =>
      `${place.kind}, ${slots} concurrent visits: ${writeCount(tried.visits)} visits in ${writeCount(tried.claimsMs.length)} claims, the longest ${fixed(longest(tried), 0)} ms`,
    () => clock.sleep(MEASURE_MS, stop.signal),
  );
  measuring = false;
  clearInterval(looking);
  stop.abort();
  await loop;
  return tried;
};

/** Not Math.max with a spread: there may be more claims than a function takes arguments. */
const longest = ({ claimsMs }: Tried): number => claimsMs.reduce((most, ms) => Math.max(most, ms), 0);
const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;

const lineOf = (
  tried: Tried,
  { kind, slots, waiting, warnings }: { kind: string; slots: number; waiting: number; warnings: number },
): string => {
  const sorted = tried.claimsMs.toSorted((a, b) => a - b);
  const mean = tried.underWay.reduce((sum, n) => sum + n, 0) / Math.max(1, tried.underWay.length);
  const errors = [...tried.errors.values()].reduce((sum, n) => sum + n, 0);
  return `| ${[
    kind,
    writeCount(slots),
    writeCount(waiting),
    writeCount(mean),
    writeCount(sorted.length),
    writeCount(tried.visits),
    writeCount((tried.visits * 1_000) / MEASURE_MS),
    fixed(quantile(sorted, 0.5), 0),
    fixed(quantile(sorted, 0.99), 0),
    fixed(longest(tried), 0),
    writeCount(tried.short),
    warnings,
    errors,
  ].join(' | ')} |`;
};

const measureStore = async (place: StorePlace): Promise<void> => {
  const warnings: string[] = [];
  const warn = (message: string): void => {
    warnings.push(message);
    console.error(`${place.kind}: ${message}`);
  };
  const supervisor: Supervisor = await startSupervisor({
    start: {
      settings,
      dir: place.dir,
      userAgent: 'Gossamer/bench',
      productToken: 'gossamer',
      version: 'bench',
      logPages: false,
      store: { url: place.url, crawl: 'bench', member: 'm1', shards: SHARDS, dir: place.dir, frontier: 'store' },
    },
    onFault: ({ message }) => warn(`the store thread is gone: ${message}`),
    log: (level, message) => (level === 'warn' ? warn(message) : undefined),
  });
  try {
    const { store, anchor } = supervisor;
    const load = createStoreLoad(() => store, Math.min(Number(values.sites), Number(values.links)));
    console.error(`${place.kind}: bringing in ${writeCount(Number(values.links))} links`);
    await fill(load, place.kind);
    for (const slots of values.slots.split(',').map(Number)) {
      const { waiting } = await store.census();
      const before = warnings.length;
      const tried = await runCase({ store, clock: createClock(anchor), load, place, slots });
      console.log(lineOf(tried, { kind: place.kind, slots, waiting, warnings: warnings.length - before }));
      for (const [message, times] of tried.errors)
        console.error(`${place.kind}, ${slots} concurrent visits: ${times} times: ${message}`);
    }
  } finally {
    await supervisor.halt();
  }
};

console.log(
  `Claims with ${writeCount(Number(values.links))} links waiting on ${writeCount(Number(values.sites))} sites with a delay of ${values['delay-ms']} ms; visits of ${values['visit-ms']} ms that admit ` +
    `${NEW_LINKS} new links each; ${values.seconds} s a case after ${RAMP_MS / 1_000} s of ramp; ${availableParallelism()} cores, Node ${process.version}\n`,
);
console.log(
  '| store | concurrent visits | waiting links | under way, mean | claims | visits | visits/s | claim ms: p50 | p99 | maximum | claims that found too few due | warnings | errors |',
);
console.log(`| ${Array.from({ length: 13 }, () => '---').join(' | ')} |`);
for (const kind of stores) {
  const place = await startPlace(kind);
  try {
    await measureStore(place);
  } finally {
    await place.remove();
  }
}

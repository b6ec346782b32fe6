/**
 * `npm run bench -- stores`: the same work on each store as a crawl grows, and a whole crawl of the small web on each.
 *
 * The work is that of store-load.ts, verb by verb. Rates are per second of wall time; CPU is given per operation, of
 * this process (which also makes the links) and of the server with all its processes. One store after the other, so
 * that whatever a server puts off strikes nobody else.
 */

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { writeCount } from '../src/lib/units.ts';
import { knownTotal } from '../src/model/census.ts';
import type { StoreKind } from '../src/store/address.ts';
import { createTeller, telling } from './progress.ts';
import { createStoreLoad, LINKS_PER_BATCH, VISITS_PER_BATCH, type StoreLoad } from './store-load.ts';
import { openIn, startPlace, STORES, type Kept, type OpenedStore, type StorePlace } from './store-places.ts';
import {
  CRAWL_SLOTS,
  BENCH_SITES,
  crawlWorld,
  endWorld,
  fixed,
  median,
  pagesPerSecond,
  perPage,
  startWorld,
  type Used,
} from './whole-crawl.ts';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    stores: { type: 'string', default: STORES.join(',') },
    /** Known links. */
    levels: { type: 'string', default: '100000,1000000,10000000' },
    /** PostgreSQL is measured up to here. */
    'postgres-max': { type: 'string', default: '1000000' },
    sites: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    /** Per verb and round. */
    batches: { type: 'string', default: '20' },
    /** Batches under way at once, where the store is a server. */
    lanes: { type: 'string', default: '4' },
    /** Of a whole crawl; 0 for no crawls. */
    pages: { type: 'string', default: '10000' },
    crawls: { type: 'string', default: '3' },
    flags: { type: 'string', default: '' },
  },
});
const stores = values.stores.split(',').map((name) => {
  const kind = STORES.find((one) => one === name);
  if (!kind) throw new Error(`there is no store "${name}": --stores takes ${STORES.join(', ')}`);
  return kind;
});
const LEVELS = values.levels
  .split(',')
  .map(Number)
  .toSorted((a, b) => a - b);
const SITES = Math.min(Number(values.sites), LEVELS[0]!);
const ROUNDS = Number(values.rounds);
const BATCHES = Number(values.batches);
/** Longer than a round takes. */
const LEASE_MS = 240_000;
/** About 20 MiB of log in SQLite, as between two checkpoints of a crawl. */
const BATCHES_PER_CHECKPOINT = 10;

const VERBS = ['admit', 'claim', 'settle'] as const;
type Verb = (typeof VERBS)[number];
const PER_BATCH: Readonly<Record<Verb, number>> = {
  admit: LINKS_PER_BATCH,
  claim: VISITS_PER_BATCH,
  settle: VISITS_PER_BATCH,
};

interface Cost {
  readonly wallMs: number;
  readonly clientMs: number;
  readonly serverMs: number;
  readonly done: number;
}

interface Level {
  readonly kind: StoreKind;
  readonly known: number;
  readonly costs: Readonly<Record<Verb, Cost[]>>;
  readonly kept: Kept;
}

const lanesOf = (kind: StoreKind): number => (kind === 'sqlite' ? 1 : Number(values.lanes));

/** Does it so often, some at a time; answers with the sum of what each answers. */
const inLanes = async (lanes: number, times: number, work: () => Promise<unknown>): Promise<number> => {
  let left = times;
  let sum = 0;
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      const done = await work(); // first: other lanes add to the sum meanwhile
      if (typeof done === 'number') sum += done;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return sum;
};

const measure = async (place: StorePlace, work: () => Promise<number>): Promise<Cost> => {
  const serverBefore = await place.serverCpuMs();
  const cpu = process.cpuUsage();
  const wall = performance.now();
  const done = await work();
  const wallMs = performance.now() - wall;
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs, clientMs: (user + system) / 1_000, serverMs: (await place.serverCpuMs()) - serverBefore, done };
};

const grow = async (
  load: StoreLoad,
  { kind, opened, from, to }: { kind: StoreKind; opened: OpenedStore; from: number; to: number },
): Promise<number> => {
  const tell = createTeller();
  let known = from;
  if (known === 0) {
    await load.seed();
    known = SITES;
  }
  while (known < to) {
    const batches = Math.min(BATCHES_PER_CHECKPOINT, Math.ceil((to - known) / LINKS_PER_BATCH));
    await inLanes(lanesOf(kind), batches, load.admit);
    opened.settleDown();
    known += batches * LINKS_PER_BATCH;
    tell(() => `${kind}: ${writeCount(known)} of ${writeCount(to)} links`);
  }
  return known;
};

/** One crawl that grows from level to level; it is measured at each. */
const measureStore = async (kind: StoreKind): Promise<{ levels: Level[]; setup: string }> => {
  const place = await startPlace(kind);
  try {
    const opened = await openIn(place);
    const { store } = opened;
    const leaseMs = kind === 'sqlite' ? null : LEASE_MS;
    const load = createStoreLoad(() => ({ ...store, claim: (ask) => store.claim({ ...ask, leaseMs }) }), SITES);
    const levels: Level[] = [];
    const tell = createTeller();
    let known = 0;
    for (const to of LEVELS.filter((level) => kind !== 'postgres' || level <= Number(values['postgres-max']))) {
      console.error(`${kind}: growing to ${writeCount(to)} links`);
      known = await grow(load, { kind, opened, from: known, to });
      const kept = perUrl(await opened.kept(), knownTotal(await store.census()));
      const costs: Level['costs'] = { admit: [], claim: [], settle: [] };
      for (let round = 1; round <= ROUNDS; round++) {
        for (const verb of VERBS)
          costs[verb].push(await measure(place, () => verbBatches(verb, { load, opened, kind })));
        tell(() => `${kind} at ${writeCount(to)} links: round ${round} of ${ROUNDS}`);
      }
      levels.push({ kind, known, costs, kept });
      known = knownTotal(await store.census());
    }
    await store.close();
    return { levels, setup: place.setup };
  } finally {
    await place.remove();
  }
};

const verbBatches = async (
  verb: Verb,
  { load, opened, kind }: { load: StoreLoad; opened: OpenedStore; kind: StoreKind },
): Promise<number> => {
  const counted = await inLanes(lanesOf(kind), BATCHES, load[verb]);
  opened.settleDown();
  const done = verb === 'admit' ? BATCHES * LINKS_PER_BATCH : counted;
  // Fewer would be another piece of work, and its rate would be of something else.
  if (done !== BATCHES * PER_BATCH[verb])
    throw new Error(`${kind}: ${verb} did ${done} of ${BATCHES * PER_BATCH[verb]}`);
  return done;
};

const perUrl = (kept: Kept, known: number): Kept => {
  const share = (bytes: number | null): number | null => (bytes === null ? null : bytes / known);
  return { disk: share(kept.disk), memory: share(kept.memory), seen: share(kept.seen) };
};

const bytesCell = (bytes: number | null): string => (bytes === null ? '-' : fixed(bytes, bytes < 100 ? 1 : 0));
const sumOf = (costs: readonly Cost[], figure: keyof Cost): number => costs.reduce((sum, one) => sum + one[figure], 0);

const levelLine = ({ kind, known, costs, kept }: Level): string => {
  const rates = VERBS.map((verb) => writeCount(median(costs[verb].map(({ done, wallMs }) => (done * 1_000) / wallMs))));
  const cpuUs = (figure: 'clientMs' | 'serverMs'): string =>
    VERBS.map((verb) => fixed((1_000 * sumOf(costs[verb], figure)) / sumOf(costs[verb], 'done'), 0)).join(' / ');
  return `| ${[kind, writeCount(known), ...rates, cpuUs('clientMs'), kind === 'sqlite' ? '-' : cpuUs('serverMs'), bytesCell(kept.disk), bytesCell(kept.memory), bytesCell(kept.seen)].join(' | ')} |`;
};

const compareVerbs = async (): Promise<void> => {
  const lines: string[] = [];
  const setups: string[] = [];
  for (const kind of stores) {
    const { levels, setup } = await measureStore(kind);
    lines.push(...levels.map(levelLine));
    if (setup) setups.push(setup);
  }
  console.log(
    `${writeCount(SITES)} sites, batches of ${LINKS_PER_BATCH} links and ${VISITS_PER_BATCH} visits, ${values.lanes} under way at once on a server, ${ROUNDS} rounds of ${BATCHES} batches; ` +
      `median rates, mean CPU; ${availableParallelism()} cores, Node ${process.version}; ${setups.join('; ')}\n`,
  );
  console.log(
    '| store | known links | links admitted/s | claims/s | settlements/s | CPU us of the client: link / claim / settlement | of the server | bytes per known URL: disk | memory | the set of known URLs |',
  );
  console.log(`| ${Array.from({ length: 10 }, () => '---').join(' | ')} |\n${lines.join('\n')}\n`);
};

interface StoreCrawl extends Used {
  readonly serverMs: number;
}

/** The stores take turns: whatever else the machine does strikes all of them. */
const compareCrawls = async (): Promise<void> => {
  const pages = Number(values.pages);
  const world = await startWorld('A');
  const places = await Promise.all(stores.map(startPlace));
  const runs = new Map<StoreKind, StoreCrawl[]>(stores.map((kind) => [kind, []]));
  try {
    for (let round = 1; round <= Number(values.crawls); round++) {
      for (const place of places) {
        const startedAt = performance.now();
        const before = await place.serverCpuMs();
        const used = await telling(
          () =>
            `whole crawl ${round} of ${values.crawls} on ${place.kind}: ${fixed((performance.now() - startedAt) / 1_000, 0)} s`,
          () =>
            crawlWorld(world, {
              home: place.dir,
              pages,
              flags: ['--store', place.url, '--name', `bench_${round}`, ...values.flags.split(' ').filter(Boolean)],
            }),
        );
        runs.get(place.kind)!.push({ ...used, serverMs: (await place.serverCpuMs()) - before });
      }
    }
  } finally {
    for (const place of places) await place.remove();
    await endWorld(world);
  }
  console.log(
    `A whole crawl over http: ${writeCount(pages)} pages (workload A) on ${writeCount(BENCH_SITES)} sites, ${CRAWL_SLOTS} concurrent visits, no delay${values.flags && `, ${values.flags}`}; medians of ${values.crawls}\n`,
  );
  console.log(
    '| store | CPU ms / page of the crawler | of the server | together | pages / s | peak memory of the crawler MiB |\n| --- | --- | --- | --- | --- | --- |',
  );
  for (const [kind, crawls] of runs) {
    const server = (one: StoreCrawl): number => one.serverMs / one.pages;
    const cells = [
      median(crawls.map(perPage)),
      median(crawls.map(server)),
      median(crawls.map((one) => perPage(one) + server(one))),
    ].map((n) => fixed(n));
    console.log(
      `| ${[kind, ...cells, fixed(median(crawls.map(pagesPerSecond)), 0), fixed(median(crawls.map((one) => one.peakBytes)) / 1024 ** 2, 0)].join(' | ')} |`,
    );
  }
};

if (ROUNDS > 0) await compareVerbs();
if (Number(values.pages) > 0 && Number(values.crawls) > 0) await compareCrawls();

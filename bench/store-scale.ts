/**
 * `npm run bench:store`: what the embedded store does in a second, and what it costs, as a crawl grows.
 *
 * Rates are per second of this process's CPU, because the machine may be shared; wall time is given beside them.
 */

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { anchorNow, createClock } from '../src/lib/clock.ts';
import { writeBytes, writeCount } from '../src/lib/units.ts';
import { knownTotal } from '../src/model/census.ts';
import type { CanonicalUrl, Link } from '../src/model/link.ts';
import { snapshotPath } from '../src/store/files.ts';
import { openSqlite, type SqliteStore } from '../src/store/sqlite/store.ts';
import {
  ALL_SHARDS,
  createStoreLoad,
  LINKS_PER_BATCH,
  settled,
  VISITS_PER_BATCH,
  type StoreLoad,
} from './store-load.ts';

const { values } = parseArgs({
  options: {
    levels: { type: 'string', default: '100000,1000000,10000000' },
    sites: { type: 'string', default: '100000' },
    batches: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '15' },
    hot: { type: 'string', default: '2000000' },
  },
});
const ROUNDS = Number(values.rounds);
const BATCHES = Number(values.batches);
const home = mkdtempSync(join(tmpdir(), 'gossamer-store-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

const archive = {
  append: () => [],
  end: () => ({ file: '', bytes: 0 }),
  cut: () => {},
  sync: () => {},
  close: () => {},
};
const open = (path: string, more: { checkpointRows?: number } = {}): SqliteStore =>
  openSqlite({
    path,
    ...more,
    clock: (notBeforeMs) => createClock(anchorNow(notBeforeMs)),
    archive: () => archive,
  });

interface Cost {
  readonly cpuMs: number;
  readonly wallMs: number;
}

const measure = async (work: () => Promise<unknown>): Promise<Cost> => {
  const cpu = process.cpuUsage();
  const wall = performance.now();
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { cpuMs: (user + system) / 1_000, wallMs: performance.now() - wall };
};

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
const sum = (costs: readonly Cost[]): Cost =>
  costs.reduce((all, one) => ({ cpuMs: all.cpuMs + one.cpuMs, wallMs: all.wallMs + one.wallMs }), {
    cpuMs: 0,
    wallMs: 0,
  });

const VERBS = ['admit', 'claim', 'settle'] as const;
type Verb = (typeof VERBS)[number];
const PER_BATCH: Readonly<Record<Verb, number>> = {
  admit: LINKS_PER_BATCH,
  claim: VISITS_PER_BATCH,
  settle: VISITS_PER_BATCH,
};

interface Level {
  readonly links: number;
  readonly path: string;
  readonly load: StoreLoad;
  readonly costs: Readonly<Record<Verb, Cost[]>>;
  store: SqliteStore;
}

const build = async (links: number): Promise<Level> => {
  const path = join(home, `crawl-${links}.db`);
  const level: Level = {
    links,
    path,
    store: open(path),
    load: createStoreLoad(() => level.store, Number(values.sites)),
    costs: { admit: [], claim: [], settle: [] },
  };
  let saidAt = performance.now();
  await level.load.seed();
  for (let known = Number(values.sites); known < links; known += LINKS_PER_BATCH) {
    await level.load.admit();
    if (performance.now() - saidAt < 10_000) continue;
    saidAt = performance.now();
    console.error(`${writeCount(known)} of ${writeCount(links)} links`);
  }
  return level;
};

/**
 * Every verb pays for its own log: the checkpoint that moves it into the database is part of its cost, and happens
 * nowhere else.
 */
const round = async ({ load, costs, store }: Level): Promise<void> => {
  for (const verb of VERBS) {
    costs[verb].push(
      await measure(async () => {
        for (let i = 0; i < BATCHES; i++) await load[verb]();
        store.checkpoint();
      }),
    );
  }
};

const rateOf = ({ costs }: Level, verb: Verb, clock: keyof Cost): number =>
  (PER_BATCH[verb] * BATCHES * 1_000) / median(costs[verb].map((one) => one[clock]));

/** How long it takes to open, and what is in memory then. */
const reopened = async (level: Level, snapshot: boolean): Promise<Cost> => {
  await level.store.close();
  if (!snapshot) rmSync(snapshotPath(level.path), { force: true });
  return measure(async () => void (level.store = open(level.path)));
};

const grow = async (): Promise<void> => {
  const levels: Level[] = [];
  for (const links of values.levels.split(',').map(Number)) levels.push(await build(links));
  for (const level of levels) {
    await level.store.close();
    level.store = open(level.path, { checkpointRows: Infinity }); // `round` asks for them
  }
  // The levels take turns, so that whatever else the machine does strikes all of them.
  for (let i = 0; i < ROUNDS; i++) for (const level of levels) await round(level);
  console.log(
    '| known links | links admitted/s | claims/s | settlements/s | memory per known URL | database | open, from a snapshot | open, from the log |',
  );
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- |');
  for (const level of levels) {
    const rates = VERBS.map((verb) => {
      const share = rateOf(level, verb, 'cpuMs') / rateOf(levels[0]!, verb, 'cpuMs');
      return `${writeCount(rateOf(level, verb, 'cpuMs'))} (${Math.round(100 * share)} %; wall ${writeCount(rateOf(level, verb, 'wallMs'))})`;
    });
    const known = knownTotal(await level.store.census());
    const perUrl = level.store.seenBytes() / known;
    const fromSnapshot = await reopened(level, true);
    const fromLog = await reopened(level, false);
    const { size } = statSync(level.path);
    console.log(
      `| ${writeCount(known)} | ${rates.join(' | ')} | ${perUrl.toFixed(1)} B | ${writeBytes(size)}, ${Math.round(size / known)} B per URL | ` +
        `${(fromSnapshot.wallMs / 1_000).toFixed(2)} s | ${(fromLog.wallMs / 1_000).toFixed(2)} s |`,
    );
  }
  for (const { store } of levels) await store.close();
};

/** What a claim of one visit costs when its site has that many links. */
const claimsOf = async (path: string, { sites, links }: { sites: number; links: number }): Promise<Cost> => {
  const store = open(path);
  let n = 0;
  for (let left = links; left > 0; left -= 1_000) {
    for (let site = 0; site < sites; site++) {
      await store.admit(
        Array.from(
          { length: Math.min(left, 1_000) },
          (): Link => ({
            url: `https://www.site-${site}.example/section/page-${n++}.html` as CanonicalUrl,
            site: `site-${site}.example`,
            depth: 2,
            via: 'https://www.site.example/',
            hops: 0,
            fallback: false,
            first: false,
          }),
        ),
      );
    }
  }
  const claims: Cost[] = [];
  for (let i = 0; i < 3_000; i++) {
    let visits: Awaited<ReturnType<SqliteStore['claim']>>['visits'] = [];
    claims.push(
      await measure(async () => {
        ({ visits } = await store.claim({
          holder: 'bench',
          shards: ALL_SHARDS,
          visits: 1,
          delayMs: 0,
          pagesMax: null,
          sitePagesMax: { all: null },
          leaseMs: null,
        }));
      }),
    );
    await store.settle(visits.map(settled));
  }
  await store.close();
  return sum(claims);
};

console.log(
  `${writeCount(Number(values.sites))} sites, ${ROUNDS} rounds of ${BATCHES} batches, the levels in turn; per second of CPU; medians; Node ${process.version}\n`,
);
await grow();
const hot = await claimsOf(join(home, 'hot.db'), { sites: 1, links: Number(values.hot) });
const small = await claimsOf(join(home, 'small.db'), { sites: 600, links: 10 });
console.log(
  `\nA claim of one visit, alone in its transaction: ${((hot.cpuMs * 1_000) / 3_000).toFixed(0)} us of CPU from a site with ${writeCount(Number(values.hot))} waiting links, ` +
    `${((small.cpuMs * 1_000) / 3_000).toFixed(0)} us from one of 600 sites with ten.`,
);

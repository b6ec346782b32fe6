/**
 * `npm run simulate:scale`: the real frontier and the real embedded store on a web of many sites, with virtual
 * time: throughput, the longest wait of a due site, bytes per URL. Politeness is judged all along.
 */

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Store } from '../../src/contract/store.ts';
import { writeBytes, writeCount, writeDuration } from '../../src/lib/units.ts';
import { knownTotal } from '../../src/model/census.ts';
import { openSqlite } from '../../src/store/sqlite/store.ts';
import { SHARDS } from '../../src/url/shard.ts';
import { createFaultyArchive, faultyStore, gathering } from './faulty.ts';
import { createFetchModel } from './fetch-model.ts';
import { startProcess } from './process.ts';
import { createVirtualClock } from './virtual-clock.ts';
import { createWeb } from './web.ts';
import { createWitness } from './witness.ts';

const { values } = parseArgs({
  options: {
    sites: { type: 'string', default: '100000' },
    pages: { type: 'string', default: '1000' },
    visits: { type: 'string', default: '1000000' },
    delay: { type: 'string', default: '5' },
    slots: { type: 'string', default: '2000' },
    links: { type: 'string', default: '6' },
    seed: { type: 'string', default: '1' },
  },
});
const VISITS = Number(values.visits);
const delayMs = Number(values.delay) * 1_000;

const dir = mkdtempSync(join(tmpdir(), 'gossamer-scale-'));
const clock = createVirtualClock();
const web = createWeb({
  seed: Number(values.seed),
  sites: Number(values.sites),
  pagesMean: Number(values.pages),
  pagesMax: 200_000,
  crossLinks: Number(values.links),
  troubled: 0.05,
  seedSites: Math.ceil(Number(values.sites) / 4),
});
const witness = createWitness(web, delayMs);
const model = createFetchModel(web, clock, witness);
// Records are not what is measured here: they are counted and dropped.
const archive = {
  ...createFaultyArchive(),
  append: (records: readonly Uint8Array[]) => records.map(() => ({ file: '', offset: 0 })),
  end: () => ({ file: '', bytes: 0 }),
  cut: () => {},
};
const real = openSqlite({ path: join(dir, 'crawl.db'), clock: () => clock, archive: () => archive });

let settled = 0;
let longestWaitMs = 0;
let waitedMs = 0;
let claimed = 0;
let reached: () => void = () => {};
const enough = new Promise<void>((resolve) => (reached = resolve));
const startedAt = performance.now();
const virtualAt = clock.now();

const counting = (store: Store): Store => ({
  ...store,
  claim: async (ask) => {
    const answer = await store.claim(ask);
    for (const { claimedAt, pace } of answer.visits) {
      longestWaitMs = Math.max(longestWaitMs, claimedAt - pace.dueAt);
      waitedMs += claimedAt - pace.dueAt;
      claimed++;
    }
    return answer;
  },
  settle: async (settlements) => {
    const answer = await store.settle(settlements);
    const before = settled;
    settled += settlements.length;
    if (Math.floor(settled / 100_000) > Math.floor(before / 100_000)) await tell();
    if (settled >= VISITS) reached();
    return answer;
  },
});

const tell = async (): Promise<void> => {
  const census = await real.census();
  const seconds = (performance.now() - startedAt) / 1_000;
  console.log(
    `${writeCount(settled)} visits, ${writeCount(knownTotal(census))} links known on ${writeCount(census.sites.known)} sites; ` +
      `${writeCount(settled / seconds)} visits/s real, ${writeCount((settled * 1_000) / (clock.now() - virtualAt))}/s simulated; ` +
      `${writeBytes(process.memoryUsage.rss())} memory, ${(real.seenBytes() / knownTotal(census)).toFixed(1)} bytes per URL in the seen table, ` +
      `${writeBytes(statSync(join(dir, 'crawl.db')).size)} database; longest wait of a due site ${writeDuration(longestWaitMs)}`,
  );
};

const store = faultyStore(gathering(real, clock), clock, {
  next: () => 'nothing',
  slowMs: 0,
  callMs: 2,
  onSettled: witness.remembers,
  onRefused: () => {},
  onForgotten: () => {},
});
const crawler = startProcess({
  name: 'scale',
  web,
  clock,
  store: counting(store),
  model,
  answered: new Set(),
  settings: {
    fetchers: 1,
    parsers: 1,
    parseMs: 3,
    slots: Number(values.slots),
    delayMs,
    troubleDelayMs: 10_000,
    parkAfter: 6,
    shards: SHARDS,
    leaseMs: null,
    siteWaitingMax: null,
    survivesStoreFaults: false,
  },
});
const end = await clock.drive(Promise.race([enough, crawler.ended]), Infinity, () => false);
crawler.kill();
await tell();
const seconds = (performance.now() - startedAt) / 1_000;
console.log(
  `${end === 'done' ? '' : `the crawl ${end}; `}${writeCount(settled)} visits in ${writeDuration(seconds * 1_000)}, ${writeDuration(clock.now() - virtualAt)} simulated, ` +
    `${writeCount(witness.gaps)} gaps checked, ${witness.violations.length} violations; a due site waited ${writeDuration(waitedMs / Math.max(1, claimed))} on average, ${writeDuration(longestWaitMs)} at the most; ` +
    `peak memory ${writeBytes(process.resourceUsage().maxRSS * 1024)}`,
);
for (const text of witness.violations) console.log(`  ${text}`);
if (witness.violations.length > 0) process.exitCode = 1;
await real.close();
rmSync(dir, { recursive: true, force: true });

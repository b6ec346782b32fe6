/** A small web, a temporary folder, and the binary: where the tests of the whole take place. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonValue } from '../../src/model/hooks.ts';
import type { PageRow } from '../../src/model/page.ts';
import type { WorldPlan } from '../../src/world/plan.ts';
import { tinyPlan } from '../../src/world/presets.ts';
import type { Report } from '../../src/world/report.ts';
import { serveWorld, type ServedWorld } from '../../src/world/serve.ts';
import { createWorld, type World } from '../../src/world/world.ts';
import { endBinaries, runBinary, startBinary, type Ran, type Running } from './binary.ts';

/** Healthy http sites only. */
export const plainPlan = (sites: number, pages: number, sitePagesMax = 40): WorldPlan => ({
  ...tinyPlan,
  sites,
  pages,
  sitePagesMax,
  oddities: false,
  https: false,
});

/** Flag without its dashes, and its value; true for a switch, null to leave one out. */
export type Flags = Readonly<Record<string, string | number | true | readonly string[] | null>>;

export const DELAY_MS = 50;

/** Small times, so that a crawl of a small web is over in seconds. */
const QUICK: Flags = {
  email: 'test@example.org',
  delay: `${DELAY_MS}ms`,
  timeout: '60s', // no machine is slow enough for one
  'trouble-delay': '200ms',
  'park-after': 3,
  'disk-reserve': '10MiB',
};

export const flagWords = (flags: Flags): string[] =>
  Object.entries(flags).flatMap(([name, value]) => {
    if (value === null) return [];
    if (value === true) return [`--${name}`];
    return (Array.isArray(value) ? value : [value]).flatMap((one) => [`--${name}`, String(one)]);
  });

/** What `status --json` prints. */
export interface Status {
  readonly process: number | null;
  readonly waiting: number;
  readonly leased: number;
  readonly parked: number;
  readonly held: number;
  readonly settled: number;
  readonly settledByOutcome: Readonly<Record<string, number>>;
  readonly pages: number;
  readonly known: number;
  readonly archivedBytes: number;
  readonly sites: { readonly known: number; readonly parked: number; readonly held: number };
}

/** What a line of `pages --format jsonl` has. */
export type ListedPage = Omit<PageRow, 'time' | 'extracted'> & {
  readonly time: string;
  readonly extracted: JsonValue;
};

export interface Stage {
  /** The temporary folder; the crawl lives in `dir`, which is not there at first. */
  readonly home: string;
  readonly dir: string;
  readonly seedFile: string;
  readonly world: World;
  readonly served: ServedWorld;
  /** What is typed to start a crawl of this small web. */
  crawlWords(flags?: Flags): string[];
  crawl(flags?: Flags): Promise<Ran>;
  startCrawl(flags?: Flags): Running;
  resume(flags?: Flags): Promise<Ran>;
  startResume(flags?: Flags): Running;
  gossamer(...args: readonly string[]): Promise<Ran>;
  status(): Promise<Status>;
  pages(flags?: Flags): Promise<ListedPage[]>;
  report(): Report;
  close(): Promise<void>;
}

export const openStage = async (plan: WorldPlan): Promise<Stage> => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-e2e-'));
  const world = createWorld(plan);
  return stageOf(home, world, await serveWorld(world));
};

/** A stage for one test. */
export const onStage = async (plan: WorldPlan, story: (stage: Stage) => Promise<void>): Promise<void> => {
  const stage = await openStage(plan);
  try {
    await story(stage);
  } finally {
    await stage.close();
  }
};

const stageOf = (home: string, world: World, served: ServedWorld): Stage => {
  const dir = join(home, 'crawl');
  const seedFile = join(home, 'seeds.txt');
  writeFileSync(
    seedFile,
    world
      .seeds()
      .map((seed) => `${seed}\n`)
      .join(''),
  );
  const crawlWords = (flags: Flags = {}): string[] => [
    'crawl',
    seedFile,
    '--dir',
    dir,
    ...flagWords({ ...QUICK, 'connect-to': served.connectTo, ...flags }),
  ];
  const resumeWords = (flags: Flags): string[] => ['resume', dir, ...flagWords(flags)];
  const gossamer = (...args: readonly string[]): Promise<Ran> => runBinary(args, { cwd: home });
  return {
    home,
    dir,
    seedFile,
    world,
    served,
    crawlWords,
    gossamer,
    crawl: (flags) => gossamer(...crawlWords(flags)),
    startCrawl: (flags) => startBinary(crawlWords(flags), { cwd: home }),
    resume: (flags = {}) => gossamer(...resumeWords(flags)),
    startResume: (flags = {}) => startBinary(resumeWords(flags), { cwd: home }),
    status: async () => {
      const ran = await gossamer('status', dir, '--json');
      assert.equal(ran.code, 0, ran.stderr);
      return JSON.parse(ran.stdout) as Status;
    },
    pages: async (flags = {}) => {
      const ran = await gossamer('pages', dir, '--format', 'jsonl', ...flagWords(flags));
      assert.equal(ran.code, 0, ran.stderr);
      return ran.stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as ListedPage);
    },
    report: () => served.record.report({ delayMs: DELAY_MS }),
    close: async () => {
      endBinaries();
      await served.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
};

/** The exit code is the one expected; otherwise the test shows what was said. */
export const assertCode = (ran: Ran, code: number): void =>
  assert.equal(ran.code, code, `exit code ${ran.code ?? ran.signal}, not ${code}:\n${ran.stdout}\n${ran.stderr}`);

/** Every link is in exactly one state. */
export const assertAddsUp = (status: Status): void => {
  const { known, waiting, leased, parked, held, settled } = status;
  assert.equal(known, waiting + leased + parked + held + settled);
  assert.equal(
    settled,
    Object.values(status.settledByOutcome).reduce((sum, n) => sum + n, 0),
  );
};

type Fault = 'tooEarly' | 'overlaps' | 'forbidden' | 'twice' | 'missing' | 'unexpected' | 'beforeRobots';

/** The small web has nothing to complain about, but for what is named. */
export const assertNoFault = (report: Report, ...but: readonly Fault[]): void => {
  const { tooEarly, overlaps, forbidden, twice, missing, unexpected, beforeRobots } = report;
  const faults = Object.entries({ tooEarly, overlaps, forbidden, twice, missing, unexpected, beforeRobots }).filter(
    ([name, found]) => found.length > 0 && !but.includes(name as Fault),
  );
  assert.deepEqual(Object.fromEntries(faults), {});
};

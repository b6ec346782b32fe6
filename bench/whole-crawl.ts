/** A whole crawl of the small web by the real binary, measured: both are processes of their own. */

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuByThread, threadCpu } from './threads.ts';
import type { WorkloadName } from './workloads.ts';

export const CRAWL_SLOTS = 100;
export const BENCH_SITES = 10_000;

export interface Used {
  readonly cpuMs: number;
  readonly peakBytes: number;
  readonly wallMs: number;
  readonly pages: number;
  readonly threads: ReadonlyMap<string, number>;
}

export interface CrawlUsed extends Used {
  /** CPU of the small web meanwhile. */
  readonly webCpuMs: number;
  /** Links that the store took as new. */
  readonly known: number;
}

export interface World {
  readonly connectTo: readonly string[];
  readonly seeds: readonly string[];
  readonly process: ChildProcess;
}

export const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** It has far more pages than a crawl takes. */
export const startWorld = async (workload: WorkloadName, sites = BENCH_SITES): Promise<World> => {
  const child = fork(path('./world.ts'), [workload, String(sites)]);
  const [message] = (await once(child, 'message')) as [Omit<World, 'process'>];
  return { ...message, process: child };
};

export const endWorld = async (world: World): Promise<void> => {
  world.process.disconnect();
  await once(world.process, 'exit');
};

/** CPU that the small web has used so far. */
export const webCpu = (world: World): number =>
  [...cpuByThread(world.process.pid!).values()].reduce((sum, ms) => sum + ms, 0);

/** `home` is a folder for what is gone afterwards. */
export const measured = async (home: string, args: readonly string[]): Promise<Used & { out: string }> => {
  const usage = join(home, 'usage.json');
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--import', path('./usage.ts'), ...args], {
    env: { ...process.env, GOSSAMER_USAGE: usage, ...compileCache(home) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const threads = threadCpu(child.pid!);
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  const [code] = (await once(child, 'close')) as [number];
  const wallMs = performance.now() - startedAt;
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${out}`);
  return {
    ...(JSON.parse(readFileSync(usage, 'utf8')) as { cpuMs: number; peakBytes: number }),
    wallMs,
    pages: 0,
    threads: threads(),
    out,
  };
};

/** What was compiled is remembered for all alike, from the second run on, as it is for whoever uses the program. */
export const compileCache = (home: string): { NODE_COMPILE_CACHE: string } => ({
  NODE_COMPILE_CACHE: join(home, 'compiled'),
});

export interface CrawlPlan {
  readonly home: string;
  readonly pages: number;
  readonly flags: readonly string[];
  /** Another checkout's program; this one's unless it is said. */
  readonly program?: string;
}

/** Where the directory of the last crawl is. */
export const crawlDir = (home: string): string => join(home, 'crawl');

/** What Node is started with to crawl; the directory of the crawl before is gone. */
export const crawlArgs = (world: World, plan: CrawlPlan): string[] => {
  const { home, pages, flags, program = path('../bin/gossamer.js') } = plan;
  rmSync(crawlDir(home), { recursive: true, force: true });
  const seedFile = join(home, 'seeds.txt');
  writeFileSync(seedFile, world.seeds.join('\n'));
  return [
    ...[program, 'crawl', seedFile, '--email', 'bench@example.org', '--dir', crawlDir(home), '--delay', '0', '--json'],
    ...['--max-pages', String(pages), '--concurrency', String(CRAWL_SLOTS)],
    ...world.connectTo.flatMap((rule) => ['--connect-to', rule]),
    ...flags,
  ];
};

/** Counts the pages that were fetched; time is that of the run, without the start of Node. */
export const crawlWorld = async (world: World, plan: CrawlPlan): Promise<CrawlUsed> => {
  const webBefore = webCpu(world);
  const used = await measured(plan.home, crawlArgs(world, plan));
  const end = JSON.parse(used.out.trim().split('\n').at(-1)!) as CrawlEnd;
  return {
    ...used,
    pages: end.settledByOutcome.fetched ?? 0,
    wallMs: end.elapsedMs,
    webCpuMs: webCpu(world) - webBefore,
    known: end.known,
  };
};

/** The part that is read of the last line of `crawl --json`. */
interface CrawlEnd {
  readonly elapsedMs: number;
  readonly settledByOutcome: { readonly fetched?: number };
  readonly known: number;
}

export const perPage = (used: Used): number => used.cpuMs / used.pages;
export const pagesPerSecond = (used: Used): number => (used.pages * 1_000) / used.wallMs;
export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
export const fixed = (n: number, digits = 2): string => n.toFixed(digits);
export const mebibytes = (bytes: number): string => fixed(bytes / 1024 ** 2, 0);

/** A whole crawl of the small web by the real binary, measured: both are processes of their own. */

import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { threadCpu } from './threads.ts';

export const CRAWL_SLOTS = 100;

export interface Used {
  readonly cpuMs: number;
  readonly peakBytes: number;
  readonly wallMs: number;
  readonly pages: number;
  readonly threads: ReadonlyMap<string, number>;
}

export interface World {
  readonly connectTo: readonly string[];
  readonly seeds: readonly string[];
  readonly process: ChildProcess;
}

export const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** It has four times as many pages as a crawl takes. */
export const startWorld = async ({
  scheme,
  sites,
  pages,
}: {
  scheme: string;
  sites: string;
  pages: number;
}): Promise<World> => {
  const child = fork(path('./world.ts'), [scheme, sites, String(pages * 4)]);
  const [message] = (await once(child, 'message')) as [Omit<World, 'process'>];
  return { ...message, process: child };
};

export const endWorld = async (world: World): Promise<void> => {
  world.process.disconnect();
  await once(world.process, 'exit');
};

/** `home` is a folder for what is gone afterwards. */
export const measured = async (home: string, args: readonly string[]): Promise<Used & { out: string }> => {
  const usage = join(home, 'usage.json');
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--import', path('./usage.ts'), ...args], {
    // What was compiled is remembered for all alike, from the second run on, as it is for whoever uses the program.
    env: { ...process.env, GOSSAMER_USAGE: usage, NODE_COMPILE_CACHE: join(home, 'compiled') },
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

export interface CrawlPlan {
  readonly home: string;
  readonly pages: number;
  readonly flags: readonly string[];
  /** Another checkout's program; this one's unless it is said. */
  readonly program?: string;
}

/** Where the directory of the last crawl is. */
export const crawlDir = (home: string): string => join(home, 'crawl');

/** Counts the pages that were fetched; time is that of the run, without the start of Node. */
export const crawlWorld = async (
  world: World,
  { home, pages, flags, program = path('../bin/gossamer.js') }: CrawlPlan,
): Promise<Used> => {
  rmSync(crawlDir(home), { recursive: true, force: true });
  const seedFile = join(home, 'seeds.txt');
  writeFileSync(seedFile, world.seeds.join('\n'));
  const used = await measured(home, [
    program,
    'crawl',
    seedFile,
    '--email',
    'bench@example.org',
    '--dir',
    crawlDir(home),
    '--delay',
    '0',
    '--max-pages',
    String(pages),
    '--concurrency',
    String(CRAWL_SLOTS),
    '--json',
    ...world.connectTo.flatMap((rule) => ['--connect-to', rule]),
    ...flags,
  ]);
  const { elapsedMs, settledByOutcome } = JSON.parse(used.out.trim().split('\n').at(-1)!) as {
    elapsedMs: number;
    settledByOutcome: { fetched?: number };
  };
  return { ...used, pages: settledByOutcome.fetched ?? 0, wallMs: elapsedMs };
};

export const perPage = (used: Used): number => used.cpuMs / used.pages;
export const pagesPerSecond = (used: Used): number => (used.pages * 1_000) / used.wallMs;
export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
export const fixed = (n: number, digits = 2): string => n.toFixed(digits);

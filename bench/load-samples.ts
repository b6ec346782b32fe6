/** What a crawl under load looks like from outside, second by second, and what it tells of itself. */

import { readdirSync, readFileSync } from 'node:fs';
import { cpuByThread } from './threads.ts';

export interface Sample {
  readonly atMs: number;
  readonly memoryBytes: number;
  readonly descriptors: number;
  readonly cpuMs: ReadonlyMap<string, number>;
}

const EVERY_MS = 1_000;

export interface Sampling {
  readonly samples: readonly Sample[];
  stop(): void;
}

export const sampleProcess = (pid: number): Sampling => {
  const samples: Sample[] = [];
  const startedAt = performance.now();
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      samples.push({
        atMs: performance.now() - startedAt,
        memoryBytes: Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) * 1024,
        descriptors: readdirSync(`/proc/${pid}/fd`).length,
        cpuMs: cpuByThread(pid),
      });
    } catch {
      // it is ending
    }
  }, EVERY_MS);
  return { samples, stop: () => clearInterval(timer) };
};

/** A line of `--json`, as far as it is looked at here. */
export interface Told {
  readonly phase: string;
  readonly elapsedMs: number;
  readonly pages: number;
  readonly settled: number;
  readonly settledByOutcome: Readonly<Record<string, number>>;
  readonly leased: number;
  readonly waiting: number;
  readonly sites: { readonly known: number };
  readonly pagesPerSecond: number;
  readonly visits: number;
  readonly requests: number;
  readonly failures: number;
  readonly sockets: number;
  readonly bodyBytes: number;
  readonly waitingForParser: number;
  readonly restarts: number;
  readonly longestVisitMs: number;
  readonly longestRequestMs: number;
  readonly visitRequestsMsMax: number;
  readonly loopDelay: Delay;
  readonly loopDelayOverall: Delay;
  readonly reason?: string;
}

interface Delay {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export const readTold = (stdout: string): Told[] =>
  stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Told);

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** The first and the last third of a run, without its first and last moments: opening slots, and ending. */
export const thirds = <T>(list: readonly T[]): { first: readonly T[]; last: readonly T[] } => {
  const third = Math.ceil(list.length / 3);
  return { first: list.slice(0, third), last: list.slice(-third) };
};

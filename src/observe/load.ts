/** How much a crawl has to do, and how busy what does it is: over the last seconds. */

import { availableParallelism } from 'node:os';
import type { Settings } from '../model/settings.ts';
import { coreTimes } from './core-times.ts';
import type { Board } from './metrics/board.ts';
import { readSeries } from './metrics/cells.ts';
import { sumOf } from './metrics/totals.ts';

/** All means are over this time: shorter jumps, longer lags. */
const WINDOW_MS = 5_000;

/** The next site that may be visited, if none may be now. */
export interface NextSite {
  readonly name: string;
  readonly inMs: number;
  readonly failures: number;
}

/** The share of its time in which the event loop of a thread had work, 0 to 1, by role: the busiest thread of each. */
export interface Busy {
  readonly store: number;
  readonly fetch: number;
}

export interface Load {
  /** Means of sites that may be visited now, of visits under way, of slots that are open, and of waiting pages. */
  readonly sitesDue: number;
  readonly visits: number;
  readonly slots: number;
  readonly waitingForParser: number;
  readonly sitesKnown: number;
  readonly next: NextSite | null;
  /** Requests that ended, per second, and how long they took in the mean; if none did, since when not. */
  readonly visitsPerSecond: number;
  readonly responseMs: number;
  /** How long a claim took in the mean. */
  readonly claimMs: number;
  /** Shares of all cores: in use by anybody, and by this process. */
  readonly cpu: { readonly machine: number; readonly crawl: number };
  readonly busy: Busy;
  readonly settings: Pick<Settings, 'concurrency' | 'fetchers' | 'parsers'>;
}

/** What is looked at some times a second; counters grow for ever, the others are of the moment. */
export interface LoadSample {
  readonly atMs: number;
  readonly sitesDue: number;
  readonly visits: number;
  readonly slots: number;
  readonly waitingForParser: number;
  readonly busy: Busy;
  readonly counters: {
    readonly requests: number;
    readonly requestSeconds: number;
    readonly claims: number;
    readonly claimSeconds: number;
    /** Time of all cores of the machine, how much of it they were in use, and CPU time of this process. */
    readonly coreMs: number;
    readonly coreBusyMs: number;
    readonly processCpuMs: number;
  };
}

export type LoadNow = Pick<Load, 'sitesKnown' | 'next' | 'settings'>;

export const loadOf = (samples: readonly LoadSample[], now: LoadNow): Load => {
  const mean = (value: (sample: LoadSample) => number): number =>
    samples.reduce((sum, sample) => sum + value(sample), 0) / samples.length;
  const [first, last] = [samples[0]!, samples.at(-1)!];
  const grown = (name: keyof LoadSample['counters']): number => last.counters[name] - first.counters[name];
  const ms = last.atMs - first.atMs;
  return {
    ...now,
    sitesDue: mean(({ sitesDue }) => sitesDue),
    visits: mean(({ visits }) => visits),
    slots: last.slots,
    waitingForParser: mean(({ waitingForParser }) => waitingForParser),
    visitsPerSecond: ratio(grown('requests') * 1_000, ms),
    responseMs: grown('requests') > 0 ? (grown('requestSeconds') * 1_000) / grown('requests') : ms,
    claimMs: ratio(grown('claimSeconds') * 1_000, grown('claims')),
    cpu: {
      machine: Math.max(
        ratio(grown('coreBusyMs'), grown('coreMs')),
        ratio(grown('processCpuMs'), ms * availableParallelism()),
      ),
      crawl: ratio(grown('processCpuMs'), ms * availableParallelism()),
    },
    busy: { store: mean(({ busy }) => busy.store), fetch: mean(({ busy }) => busy.fetch) },
  };
};

const ratio = (part: number, whole: number): number => (whole > 0 ? part / whole : 0);

/** The samples of the last WINDOW_MS, this one included. */
export const keepSamples = (samples: readonly LoadSample[], last: LoadSample): LoadSample[] => [
  ...samples.filter(({ atMs }) => last.atMs - atMs <= WINDOW_MS),
  last,
];

/** Reads the numbers that the threads wrote, and those of the machine. */
export const sampleOf = (board: Board, { sitesDue, busy }: Pick<LoadSample, 'sitesDue' | 'busy'>): LoadSample => {
  const { user, system } = process.cpuUsage();
  const [requests, requestSeconds] = countAndSum(board, 'fetch_seconds', ({ phase }) => phase === 'total');
  const [claims, claimSeconds] = countAndSum(board, 'store_verb_seconds', ({ verb }) => verb === 'claim');
  return {
    atMs: performance.now(),
    sitesDue,
    busy,
    visits: sumOf(board, 'visits'),
    slots: sumOf(board, 'slots'),
    waitingForParser: sumOf(board, 'visits_waiting_for_parser'),
    counters: { requests, requestSeconds, claims, claimSeconds, processCpuMs: (user + system) / 1_000, ...coreTimes() },
  };
};

/** All buckets of a histogram but for the last cell, which is the sum. */
const countAndSum = (
  board: Board,
  name: 'fetch_seconds' | 'store_verb_seconds',
  isCounted: (labels: Readonly<Record<string, string>>) => boolean,
): [number, number] => {
  let [count, sum] = [0, 0];
  for (const { cells } of board.threads())
    for (const series of readSeries(cells, name)) {
      if (!isCounted(series.labels)) continue;
      sum += series.cells.at(-1)!;
      for (const one of series.cells.slice(0, -1)) count += one;
    }
  return [count, sum];
};

/** What a crawl is doing at one moment, for whoever shows it. */

import type { Census } from '../model/census.ts';
import type { Settings } from '../model/settings.ts';
import type { Activity } from './activity.ts';
import type { Limit } from './limit.ts';
import type { Readings } from './readings.ts';

export type Phase = 'opening' | 'loading seeds' | 'crawling' | 'stopping' | 'ended';

export interface Snapshot extends Readings {
  readonly phase: Phase;
  /** Null until the store is open. */
  readonly census: Census | null;
  readonly elapsedMs: number;
  /**
   * Pages that this process settled in this run, and per second: over the last seconds and since its start. The census
   * has those of the whole crawl, which other processes may work on, too.
   */
  readonly pagesThisRun: number;
  readonly pagesPerSecond: number;
  readonly pagesPerSecondMean: number;
  /** What limits the speed; null while it is not known, and when there is nothing to do. */
  readonly limit: Limit | null;
  /** The last pages and the sites of the last minute; null where nobody asked to see them. */
  readonly activity: Activity | null;
  /** The time after which a visit sends no more requests. */
  readonly visitRequestsMsMax: number;
  /** How far archived pages are read again for links that a wider scope takes; null when they are not. */
  readonly rereading: { readonly done: number; readonly total: number } | null;
  readonly seedsLoaded: number;
  readonly memoryBytes: number;
  /** Free space on the disk of the crawl; null until it was looked at. */
  readonly diskFreeBytes: number | null;
  readonly restarts: number;
  /** How far towards the nearest limit, 0 to 1; null where there is none. */
  readonly progress: number | null;
}

/** The rate "now" is over this time: shorter jumps, longer lags. */
const RATE_MS = 5_000;

export interface RateMeter {
  note(atMs: number, total: number): number;
}

/** Events per second over the last RATE_MS. */
export const createRateMeter = (): RateMeter => {
  const points: { atMs: number; total: number }[] = [];
  return {
    note: (atMs, total) => {
      points.push({ atMs, total });
      while (points.length > 2 && atMs - points[0]!.atMs > RATE_MS) points.shift();
      const first = points[0]!;
      const ms = atMs - first.atMs;
      return ms < 500 ? 0 : ((total - first.total) * 1000) / ms;
    },
  };
};

/** Settled links that no server answered, or that got an error. */
export const errorsOf = (census: Census): number => {
  let errors = 0;
  for (const [name, n] of Object.entries(census.settled)) if (isError(name)) errors += n;
  return errors;
};

/** Whether a link with this outcome got no answer, or an error. */
export const isError = (outcome: string): boolean =>
  outcome.startsWith('failed-') ||
  outcome === 'server-error' ||
  outcome === 'client-error' ||
  outcome === 'parse-failed' ||
  outcome === 'gave-up';

/** How much of its limits a run has used, from 0 to 1; null where it has none. */
export const progressOf = (
  { maxPages, maxDurationMs }: Pick<Settings, 'maxPages' | 'maxDurationMs'>,
  { pages, elapsedMs }: { readonly pages: number; readonly elapsedMs: number },
): number | null => {
  const shares = [
    ...(maxPages === null ? [] : [pages / maxPages]),
    ...(maxDurationMs === null ? [] : [elapsedMs / maxDurationMs]),
  ];
  return shares.length > 0 ? Math.min(1, Math.max(...shares)) : null;
};

/**
 * A run in the test's own process, with threads of its own, whose programs can be exchanged for ones with planted
 * faults.
 */

import { createCrawl, reopenCrawl } from '../../src/run/open.ts';
import type { Run, RunOptions } from '../../src/run/run-options.ts';
import { startRun } from '../../src/run/run.ts';
import type { RunEnd } from '../../src/run/run-end.ts';
import type { Settings } from '../../src/model/settings.ts';
import { DELAY_MS, type Stage } from './stage.ts';
import { PATIENCE_MS } from './until.ts';

export interface RunHere {
  /** A crawl that is there already goes on. */
  readonly again?: boolean;
  readonly entries?: NonNullable<RunOptions['entries']>;
  readonly settings?: Partial<Settings>;
  /** Done once the folder of the crawl is there. */
  readonly prepare?: () => void;
  readonly onMetrics?: (url: string, run: Run) => void;
  /** Called some times a second. */
  readonly onLook?: (run: Run) => void;
}

export interface RanHere {
  readonly end: RunEnd;
  readonly logged: string[];
  /** All metrics after the end. */
  readonly metrics: string;
}

export const runHere = async (
  stage: Stage,
  { again = false, entries = {}, settings = {}, prepare = () => {}, onMetrics, onLook }: RunHere,
): Promise<RanHere> => {
  const logged: string[] = [];
  const { lock, identity, store, change } = await (again ? reopenCrawl : createCrawl)({
    dir: stage.dir,
    settings: {
      email: 'test@example.org',
      delayMs: DELAY_MS,
      timeoutMs: 60_000,
      diskReserveBytes: 0,
      fetchers: 1,
      parsers: 1,
      connectTo: stage.served.connectTo,
      ...settings,
    },
    seeds: { files: again ? [] : [stage.seedFile], urls: [] },
    excludeFile: null,
    say: () => {},
  });
  prepare();
  const run: Run = startRun({
    dir: stage.dir,
    settings: identity.settings,
    store,
    change,
    log: (level, message) => void logged.push(`${level} ${message}`),
    entries,
    onMetrics: (url) => onMetrics?.(url, run),
    onSnapshot: () => onLook?.(run),
  });
  const timer = setTimeout(() => {
    logged.push(`the run hangs and is halted: ${JSON.stringify(run.snapshot())}`);
    run.halt();
  }, PATIENCE_MS);
  try {
    return { end: await run.ended, logged, metrics: run.metrics() };
  } finally {
    clearTimeout(timer);
    lock.release();
  }
};

/** A program of a thread in this folder. */
export const entry = (name: string): URL => new URL(`./${name}.ts`, import.meta.url);

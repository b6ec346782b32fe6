/** The library: the same crawl as the binary's, in your own program. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FILES } from './crawl/folder.ts';
import { createCrawl, reopenCrawl } from './crawl/open.ts';
import { startRun, type RunEnd } from './crawl/run.ts';
import { createLog, type Level } from './observe/log.ts';
import type { Snapshot } from './observe/snapshot.ts';
import type { Settings } from './model/settings.ts';

export type { Settings, Keep } from './model/settings.ts';
export type { Census } from './model/census.ts';
export type { OutcomeName } from './model/outcome.ts';
export type { Snapshot } from './observe/snapshot.ts';
export type { EndReason, RunEnd } from './crawl/run.ts';
export { UsageError } from './model/read-settings.ts';
export { VERSION } from './crawl/version.ts';

export interface CrawlOptions extends Partial<Settings> {
  /** Sites see it: an address where their owners reach you. */
  readonly email: string;
  /** Where the crawl lives; one that is there already is resumed. Default `./crawl`. */
  readonly dir?: string;
  /** Domains, hosts or URLs. */
  readonly seeds?: readonly string[];
  readonly seedFile?: string;
  readonly excludeFile?: string;
  readonly retryParked?: boolean;
  /** Called some times a second. */
  readonly onSnapshot?: (snapshot: Snapshot) => void;
  /** What is worth a line; bad seeds are `warn`. Default: nowhere but in the crawl's own log file. */
  readonly onLog?: (level: Level, message: string) => void;
}

export interface Crawl {
  readonly dir: string;
  /** Resolves when the crawl is finished, a limit is reached, it was stopped, or it cannot go on. */
  readonly ended: Promise<RunEnd>;
  status(): Snapshot;
  /** No new visits; resolves when those under way have ended and everything is on disk. */
  stop(): Promise<RunEnd>;
}

/** Starts a crawl, or resumes the one in `dir`. Rejects with a UsageError when a setting is wrong. */
export const crawl = async (options: CrawlOptions): Promise<Crawl> => {
  const { dir = './crawl', seeds = [], seedFile, excludeFile, retryParked = false, onSnapshot, onLog, ...settings } = options;
  const request = {
    dir, settings,
    seeds: { file: seedFile ?? null, urls: seeds },
    excludeFile: excludeFile ?? null,
    say: (text: string) => onLog?.('warn', text),
  };
  const open = await (existsSync(join(dir, FILES.identity)) ? reopenCrawl(request) : createCrawl(request));
  const log = createLog({ dir: join(dir, FILES.logs), level: 'info', show: (level, message) => onLog?.(level, message) });
  const run = startRun({ dir, settings: open.identity.settings, log, retryParked, ...(onSnapshot ? { onSnapshot } : {}) });
  const ended = run.ended.finally(() => open.lock.release());
  return {
    dir,
    ended,
    status: run.snapshot,
    stop: () => {
      run.stop();
      return ended;
    },
  };
};

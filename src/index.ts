/** The library: the same crawl as the binary's, in your own program. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FILES } from './folder/folder.ts';
import { logPathOf } from './folder/log-path.ts';
import { checkOptions } from './run/check-options.ts';
import { createCrawl, reopenCrawl } from './run/open.ts';
import { inOptionNames, speakingOfOptions } from './run/option-names.ts';
import { pagesFrom, toCrawledPage, type CrawledPage } from './results/pages.ts';
import { openToRead } from './results/read.ts';
import { startRun } from './run/run.ts';
import type { RunEnd } from './run/run-end.ts';
import type { PageFilter } from './contract/views.ts';
import type { StoredCrawl } from './contract/stored-crawl.ts';
import type { Census } from './model/census.ts';
import { openLog, type Fields, type Level } from './observe/log.ts';
import type { Snapshot } from './observe/snapshot.ts';
import type { Settings } from './model/settings.ts';
import { canonicalize } from './url/canonical.ts';
import { siteOf } from './url/site.ts';

export type { Settings, Keep } from './model/settings.ts';
export type { Census } from './model/census.ts';
export type { HookLink, HookPage, Hooks, JsonValue } from './model/hooks.ts';
export type { OutcomeName } from './model/outcome.ts';
export type { NoPlace, Page, WarcPlace } from './model/page.ts';
export type { PageFilter } from './contract/views.ts';
export type { Snapshot } from './observe/snapshot.ts';
export type { Fields, Level } from './observe/log.ts';
export type { CrawledPage } from './results/pages.ts';
export type { EndReason, RunEnd } from './run/run-end.ts';
export { UsageError } from './model/read-settings.ts';
export { VERSION } from './folder/version.ts';

/** Options of a crawl: all settings by their names, and what only a program can give. */
export interface CrawlOptions extends Partial<Settings> {
  /** An address where site owners reach you; every request carries it. Required. */
  readonly email: string;
  /** Where the crawl lives; one that is there already is resumed. Default `./crawl`. */
  readonly dir?: string;
  /** Domains, hosts or URLs to begin with; a crawl that is resumed takes them in behind those it has. Default `[]`. */
  readonly seeds?: readonly string[];
  /** A file of seeds, one a line. Default: none. */
  readonly seedFile?: string;
  /** A file of sites and hosts never to visit, one a line. Default: none, or the one that the crawl has. */
  readonly excludeFile?: string;
  /** Try origins again that could not be reached in earlier runs. Default `false`. */
  readonly retryParked?: boolean;
  /** Called some times a second. Default: nobody is told. */
  readonly onSnapshot?: (snapshot: Snapshot) => void;
  /** What is worth a line; bad seeds are `warn`. Default: nowhere but in the crawl's own log file. */
  readonly onLog?: (level: Level, message: string, fields: Fields) => void;
}

export interface PagesOptions extends PageFilter {
  /** `run`: pages that this run settles. `start`: first those that are there already. Default `run`. */
  readonly from?: 'run' | 'start';
}

export interface Crawl {
  readonly dir: string;
  /** Resolves when the crawl is finished, a limit is reached, it was stopped, or it cannot go on. */
  readonly ended: Promise<RunEnd>;
  status(): Snapshot;
  /** All metrics of this run in the text format of Prometheus; `metrics: '9464'` among the options serves them. */
  metrics(): string;
  /**
   * Settled pages as they come, each once; ends with the crawl. A loop over them may be slow: nothing
   * waits for it and nothing piles up. Breaking out of it leaves the crawl running.
   */
  pages(options?: PagesOptions): AsyncIterableIterator<CrawledPage>;
  /** No new visits; resolves when those under way have ended and everything is on disk. */
  stop(): Promise<RunEnd>;
}

/** Until a new crawl has its store. */
const OPENING_LOOK_MS = 50;

/**
 * Starts a crawl, or resumes the one in `dir`. Rejects with a UsageError when a setting is wrong.
 *
 * @example
 * ```ts
 * const run = await crawl({ email: 'you@example.org', seeds: ['example.org'], dir: './crawl', maxPages: 100 });
 * for await (const page of run.pages()) console.log(page.status, page.url, page.title);
 * const { reason } = await run.ended;
 * ```
 */
export const crawl = async (options: CrawlOptions): Promise<Crawl> => speakingOfOptions(() => start(options));

const start = async (options: CrawlOptions): Promise<Crawl> => {
  checkOptions({ ...options });
  const {
    dir = './crawl',
    seeds = [],
    seedFile,
    excludeFile,
    retryParked = false,
    onSnapshot,
    onLog,
    ...settings
  } = options;
  const opening = {
    dir,
    settings,
    seeds: { file: seedFile ?? null, urls: seeds },
    excludeFile: excludeFile ?? null,
    say: (text: string) => onLog?.('warn', inOptionNames(text), {}),
  };
  const open = await (existsSync(join(dir, FILES.identity)) ? reopenCrawl(opening) : createCrawl(opening));
  const { log, close } = openLog({
    path: logPathOf(dir, open.identity.settings),
    level: 'info',
    show: (level, message, fields) => onLog?.(level, inOptionNames(message), fields),
  });
  const before = await lastRowIn(dir);
  const run = startRun({
    dir,
    settings: open.identity.settings,
    store: open.store,
    member: open.identity.member,
    log,
    retryParked,
    ...(onSnapshot ? { onSnapshot } : {}),
  });
  let isOver = false;
  const ended = run.ended.finally(() => {
    isOver = true;
    close();
    open.lock.release();
  });
  const openWhenThere = async (): Promise<StoredCrawl | null> => {
    while (run.snapshot().census === null && !isOver) await sleep(OPENING_LOOK_MS);
    return run.snapshot().census === null ? null : (await openToRead(dir)).crawl;
  };
  return {
    dir,
    ended,
    status: run.snapshot,
    metrics: run.metrics,
    pages: ({ from = 'run', ...filter } = {}) =>
      pagesFrom({ dir, open: openWhenThere, after: () => (from === 'run' ? before : 0), isOver: () => isOver }, filter),
    stop: () => {
      run.stop();
      return ended;
    },
  };
};

/** The row of the last page of a crawl that does not run yet. */
const lastRowIn = async (dir: string): Promise<number> => {
  try {
    const { crawl } = await openToRead(dir);
    try {
      return (await crawl.pagesAfter(0, { limit: 0 })).end;
    } finally {
      await crawl.close();
    }
  } catch {
    return 0; // there is no store yet; one that cannot be read is told by the run
  }
};

/** A crawl to read from, whether it runs or not. */
export interface ReadCrawl {
  readonly dir: string;
  readonly settings: Settings;
  /** How many links are waiting, settled, parked ... at this moment. */
  status(): Promise<Census>;
  /** The pages that are settled by now, in the order they were. */
  pages(filter?: PageFilter): AsyncIterableIterator<CrawledPage>;
  /** What is known of one URL; null when it is not settled. */
  page(url: string): Promise<CrawledPage | null>;
  close(): Promise<void>;
}

/**
 * Opens the crawl in `dir` to read it, while it runs or after; changes nothing. Rejects with a UsageError when there is
 * none.
 *
 * @example
 * ```ts
 * const read = await openCrawl('./crawl');
 * for await (const page of read.pages({ outcome: 'fetched' })) console.log(page.url, (await page.text()).length);
 * await read.close();
 * ```
 */
export const openCrawl = async (dir: string): Promise<ReadCrawl> => speakingOfOptions(() => openHere(dir));

const openHere = async (dir: string): Promise<ReadCrawl> => {
  const { crawl, identity } = await openToRead(dir);
  return {
    dir,
    settings: identity.settings,
    status: async () => crawl.census(),
    pages: (filter = {}) =>
      pagesFrom({ dir, open: async () => (await openToRead(dir)).crawl, after: () => 0, isOver: () => true }, filter),
    page: async (url) => {
      const address = canonicalize(url);
      const page = typeof address === 'string' ? null : (await crawl.link(address.url, siteOf(address.host))).page;
      return page && toCrawledPage(dir, page);
    },
    close: () => crawl.close(),
  };
};

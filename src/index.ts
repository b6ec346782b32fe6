/** The library: the same crawl as the binary's, in your own program. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FILES, readIdentity } from './folder/folder.ts';
import { logPathOf } from './folder/log-path.ts';
import { checkOptions } from './run/check-options.ts';
import { createCrawl, reopenCrawl } from './run/open.ts';
import { inOptionNames, speakingOfOptions } from './run/option-names.ts';
import type { OnPage } from './results/handled-page.ts';
import { callOnPage } from './results/on-page.ts';
import { pagesFrom, toCrawledPage, type CrawledPage } from './results/pages.ts';
import { openToRead } from './folder/read.ts';
import { startRun } from './run/run.ts';
import type { RunEnd } from './run/run-end.ts';
import type { PageFilter } from './contract/views.ts';
import type { StoredCrawl } from './contract/stored-crawl.ts';
import type { Census } from './model/census.ts';
import { createEvents, type Listening } from './observe/events.ts';
import { openLog, type Fields, type Level } from './observe/log.ts';
import type { Snapshot } from './observe/snapshot.ts';
import { readCredentials, type Credentials } from './model/credentials.ts';
import type { Link } from './model/link.ts';
import { UsageError } from './model/read-settings.ts';
import type { OldSettings } from './model/old-settings.ts';
import type { Keep, Settings } from './model/settings.ts';
import { canonicalize } from './url/canonical.ts';
import { siteOf } from './url/site.ts';

export type { Settings, Keep } from './model/settings.ts';
export type { Credentials, OriginCredentials } from './model/credentials.ts';
export type { SiteRule } from './model/site-rules.ts';
export type { Census } from './model/census.ts';
export type { HookLink, HookPage, Hooks, JsonValue } from './model/hooks.ts';
export type { OutcomeName } from './model/outcome.ts';
export type { NoPlace, Page, WarcPlace } from './model/page.ts';
export type { PageFilter } from './contract/views.ts';
export type { Limit, LimitKind } from './observe/limit.ts';
export type { Snapshot } from './observe/snapshot.ts';
export type { Listening } from './observe/events.ts';
export type { Fields, Level } from './observe/log.ts';
export type { HandledPage, OnPage } from './results/handled-page.ts';
export type { CrawledPage } from './results/pages.ts';
export type { Selected } from './parse/select.ts';
export type { EndReason, RunEnd } from './run/run-end.ts';
export { UsageError } from './model/read-settings.ts';
export { VERSION } from './folder/version.ts';

/** Options of a crawl: all settings by their names, and what only a program can give. */
export interface CrawlOptions extends Partial<Settings>, Partial<OldSettings> {
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
  /** What to log in with, by https origin; in memory alone, so each run needs them. Default: nothing. */
  readonly credentials?: Credentials;
  /** Called some times a second. Default: nobody is told. */
  readonly onSnapshot?: (snapshot: Snapshot) => void;
  /** What is worth a line; bad seeds are `warn`. Default: nowhere but in the crawl's own log file. */
  readonly onLog?: (level: Level, message: string, fields: Fields) => void;
  /**
   * Your own work on each fetched page, here in your process. Every page comes once; after a crash, those that were
   * under way come again. The crawl claims no new visits while more than 200 pages wait for it, and has ended when it
   * has. If it throws, the crawl ends with that as its `fault`. Default: none.
   */
  readonly onPage?: OnPage;
  /** How many pages are with `onPage` at a time. Default `8`. */
  readonly onPageConcurrency?: number;
  /** Stops the crawl in order when it is aborted, as `stop()` does. Default: none. */
  readonly signal?: AbortSignal;
}

export interface PagesOptions extends PageFilter {
  /** `run`: pages that this run settles. `start`: first those that are there already. Default `run`. */
  readonly from?: 'run' | 'start';
}

/** What a running crawl tells to those who listen, and with what. */
export interface CrawlEvents {
  /** Every page that this run settles, in order, whatever became of it; nothing waits for listeners. */
  readonly page: readonly [page: CrawledPage];
  /** How it is, some times a second. */
  readonly snapshot: readonly [snapshot: Snapshot];
  /** What is worth a line. */
  readonly log: readonly [level: Level, message: string, fields: Fields];
  /** The last event, after all pages. */
  readonly end: readonly [end: RunEnd];
}

/** A crawl that runs. Listeners are added by `on` and `once`, and removed by `off`. */
export interface Crawl extends Listening<CrawlEvents> {
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
  /**
   * Adds seeds. When it resolves they are in the crawl, whatever happens then; it gives how many are new. Rejects with
   * a UsageError, and adds none, when one is bad or the crawl is about to end.
   */
  add(seeds: string | readonly string[]): Promise<number>;
  /**
   * No new visits, no new pages for `onPage`; resolves when those under way have ended and everything is on disk. Do
   * not wait for it inside `onPage`, which it waits for.
   */
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

/** Pages that are with `onPage` at a time. */
const PAGE_CALLS = 8;

const start = async (options: CrawlOptions): Promise<Crawl> => {
  checkOptions({ ...options });
  const {
    dir = './crawl',
    seeds = [],
    seedFile,
    excludeFile,
    retryParked = false,
    credentials,
    onSnapshot,
    onLog,
    onPage,
    onPageConcurrency = PAGE_CALLS,
    signal,
    ...settings
  } = options;
  signal?.throwIfAborted();
  const isThere = existsSync(join(dir, FILES.identity));
  if (onPage) checkKept(settings.keep ?? (isThere ? readIdentity(dir).settings.keep : undefined));
  const events = createEvents<CrawlEvents>({ page: () => void (telling = tellPages()) });
  let telling: Promise<void> = Promise.resolve();
  const say = (level: Level, text: string, fields: Fields): void => {
    const message = inOptionNames(text);
    onLog?.(level, message, fields);
    events.tell('log', level, message, fields);
  };
  const opening = {
    dir,
    settings,
    seeds: { files: seedFile === undefined ? [] : [seedFile === '-' ? './-' : seedFile], urls: seeds },
    excludeFile: excludeFile ?? null,
    credentials: credentials === undefined ? null : readCredentials(credentials),
    say: (text: string) => say('warn', text, {}),
  };
  const {
    identity,
    store,
    lock,
    change,
    credentials: login,
  } = await (isThere ? reopenCrawl(opening) : createCrawl(opening));
  const { log, close } = openLog({ path: logPathOf(dir, identity.settings), level: 'info', show: say });
  const before = await lastRowIn(dir, store.url);
  const admit = async (links: () => readonly Link[]): Promise<number> => (await run.admit(links)).admitted;
  const run = startRun({
    dir,
    settings: identity.settings,
    store,
    member: identity.member,
    change,
    log,
    retryParked,
    credentials: login,
    settledWork: onPage && callOnPage({ dir, url: store.url, identity, onPage, concurrency: onPageConcurrency, admit }),
    onSnapshot: (snapshot) => {
      onSnapshot?.(snapshot);
      events.tell('snapshot', snapshot);
    },
  });
  let isOver = false;
  const ended = run.ended
    .then((end) => {
      if (!end.fault) return end;
      const { message, advice } = end.fault;
      const fault = { ...end.fault, message: inOptionNames(message), advice: inOptionNames(advice) };
      log('error', fault.message, { advice: fault.advice });
      return { ...end, fault };
    })
    .finally(() => {
      isOver = true;
      signal?.removeEventListener('abort', run.stop);
      close();
      lock.release();
    });
  signal?.addEventListener('abort', run.stop);
  if (signal?.aborted) run.stop(); // while the crawl was opened
  const openWhenThere = async (): Promise<StoredCrawl | null> => {
    while (run.snapshot().census === null && !isOver) await sleep(OPENING_LOOK_MS);
    return run.snapshot().census === null ? null : (await openToRead(dir, store.url)).crawl;
  };
  const pages = ({ from = 'run', ...filter }: PagesOptions = {}): AsyncIterableIterator<CrawledPage> =>
    pagesFrom({ dir, open: openWhenThere, after: () => (from === 'run' ? before : 0), isOver: () => isOver }, filter);
  const tellPages = async (): Promise<void> => {
    try {
      for await (const page of pages()) events.tell('page', page);
    } catch (error) {
      say('error', `pages cannot be read for listeners: ${(error as Error).message}`, {});
    }
  };
  void ended.then(async (end) => {
    await telling;
    events.tell('end', end);
  });
  const { emitter } = events;
  const crawl: Crawl = {
    dir,
    ended,
    status: run.snapshot,
    metrics: run.metrics,
    pages,
    on: (event, listener) => (emitter.on(event, listener as () => void), crawl),
    once: (event, listener) => (emitter.once(event, listener as () => void), crawl),
    off: (event, listener) => (emitter.off(event, listener as () => void), crawl),
    add: (more) =>
      speakingOfOptions(async () => {
        const seeds = typeof more === 'string' ? [more] : more;
        checkOptions({ seeds });
        if (run.isEnding())
          throw new UsageError('the crawl is about to end: give the seeds to crawl() when you start it again');
        return (await run.add(seeds)).admitted;
      }),
    stop: () => {
      run.stop();
      return ended;
    },
  };
  return crawl;
};

const checkKept = (keep: Keep | undefined): void => {
  if (keep !== 'none') return;
  throw new UsageError(
    'onPage reads pages from the archive, and --keep none has none: choose --keep all, or --keep text for text alone',
  );
};

/** The row of the last page of a crawl that does not run yet. */
const lastRowIn = async (dir: string, url: string): Promise<number> => {
  try {
    const { crawl } = await openToRead(dir, url);
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

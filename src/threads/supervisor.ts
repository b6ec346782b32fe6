/** Starts the threads of a crawl, watches them, restarts those that die, and ends them in order. */

import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import type { Store } from '../frontier/store.ts';
import type { Anchor } from '../lib/clock.ts';
import type { SharedFingerprints } from '../lib/fingerprint-table.ts';
import type { Log } from '../observe/log.ts';
import { createBoard, type Board } from '../observe/metrics/board.ts';
import { kindOf } from '../store/place.ts';
import { ThreadFault, toFault, type Fault } from './fault.ts';
import { newHeart, openHeart, type Heart } from './heart.ts';
import type {
  FetchReport,
  FetchStart,
  FromFetchThread,
  FromStoreThread,
  ThreadStart,
  ToFetchThread,
  ToStoreThread,
} from './messages.ts';
import { createStoreClient } from './store-client.ts';
import { leaseMsOf } from './visit-times.ts';

/**
 * Threads that may die within this time before the crawl is stopped: more is not bad luck but a defect or a lack of
 * memory.
 */
const RESTARTS_MAX = 20;
const RESTARTS_WITHIN_MS = 3_600_000;
const RESTART_WAIT_MS = 50;
/** A parse that takes longer is ended with its thread; a page of the largest size takes a second. */
const PARSE_DEADLINE_MS = 20_000;
/** A fetch thread whose event loop stands still for this long is ended. */
const FETCH_DEADLINE_MS = 60_000;
const WATCH_MS = 1_000;
/** Heaps are sized, so that a thread dies alone when it needs more. Bodies lie outside the heap. */
const HEAP_MIB = 1_024;
const STORE_HEAP_MIB = 2_048;
/**
 * The part of each heap that is collected often. Left alone it takes 128 MiB under load, touched page by page over
 * minutes, for nothing: a page costs the same CPU with 24 MiB, 48 MiB and no ceiling.
 */
const YOUNG_MIB = 48;
/** A second request to stop does not wait longer for the store than this. */
const HALT_MS = 3_000;

export type Role = 'store' | 'fetch' | 'parse';

export interface SupervisorOptions {
  readonly start: Omit<ThreadStart, 'name' | 'heart' | 'cells'>;
  /** Where the threads write their numbers. */
  readonly board?: Board;
  /** Another program for a role, for tests that plant a fault. */
  readonly entries?: Partial<Record<Role, URL>>;
  /** The crawl cannot go on: it must be stopped. Called once. */
  readonly onFault: (fault: Fault) => void;
  readonly log: Log;
}

export interface FetchPlan {
  readonly seeded: SharedFingerprints | null;
  readonly excluded: SharedFingerprints | null;
}

interface Thread {
  readonly name: string;
  readonly role: Role;
  readonly worker: Worker;
  readonly heart: Heart;
  readonly exited: Promise<number>;
  ended: boolean;
}

export interface Supervisor {
  readonly store: Store;
  readonly anchor: Anchor;
  startCrawling(plan: FetchPlan): void;
  reports(): readonly FetchReport[];
  restarts(): number;
  /** No new visits; resolves when those under way have ended, or were cut off after that time. */
  finishVisits(graceMs: number): Promise<void>;
  /** Ends the other threads and closes the store. */
  close(): Promise<void>;
  /** At once: visits are dropped, their leases freed without counting. */
  halt(): Promise<void>;
}

const entryOf = (role: Role): URL =>
  new URL(`./${role}-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);

/** Opens the store in its thread. Rejects with a ThreadFault when that fails. */
export const startSupervisor = async (options: SupervisorOptions): Promise<Supervisor> => {
  const { settings } = options.start;
  const { board = createBoard() } = options;
  const threads = new Map<string, Thread>();
  const lastReports = new Map<string, FetchReport>();
  let plan: FetchPlan | null = null;
  let restarts = 0;
  let deaths: number[] = [];
  let stopping = false;
  let faulted = false;
  /** What the store thread said before it ended. It is heard in the same moment as its end, so both look here. */
  let storeFault: Fault | null = null;
  let storeIsOpen = false;

  const fail = (fault: Fault): void => {
    if (faulted) return;
    faulted = true;
    options.onFault(fault);
  };

  const launch = (role: Role, name: string, more: Partial<FetchStart> = {}): Thread => {
    const heart = newHeart();
    const worker = new Worker(options.entries?.[role] ?? entryOf(role), {
      name,
      workerData: { ...options.start, ...more, name, heart, cells: board.cellsOf(name, role) },
      resourceLimits: {
        maxOldGenerationSizeMb: role === 'store' ? STORE_HEAP_MIB : HEAP_MIB,
        maxYoungGenerationSizeMb: YOUNG_MIB,
      },
    });
    let error: unknown = null;
    worker.on('error', (cause) => (error = cause));
    const thread: Thread = {
      name,
      role,
      worker,
      heart: openHeart(heart),
      ended: false,
      exited: new Promise((resolve) =>
        worker.on('exit', (code) => {
          thread.ended = true;
          died(thread, error ?? new Error(`thread ${name} ended with code ${code}`));
          resolve(code);
        }),
      ),
    };
    threads.set(name, thread);
    return thread;
  };

  // A thread that ends while nobody asked it to.
  const died = (thread: Thread, error: unknown): void => {
    threads.delete(thread.name);
    board.ended(thread.name);
    if (thread.role === 'parse') tellFetchers({ kind: 'parser-gone', name: thread.name, lease: thread.heart.job() });
    if (stopping || faulted) return;
    const fault = toFault(error);
    // whoever opens it is told why it did not open
    if (thread.role === 'store') return storeIsOpen ? fail(storeFault ?? fault) : undefined;
    options.log('warn', `thread ${thread.name} died${inHook(thread)}: ${fault.message}`, { thread: thread.name });
    const now = performance.now();
    deaths = [...deaths.filter((at) => now - at < RESTARTS_WITHIN_MS), now];
    restarts++;
    if (deaths.length > RESTARTS_MAX) {
      return fail({
        ...fault,
        message: `threads died ${deaths.length} times within an hour, the last one${inHook(thread)} with: ${fault.message}`,
        advice: 'look at the log, then resume',
      });
    }
    restart(thread).catch((cause: unknown) => fail(toFault(cause)));
  };

  const inHook = ({ heart }: Thread): string =>
    heart.hook() === null ? '' : ` in ${heart.hook()}() of the hooks "${settings.hooks}"`;

  const restart = async ({ role, name, heart }: Thread): Promise<void> => {
    // What a thread died of may last a moment (no descriptor, no memory): the more died, the longer the next waits.
    await sleep(RESTART_WAIT_MS * deaths.length);
    if (stopping) return;
    if (role === 'fetch') {
      // Its visits died with it: their sites wait a full delay, their links go back to the head.
      const culprit = heart.job();
      await store.steer([{ kind: 'free', holder: name, counted: true, ...(culprit > 0 ? { culprit } : {}) }]);
      if (!stopping) startFetcher(Number(name.split('-')[1]));
    } else startParser(name);
  };

  const tellFetchers = (message: ToFetchThread): void => {
    for (const thread of threads.values()) if (thread.role === 'fetch') thread.worker.postMessage(message);
  };

  const connectParser = (fetcher: Thread, parser: Thread): void => {
    const { port1, port2 } = new MessageChannel();
    parser.worker.postMessage({ kind: 'client', port: port1 }, [port1]);
    fetcher.worker.postMessage({ kind: 'parser', name: parser.name, port: port2 } satisfies ToFetchThread, [port2]);
  };

  const startParser = (name: string): void => {
    const parser = launch('parse', name);
    for (const thread of threads.values()) if (thread.role === 'fetch') connectParser(thread, parser);
  };

  const startFetcher = (index: number): void => {
    const shards = Array.from({ length: options.start.store.shards }, (_, shard) => shard).filter(
      (shard) => shard % settings.fetchers === index - 1,
    );
    const leaseMs = kindOf(options.start.store.url) === 'sqlite' ? null : leaseMsOf(settings);
    const fetcher = launch('fetch', `fetch-${index}`, { anchor, shards, leaseMs, ...plan! });
    fetcher.worker.on('message', (message: FromFetchThread) => {
      if (message.kind === 'report') lastReports.set(fetcher.name, message.report);
      else if (message.kind === 'log')
        options.log(message.level, message.message, { thread: fetcher.name, ...message.fields });
      else fail(message.fault);
    });
    for (const thread of threads.values()) if (thread.role === 'parse') connectParser(fetcher, thread);
    const port = storePort(fetcher.name, 'fetch');
    fetcher.worker.postMessage({ kind: 'store', port } satisfies ToFetchThread, [port]);
  };

  const storePort = (name: string, role: Role | 'main'): MessagePort => {
    const { port1, port2 } = new MessageChannel();
    storeThread.worker.postMessage(
      { kind: 'client', port: port1, name, cells: board.cellsOf(name, role) } satisfies ToStoreThread,
      [port1],
    );
    return port2;
  };

  const storeThread = launch('store', 'store');
  storeThread.worker.on('message', (message: FromStoreThread) => {
    if (message.kind === 'fault') storeFault = message.fault;
    if (message.kind === 'log')
      options.log(message.level, message.message, { thread: storeThread.name, ...message.fields });
  });
  const anchor = await opened(storeThread).catch((error: unknown) => {
    stopping = true; // its end is no news then
    throw error;
  });
  storeIsOpen = true;
  const store = createStoreClient(storePort('main', 'main'));

  let watchedAt = performance.now();
  const watch = setInterval(() => {
    const late = performance.now() - watchedAt > 3 * WATCH_MS;
    watchedAt = performance.now();
    if (late) return; // the whole process stood still (SIGSTOP, a sleeping machine): no thread is to blame
    for (const thread of threads.values()) {
      const deadlineMs =
        thread.role === 'parse' ? PARSE_DEADLINE_MS : thread.role === 'fetch' ? FETCH_DEADLINE_MS : Infinity;
      if (thread.heart.busyMs() <= deadlineMs) continue;
      options.log(
        'warn',
        `thread ${thread.name} did not answer for ${deadlineMs / 1000}s${inHook(thread)} and is ended`,
        { thread: thread.name },
      );
      void thread.worker.terminate();
    }
  }, WATCH_MS);

  const endOf = async (role: Role): Promise<void> => {
    await Promise.all([...threads.values()].filter((thread) => thread.role === role).map((thread) => thread.exited));
  };
  const closeStore = async (free: boolean): Promise<void> => {
    if (!storeThread.ended) storeThread.worker.postMessage({ kind: 'close', free } satisfies ToStoreThread);
    await storeThread.exited;
    await store.close();
    clearInterval(watch);
    if (storeFault) throw new ThreadFault(storeFault);
  };
  const terminate = async (role: Role): Promise<void> => {
    await Promise.all(
      [...threads.values()].filter((thread) => thread.role === role).map((thread) => thread.worker.terminate()),
    );
  };

  return {
    store,
    anchor,
    startCrawling: (with_) => {
      plan = with_;
      for (let i = 1; i <= settings.parsers; i++) startParser(`parse-${i}`);
      for (let i = 1; i <= settings.fetchers; i++) startFetcher(i);
    },
    reports: () => [...lastReports.values()],
    restarts: () => restarts,
    finishVisits: async (graceMs) => {
      stopping = true;
      tellFetchers({ kind: 'stop', graceMs });
      await endOf('fetch');
    },
    close: async () => {
      stopping = true;
      await terminate('parse');
      await closeStore(false);
    },
    halt: async () => {
      stopping = true;
      await Promise.all([terminate('fetch'), terminate('parse')]);
      const timer = setTimeout(() => void storeThread.worker.terminate(), HALT_MS);
      await closeStore(true).finally(() => clearTimeout(timer));
    },
  };
};

/** Resolves with the crawl's clock when the store is open. */
const opened = (thread: Thread): Promise<Anchor> =>
  new Promise((resolve, reject) => {
    thread.worker.on('message', (message: FromStoreThread) => {
      if (message.kind === 'opened') resolve(message.anchor);
      else if (message.kind === 'fault') reject(new ThreadFault(message.fault));
    });
    thread.exited.then(
      () =>
        reject(
          new ThreadFault({
            message: 'the store thread ended at its start',
            advice: 'look at the log',
            stack: '',
            diskFull: false,
          }),
        ),
      reject,
    );
  });

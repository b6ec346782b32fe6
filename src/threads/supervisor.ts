/** Starts the threads of a crawl, watches them, restarts those that die, and ends them in order. */

import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import { newRecordId } from '../archive/records.ts';
import type { Beat } from '../contract/journal.ts';
import type { Store } from '../contract/store.ts';
import type { Anchor } from '../lib/clock.ts';
import type { SharedFingerprints } from '../lib/fingerprint-table.ts';
import type { SecretHeaders } from '../model/credentials.ts';
import type { Activity } from '../observe/activity.ts';
import type { Busy } from '../observe/load.ts';
import type { Log } from '../observe/log.ts';
import { createBoard, type Board } from '../observe/metrics/board.ts';
import { isShared } from '../store/address.ts';
import { createSharedPulse, lastBeat, type SharedPulse } from '../visit/pulse.ts';
import { createBusyMeter } from './busy.ts';
import { toFault, type Fault } from './fault.ts';
import type {
  FetchStart,
  FromFetchThread,
  SettingsNow,
  ThreadStart,
  ToFetchThread,
  ToParseThread,
} from './messages.ts';
import { createRestarts } from './restarts.ts';
import { ownStore, type StoreOwner } from './store-owner.ts';
import { launch, type Role, type Thread } from './thread.ts';
import type { SharedHomes } from '../url/homes.ts';
import { watchThreads } from './watchdog.ts';

/** A second request to stop does not wait longer for the store than this. */
const HALT_MS = 3_000;

export interface SupervisorOptions {
  readonly start: Omit<ThreadStart, 'name' | 'heart' | 'cells' | 'warcinfoId' | 'pulse'>;
  /** Where the threads write their numbers. */
  readonly board?: Board;
  /** Another program for a role, for tests that plant a fault. */
  readonly entries?: Partial<Record<Role, URL>>;
  /** The crawl cannot go on: it must be stopped. Called once. */
  readonly onFault: (fault: Fault) => void;
  /** A thread was told that the journal has this entry, and does not know it. */
  readonly onEntry?: (number: number) => void;
  readonly log: Log;
}

export interface FetchPlan {
  /** Where the seeds are at home; null when everything linked is wanted. */
  readonly homes: CrawlHomes | null;
  readonly excluded: SharedFingerprints | null;
  readonly scopeName: string;
  /** The last entry of the crawl's journal that is known. Default 0. */
  readonly number?: number;
  /** Origins that answered in earlier runs. */
  readonly answered: readonly string[];
  readonly credentials?: SecretHeaders | null;
  /** Shared memory: while it is not 0, nothing is claimed. */
  readonly held: Int32Array;
}

/** What a change of the crawl's settings and lists comes to. */
export interface ChangedPlan extends Omit<SettingsNow, 'homes'> {
  readonly homes: CrawlHomes | null;
}

/** What the threads need of those who keep the homes (run/homes.ts). */
export interface CrawlHomes {
  readonly shared: SharedHomes;
  move(from: string, to: string): Promise<void>;
  refresh(): Promise<boolean>;
}

export interface Supervisor {
  readonly store: Store;
  readonly anchor: Anchor;
  /** See StoreOwner. */
  readonly forgotSince: number | null;
  rereadDone(): void;
  /** What the store answers to a beat; where its thread beats anyway, what it answered last. */
  beat(): Promise<Beat>;
  startCrawling(plan: FetchPlan): void;
  /** All visits and pages that begin from now on, in threads that run and in those still to be started. */
  change(plan: ChangedPlan): void;
  /** Tells the fetch threads of homes that were added. */
  tellHomes(): void;
  /** Threads that died and were started again. */
  restarts(): number;
  /** How busy threads were since the last call. */
  busy(): Busy;
  /** What each fetch thread told last; nothing where the crawl is not watched. */
  activities(): readonly Activity[];
  /** No new visits; resolves when those under way have ended, or were cut off after that time. */
  finishVisits(graceMs: number): Promise<void>;
  /** Ends the other threads and closes the store. */
  close(): Promise<void>;
  /** At once: visits are dropped, their leases freed without counting. */
  halt(): Promise<void>;
}

/** Opens the store in its thread. Rejects with a ThreadFault when that fails. */
export const startSupervisor = async (options: SupervisorOptions): Promise<Supervisor> => {
  const crew = new Threads(options);
  await crew.openStore();
  return {
    store: crew.owner.store,
    anchor: crew.owner.anchor,
    forgotSince: crew.owner.forgotSince,
    rereadDone: () => crew.owner.rereadDone(),
    beat: () => crew.beat(),
    startCrawling: (plan) => crew.startCrawling(plan),
    change: (plan) => crew.change(plan),
    tellHomes: () => crew.tellHomes(),
    restarts: () => crew.restarts.total(),
    busy: () => crew.busy(),
    activities: () => [...crew.activities.values()],
    finishVisits: (graceMs) => crew.finishVisits(graceMs),
    close: () => crew.close(),
    halt: () => crew.halt(),
  };
};

class Threads {
  readonly restarts = createRestarts();
  readonly #pulse: SharedPulse | null;
  readonly activities = new Map<string, Activity>();
  readonly #busy = createBusyMeter();
  readonly #options: SupervisorOptions;
  readonly #board: Board;
  readonly #warcinfoId = newRecordId();
  readonly #all = new Map<string, Thread>();
  #owner: StoreOwner | null = null;
  #plan: FetchPlan | null = null;
  /** What changed since the start. */
  #changed: Partial<Omit<ChangedPlan, 'homes'>> = {};
  /** Origins that answered: some dozens for each fetch thread. */
  #answered = new Set<string>();
  #isStopping = false;
  #hasFailed = false;
  #stopWatching: () => void = () => {};

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#board = options.board ?? createBoard();
    this.#pulse = isShared(options.start.store.url) ? createSharedPulse() : null;
  }

  async beat(): Promise<Beat> {
    return this.#pulse ? lastBeat(this.#pulse) : this.owner.store.beat();
  }

  get owner(): StoreOwner {
    if (!this.#owner) throw new Error('the store is not open');
    return this.#owner;
  }

  async openStore(): Promise<void> {
    const thread = this.#launch('store', 'store');
    try {
      this.#owner = await ownStore(thread, this.#board, {
        log: this.#options.log,
        // Whoever opens or closes it is told by the call itself.
        onFault: (fault) => void (this.#owner && !this.#isStopping && this.#fail(fault)),
      });
    } catch (error) {
      this.#isStopping = true; // the end of its thread is no news then
      throw error;
    }
    this.#stopWatching = watchThreads(
      () => this.#all.values(),
      (hung, deadlineMs) =>
        this.#warn(hung, `did not answer for ${deadlineMs / 1000}s${this.#inHook(hung)} and is ended`),
    );
  }

  busy(): Busy {
    return this.#busy(this.#all.values());
  }

  startCrawling(plan: FetchPlan): void {
    const { parsers, fetchers } = this.#options.start.settings;
    this.#plan = plan;
    this.#answered = new Set(plan.answered);
    for (let i = 1; i <= parsers; i++) this.#startParser(`parse-${i}`);
    for (let i = 1; i <= fetchers; i++) this.#startFetcher(i);
  }

  async finishVisits(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#tellFetchers({ kind: 'stop', graceMs });
    await Promise.all(this.#of('fetch').map(({ exited }) => exited));
  }

  async close(): Promise<void> {
    this.#isStopping = true;
    await this.#terminate('parse');
    await this.#closeStore(false);
  }

  async halt(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([this.#terminate('fetch'), this.#terminate('parse')]);
    const timer = setTimeout(() => void this.#terminate('store'), HALT_MS);
    await this.#closeStore(true).finally(() => clearTimeout(timer));
  }

  async #closeStore(free: boolean): Promise<void> {
    await this.owner.close(free).finally(this.#stopWatching);
  }

  async #terminate(role: Role): Promise<void> {
    await Promise.all(this.#of(role).map(({ worker }) => worker.terminate()));
  }

  #of(role: Role): Thread[] {
    return [...this.#all.values()].filter((thread) => thread.role === role);
  }

  #launch(role: Role, name: string, more: Partial<FetchStart> = {}): Thread {
    const { start, entries } = this.#options;
    const thread = launch({
      role,
      name,
      entry: entries?.[role],
      workerData: {
        ...start,
        ...more,
        pulse: this.#pulse,
        ...this.#changed,
        warcinfoId: this.#warcinfoId,
        cells: this.#board.cellsOf(name, role),
      },
      onEnd: (ended, error) => this.#ended(ended, error),
    });
    this.#all.set(name, thread);
    return thread;
  }

  #startParser(name: string): void {
    const parser = this.#launch('parse', name);
    for (const fetcher of this.#of('fetch')) connect(fetcher, parser);
  }

  /** Shards are dealt out in turn: thread 1 of 2 has the even ones. */
  #startFetcher(index: number): void {
    const { settings, store } = this.#options.start;
    const shards = Array.from({ length: store.shards }, (_, shard) => shard).filter(
      (shard) => shard % settings.fetchers === index - 1,
    );
    const { anchor } = this.owner;
    const { homes, ...plan } = this.#plan!;
    const fetcher = this.#launch('fetch', `fetch-${index}`, {
      anchor,
      shards,
      number: 0,
      ...plan,
      homes: homes?.shared ?? null,
      answered: [...this.#answered],
    });
    fetcher.worker.on('message', (message: FromFetchThread) => {
      if (message.kind === 'fault') this.#fail(message.fault);
      else if (message.kind === 'answered') this.#answered.add(message.origin);
      else if (message.kind === 'entry') this.#options.onEntry?.(message.number);
      else if (message.kind === 'home') void this.#settleHome(fetcher, message);
      else if (message.kind === 'activity') this.activities.set(fetcher.name, message.activity);
      else this.#options.log(message.level, message.message, { thread: fetcher.name, ...message.fields });
    });
    for (const parser of this.#of('parse')) connect(fetcher, parser);
    const port = this.owner.portFor(fetcher.name, 'fetch');
    fetcher.worker.postMessage({ kind: 'store', port } satisfies ToFetchThread, [port]);
  }

  change({ homes, ...changed }: ChangedPlan): void {
    this.#changed = changed;
    if (this.#plan) this.#plan = { ...this.#plan, homes };
    const { settings, productToken } = changed;
    for (const { worker } of this.#of('parse'))
      worker.postMessage({ kind: 'settings', now: { settings, productToken } } satisfies ToParseThread);
    this.#tellFetchers({ kind: 'settings', now: { ...changed, homes: homes?.shared ?? null } });
  }

  tellHomes(): void {
    const homes = this.#plan?.homes;
    if (homes) this.#tellFetchers({ kind: 'homes', shared: homes.shared });
  }

  /** All threads know of it before the one that asked goes on. */
  async #settleHome({ worker }: Thread, { id, from, to }: FromFetchThread & { kind: 'home' }): Promise<void> {
    const { homes } = this.#plan!;
    await (from === '' ? homes?.refresh() : homes?.move(from, to));
    this.tellHomes();
    worker.postMessage({ kind: 'home-known', id } satisfies ToFetchThread);
  }

  #tellFetchers(message: ToFetchThread): void {
    for (const { worker } of this.#of('fetch')) worker.postMessage(message);
  }

  /** A thread ended: when nobody asked it to, it died. */
  #ended(thread: Thread, error: unknown): void {
    const { role, name, heart } = thread;
    this.#all.delete(name);
    this.#board.ended(name);
    this.activities.delete(name);
    if (role === 'parse') this.#tellFetchers({ kind: 'parser-gone', name, lease: heart.job() });
    if (this.#isStopping || this.#hasFailed) return;
    const fault = toFault(error);
    if (role === 'store') {
      if (this.#owner) this.#fail(this.#owner.fault() ?? fault); // while it opens, whoever opens it is told
      return;
    }
    this.#warn(thread, `died${this.#inHook(thread)}: ${fault.message}`);
    this.restarts.note(performance.now());
    if (this.restarts.isOver())
      return this.#fail({
        ...fault,
        message: `threads died ${this.restarts.recent()} times within an hour, the last one${this.#inHook(thread)} with: ${fault.message}`,
        advice: 'look at the log, then resume',
      });
    this.#restart(thread).catch((cause: unknown) => this.#fail(toFault(cause)));
  }

  async #restart({ role, name, heart }: Thread): Promise<void> {
    await sleep(this.restarts.waitMs());
    if (this.#isStopping) return;
    if (role === 'parse') return this.#startParser(name);
    // Its visits died with it: their sites wait a full delay, their links go back to the head.
    const culprit = heart.job();
    await this.owner.store.steer([{ kind: 'free', holder: name, counted: true, ...(culprit > 0 ? { culprit } : {}) }]);
    if (!this.#isStopping) this.#startFetcher(Number(name.split('-')[1]));
  }

  #inHook({ heart }: Thread): string {
    return heart.hook() === null ? '' : ` in ${heart.hook()}() of the hooks "${this.#options.start.settings.hooks}"`;
  }

  #warn({ name }: Thread, says: string): void {
    this.#options.log('warn', `thread ${name} ${says}`, { thread: name });
  }

  #fail(fault: Fault): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.onFault(fault);
  }
}

const connect = (fetcher: Thread, parser: Thread): void => {
  const { port1, port2 } = new MessageChannel();
  parser.worker.postMessage({ kind: 'client', port: port1 }, [port1]);
  fetcher.worker.postMessage({ kind: 'parser', name: parser.name, port: port2 } satisfies ToFetchThread, [port2]);
};

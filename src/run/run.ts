/** One run of a crawl: from an open directory to the reason why it ended. */

import { join } from 'node:path';
import { pause } from '../lib/pause.ts';
import type { Admitted, Store } from '../contract/store.ts';
import { isFinished } from '../visit/finished.ts';
import { sitePagesMaxOf } from '../model/site-budget.ts';
import { knownTotal, type Census } from '../model/census.ts';
import type { Link } from '../model/link.ts';
import { leftoversIn, packAll } from '../ledger/files.ts';
import { LEDGER_DIR } from '../ledger/format.ts';
import { pagesSettled, readingsOf } from '../observe/readings.ts';
import { memoryBytes } from '../observe/memory.ts';
import { joinActivities } from '../observe/activity.ts';
import { createRateMeter, progressOf, type Phase, type Snapshot } from '../observe/snapshot.ts';
import { createBoard } from '../observe/metrics/board.ts';
import { serveMetrics, type MetricsServer } from '../observe/metrics/serve.ts';
import { toFault, type Fault } from '../threads/fault.ts';
import { startSupervisor, type Supervisor } from '../threads/supervisor.ts';
import { visitRequestsMsMax } from '../threads/visit-times.ts';
import { diskFreeBytes } from '../folder/ceilings.ts';
import { isShared } from '../store/address.ts';
import { createAdmissions } from './admissions.ts';
import { answeredBefore } from './answered-before.ts';
import { lookBeside } from './look-beside.ts';
import { openLive, type Live } from './live.ts';
import { serveControl } from './control.ts';
import { setLive } from './set.ts';
import { openScopeKeeper, type ScopeKeeper } from './scope-keeper.ts';
import type { Settings } from '../model/settings.ts';
import { openMetrics, type Metrics } from './metrics.ts';
import { loadSeeds } from '../folder/seeds.ts';
import { addMore } from './add-more.ts';
import { parkedSeeds, type ParkedSeeds } from './parked-seeds.ts';
import { createSpeed, type Speed } from './speed.ts';
import type { Run, RunOptions } from './run-options.ts';
import { DRAINED, weightOf, type EndReason, type RunEnd } from './run-end.ts';
import { productTokenOf, userAgentOf } from './user-agent.ts';
import { VERSION } from '../folder/version.ts';

/** How often the state of the crawl is looked at. */
const LOOK_MS = 250;
/** A census of a store that others share costs its server something: it is asked for less often, but near the end. */
const SHARED_LOOK_MS = 2_000;
/** What visits under way get to end when --max-duration is over; then they are cut off, and their links wait again. */
const OVERTIME_MS = 500;

export const startRun = (options: RunOptions): Run => {
  const run = new CrawlRun(options);
  return {
    ended: run.run(),
    snapshot: () => run.snapshot(),
    metrics: () => run.metrics(),
    stop: () => run.end('stopped'),
    halt: () => run.end('halted'),
    admit: (links) => run.admit(links),
    add: (seeds) => run.add(seeds),
    isEnding: () => run.isEnding(),
  };
};

class CrawlRun {
  readonly #options: RunOptions;
  readonly #startedAt = performance.now();
  readonly #rate = createRateMeter();
  readonly #ending = new AbortController();
  readonly #halting = new AbortController();
  readonly #board = createBoard();
  readonly #metrics: Metrics;
  #served: MetricsServer | null = null;
  #supervisor: Supervisor | null = null;
  #phase: Phase = 'opening';
  #reason: EndReason | null = null;
  #fault: Fault | null = null;
  #census: Census | null = null;
  /** Whether the crawl had pages when this run began. */
  #hasPages = false;
  #pagesPerSecond = 0;
  #seedsLoaded = 0;
  readonly #speed: Speed;
  #diskFreeBytes: number | null = null;
  #crawlingSince = this.#startedAt;
  #packing: Promise<void> = Promise.resolve();
  #live: Live | null = null;
  #scope: ScopeKeeper | null = null;
  #endControl: (() => Promise<void>) | null = null;
  /** Not 0 while the work on settled pages lags: fetch threads then claim nothing. */
  readonly #held = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  /** The rest of the work on settled pages is left to the next run. */
  readonly #cut = new AbortController();
  readonly #loaded = Promise.withResolvers<Store>();
  readonly #admissions = createAdmissions();

  constructor(options: RunOptions) {
    this.#options = options;
    this.#speed = createSpeed(this.#board, options.settings);
    this.#metrics = openMetrics({
      board: this.#board,
      dir: options.dir,
      store: options.store,
      snapshot: () => this.snapshot(),
    });
  }

  metrics(): string {
    return this.#metrics.text();
  }

  /** As they are by now. */
  get #settings(): Settings {
    return this.#live?.now().settings ?? this.#options.settings;
  }

  /**
   * The first reason counts, but what goes wrong while the run ends in order is not hidden by it; being told to hurry
   * is heard later too.
   */
  end(reason: EndReason): void {
    if (this.#reason === null || weightOf(reason) > weightOf(this.#reason)) this.#reason = reason;
    this.#ending.abort();
    if (!DRAINED.has(reason)) this.#cut.abort();
    if (reason === 'halted') this.#halting.abort();
  }

  isEnding(): boolean {
    return this.#reason !== null;
  }

  admit(links: () => readonly Link[]): Promise<Admitted> {
    const { maxWaitingPerSite } = this.#settings;
    return this.#admissions.note(this.#loaded.promise.then((store) => store.admit(links(), maxWaitingPerSite)));
  }

  add(seeds: readonly string[]): Promise<Admitted> {
    const parts = { dir: this.#options.dir, tellHomes: () => this.#supervisor!.tellHomes() };
    return this.#admissions.note(
      this.#loaded.promise.then((store) =>
        addMore({ ...parts, store, settings: this.#settings, homes: this.#scope!.homes() }, seeds),
      ),
    );
  }

  async run(): Promise<RunEnd> {
    this.#loaded.promise.catch(() => {}); // nobody may ask
    try {
      await this.#serveMetrics();
      await this.#crawl();
    } catch (error) {
      this.#fail(toFault(error));
    }
    this.#loaded.reject(new Error('the crawl ended before it began'));
    await this.#close();
    await this.#packing;
    await this.#scope?.close();
    await this.#served?.close();
    this.#metrics.close();
    this.#phase = 'ended';
    const snapshot = this.snapshot();
    this.#options.onSnapshot?.(snapshot);
    const parked = await this.#parkedSeeds();
    return {
      reason: this.#reason!,
      census: this.#census,
      fault: this.#fault,
      snapshot,
      archive: this.#census?.archive ?? null,
      parkedSeeds: parked,
      reread: this.#scope?.done() ?? null,
    };
  }

  async #parkedSeeds(): Promise<ParkedSeeds | null> {
    if (this.#reason !== 'finished' || !this.#census || this.#census.sites.parked === 0) return null;
    const parked = await lookBeside(this.#options, (crawl) => parkedSeeds(this.#options.dir, crawl));
    return parked && parked.count > 0 ? parked : null;
  }

  /** First of all: a store with many links takes long to open, and somebody may want to see that. */
  async #serveMetrics(): Promise<void> {
    const { settings, log, onMetrics } = this.#options;
    if (settings.metrics === '') return;
    this.#served = await serveMetrics(settings.metrics, () => this.metrics());
    log('info', `metrics at ${this.#served.url}`);
    onMetrics?.(this.#served.url);
  }

  async #crawl(): Promise<void> {
    // From the start: a store with many links takes seconds to open.
    const ticker = setInterval(() => {
      if (this.#leftMs() <= 0) this.end('max-duration');
      this.#options.onSnapshot?.(this.snapshot());
    }, LOOK_MS);
    try {
      await this.#open();
      await this.#visitAll();
    } finally {
      clearInterval(ticker);
    }
  }

  async #open(): Promise<void> {
    const { dir, settings, log } = this.#options;
    this.#supervisor = await startSupervisor({
      start: {
        settings,
        dir,
        store: this.#options.store,
        userAgent: userAgentOf(settings),
        productToken: productTokenOf(settings),
        version: VERSION,
        logPages: this.#options.logPages ?? false,
        watched: this.#options.watched ?? false,
      },
      log,
      board: this.#board,
      onFault: (fault) => this.#fail(fault),
      onEntry: (number) => void this.#live?.heard(number).catch(() => {}), // a store that fails ends the run
      ...(this.#options.entries ? { entries: this.#options.entries } : {}),
    });
    const { store, beat } = this.#supervisor;
    const follows = { beat, journal: store.journal, steer: store.steer };
    this.#live = await openLive(
      { ...this.#options, store: follows, onChange: async (...change) => this.#scope?.changed(...change) },
      this.#options.change ?? null,
    );
    const { settings: standing, scopeName } = this.#live.now();
    await store.steer([
      { kind: 'release-held', sitePagesMax: sitePagesMaxOf(standing) },
      { kind: 'release-refused', scope: scopeName },
      ...(this.#options.retryParked ? [{ kind: 'retry-parked' } as const] : []),
    ]);
    this.#census = await store.census();
    this.#hasPages = this.#census.pages > 0;
  }

  async #visitAll(): Promise<void> {
    const { dir } = this.#options;
    const supervisor = this.#supervisor!;
    this.#phase = 'loading seeds';
    await loadSeeds({
      dir,
      member: this.#options.member,
      store: supervisor.store,
      again: supervisor.forgotSince !== null,
      stop: this.#ending.signal,
      onProgress: (loaded) => (this.#seedsLoaded = loaded),
    });
    if (this.#ending.signal.aborted) return;
    const live = this.#live!;
    this.#scope = await openScopeKeeper({
      ...this.#options,
      store: supervisor.store,
      place: this.#options.store,
      stop: this.#ending.signal,
      admissions: this.#admissions,
      now: live.now,
      write: live.write,
      tell: supervisor.change,
      forgot: supervisor,
    });
    await this.#scope.begin();
    supervisor.change(this.#scope.plan());
    this.#loaded.resolve(supervisor.store);
    // Looked for before this run has files of its own there.
    this.#packing = packAll(leftoversIn(join(dir, LEDGER_DIR)), this.#ending.signal);
    this.#phase = 'crawling';
    this.#crawlingSince = performance.now();
    const answered = (this.#hasPages && (await lookBeside(this.#options, answeredBefore))) || [];
    supervisor.startCrawling({
      ...this.#scope.plan(),
      answered,
      credentials: this.#options.credentials ?? null,
      held: this.#held,
    });
    this.#scope.reread();
    this.#endControl = await serveControl({
      ...this.#options,
      controls: { set: (request) => setLive(live, request) },
    });
    void live.follow(this.#ending.signal).catch(() => {}); // a store that fails ends the run
    this.#options.settledWork?.begin({
      store: supervisor.store,
      marks: this.#census!.marks,
      holdBack: (on) => void Atomics.store(this.#held, 0, on ? 1 : 0),
      fail: (fault) => this.#fail({ ...fault, diskFull: false }),
    });
    await this.#watch();
  }

  /** Looks at the crawl until it is finished, a limit is reached, or somebody ends it. */
  async #watch(): Promise<void> {
    const { log } = this.#options;
    while (!this.#ending.signal.aborted) {
      const before = this.#census;
      // Looked at before the census: what the last of this work adds is then in it.
      const isAllDone = (await this.#options.settledWork?.isDone()) ?? true;
      const admitted = this.#admissions.count();
      await this.#look();
      const census = this.#census!;
      const settings = this.#settings;
      const isQuiet = isAllDone && this.#admissions.pending() === 0 && this.#admissions.count() === admitted;
      if (settings.maxPages !== null && census.pages >= settings.maxPages) this.end('max-pages');
      else if (isQuiet && isFinished(before, census) && knownTotal(census) > 0)
        this.end('finished'); // one that joined may be here before the first seed
      else if (this.#leftMs() <= 0) this.end('max-duration');
      else if (this.#diskFreeBytes! < settings.diskReserveBytes) {
        log('warn', 'the disk has less free space than --disk-reserve asks for');
        this.end('disk');
      } else await pause(this.#lookMs(census), this.#ending.signal);
    }
  }

  /** Until the next look. */
  #lookMs({ waiting, leased, pages }: Census): number {
    const { maxPages } = this.#settings;
    const isNearEnd = waiting === 0 || (maxPages !== null && pages + leased >= maxPages);
    return isShared(this.#options.store.url) && !isNearEnd ? SHARED_LOOK_MS : LOOK_MS;
  }

  /** What is left of --max-duration. */
  #leftMs(): number {
    const { maxDurationMs } = this.#settings;
    return maxDurationMs === null ? Infinity : maxDurationMs - (performance.now() - this.#startedAt);
  }

  async #look(): Promise<void> {
    this.#census = await this.#supervisor!.store.census();
    this.#pagesPerSecond = this.#rate.note(performance.now(), pagesSettled(this.#board));
    this.#diskFreeBytes = diskFreeBytes(this.#options.dir);
    this.#speed.look(this.#census, this.#supervisor!.busy());
  }

  async #close(): Promise<void> {
    this.#phase = 'stopping';
    await this.#endControl?.();
    const supervisor = this.#supervisor;
    if (!supervisor) return;
    const { onSnapshot } = this.#options;
    const ticker = setInterval(() => {
      void this.#look().catch(() => {}); // a store that is closed or broken has no news
      if (this.#leftMs() <= 0) this.#cut.abort();
      onSnapshot?.(this.snapshot());
    }, LOOK_MS);
    const halted = new Promise<'halt'>((resolve) => {
      if (this.#halting.signal.aborted) resolve('halt');
      this.#halting.signal.addEventListener('abort', () => resolve('halt'), { once: true });
    });
    try {
      // A fault leaves nothing to wait for: what cannot be settled is fetched again.
      const graceMs = this.#fault ? 0 : Math.min(this.#settings.timeoutMs, Math.max(this.#leftMs(), 0) + OVERTIME_MS);
      const inOrder = this.#halting.signal.aborted
        ? halted
        : supervisor.finishVisits(graceMs).then(() => 'done' as const);
      if ((await Promise.race([inOrder, halted])) === 'halt') await supervisor.halt();
      else {
        await this.#options.settledWork?.end(this.#cut.signal);
        await this.#admissions.ended();
        await this.#look().catch(() => {});
        await supervisor.close();
      }
    } catch (error) {
      this.#fail(toFault(error));
    } finally {
      clearInterval(ticker);
    }
  }

  #fail(fault: Fault): void {
    this.#fault ??= fault;
    this.end(fault.diskFull ? 'disk' : 'fault');
  }

  snapshot(): Snapshot {
    const settings = this.#settings;
    const census = this.#census;
    const elapsedMs = performance.now() - this.#startedAt;
    const pagesThisRun = pagesSettled(this.#board);
    const crawledMs = performance.now() - this.#crawlingSince;
    return {
      phase: this.#phase,
      census,
      elapsedMs,
      pagesThisRun,
      limit: this.#phase === 'crawling' ? this.#speed.limit() : null,
      activity: this.#options.watched ? joinActivities(this.#supervisor?.activities() ?? []) : null,
      pagesPerSecond: this.#phase === 'crawling' ? this.#pagesPerSecond : 0,
      pagesPerSecondMean: crawledMs > 0 ? (pagesThisRun * 1000) / crawledMs : 0,
      ...readingsOf(this.#board),
      visitRequestsMsMax: visitRequestsMsMax(settings),
      rereading: this.#scope?.rereading() ?? null,
      seedsLoaded: this.#seedsLoaded,
      memoryBytes: memoryBytes(),
      diskFreeBytes: this.#diskFreeBytes,
      restarts: this.#supervisor?.restarts() ?? 0,
      progress: progressOf(settings, { pages: census?.pages ?? 0, elapsedMs }),
    };
  }
}

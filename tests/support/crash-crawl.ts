/** Crawls that are hit again and again at random moments, go on each time, and are judged at their end. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tinyPlan } from '../../src/world/presets.ts';
import type { WorldPlan } from '../../src/world/plan.ts';
import { diceFor, mix, type Dice } from '../../src/world/random.ts';
import { startBinary, type Ran, type Running } from './binary.ts';
import { makeRoom, mountDisk, unmountDisk } from './crash-disk.ts';
import { comes, mayEndSo, needsStart, pause, strike, type Hit } from './crash-hits.ts';
import { hasStore, judgeFinished, keepForCheck, type StoppedCheck } from './crash-judge.ts';
import type { CrashFigures } from './crash-figures.ts';
import { openRoad, overRoads } from './crash-road.ts';
import { flagWords, openStage, type Flags, type Stage } from './stage.ts';

const PRELOAD = fileURLToPath(new URL('./crash-preload.ts', import.meta.url));

/** A link is given up after eight claims that the crawl did not survive: fewer hits cannot lead there. */
const HITS_PER_CRAWL_MAX = 7;
/** A crawl of one hot site takes about this long without hits. */
const CRAWL_MS = 6_000;
/** A site rests ten times as long as it took to answer: a little less does not lengthen its delay. */
const DELAY_PER_LATENCY = 12;
const CLOCK_BACK_MS = 3_600_000;
/** The longest waits before a hit: a start takes half a second, and the first visits begin together. */
const START_MS = 700;
const BURST_MS = 40;
const CRAWLING_MS = 1_000;
const THROW_AFTER_MS = 900;

/** Crawls beyond one for each hit, before a hit is held for one that never strikes. */
const CRAWLS_MORE = 5;

/** How one crawl is made. */
export interface CrashPlan {
  readonly world: WorldPlan;
  readonly delayMs: number;
}

/** Three of four webs are healthy, so that a crawl is short; the others forbid, move, fail and ask for delays. */
const drawPlan = (dice: Dice): CrashPlan => {
  const odd = dice(4) === 0;
  // A start takes most of a second: a clock that a hit has lost shows where the delay is longer.
  const delayMs = odd ? 300 + dice(200) : dice(3) === 0 ? 300 + dice(700) : 1_000 + dice(500);
  const sitePagesMax = Math.min(20, Math.max(6, Math.round(CRAWL_MS / delayMs)));
  const sites = 10 + dice(odd ? 4 : 11);
  return {
    delayMs,
    world: {
      ...tinyPlan,
      seed: dice(1_000_000),
      sites,
      pages: sites * Math.min(10, sitePagesMax),
      sitePagesMax,
      oddities: odd,
      https: odd || dice(3) === 0,
    },
  };
};

interface CrashOptions {
  readonly plan: CrashPlan;
  readonly dice: Dice;
  /** Stopped crawls are asked by this. */
  readonly stopped: StoppedCheck;
  readonly figures: CrashFigures<Hit>;
}

/** Hits one crawl in this order; gives back the hits that did not strike because it was over before. */
const crashCrawl = async (hits: readonly Hit[], options: CrashOptions): Promise<Hit[]> => {
  const stage = await openStage(options.plan.world);
  const latencyMs = options.plan.delayMs / DELAY_PER_LATENCY;
  const roads = [
    await openRoad(stage.served.httpPort, latencyMs),
    await openRoad(stage.served.httpsPort, latencyMs),
  ] as const;
  const crawl = new HitCrawl(stage, { ...options, connectTo: overRoads(roads) });
  try {
    if (hits.includes('disk') && !(await mountDisk(stage.dir))) throw new Error('no file system can be mounted here');
    const missed = await crawl.take(hits);
    await crawl.finish();
    return missed;
  } finally {
    await crawl.end();
    unmountDisk(stage.dir);
    for (const road of roads) await road.close();
    await stage.close();
  }
};

type HitOptions = CrashOptions & { readonly connectTo: readonly string[] };

class HitCrawl {
  readonly #stage: Stage;
  readonly #options: HitOptions;
  #run: Running | null = null;
  #seenBefore = 0;
  #fresh = true;
  #clockBackMs = 0;
  #starts = 0;
  #finished = false;
  #said = '';
  /** The stopped crawl as it was after each hit. */
  readonly #kept: { readonly after: string; readonly check: () => Promise<string> }[] = [];

  constructor(stage: Stage, options: HitOptions) {
    this.#stage = stage;
    this.#options = options;
  }

  async take(hits: readonly Hit[]): Promise<Hit[]> {
    const { figures } = this.#options;
    const missed: Hit[] = [];
    for (const hit of hits) {
      // What is prepared before a run needs an end of the one before: one more hit, of a kind that costs no try.
      if (this.#run && needsStart(hit)) await this.#hit('stop');
      if (this.#finished) missed.push(hit);
      else if (!(await this.#hit(hit))) missed.push(hit);
    }
    figures.crawls++;
    return missed;
  }

  /** The last run goes to its end. */
  async finish(): Promise<void> {
    const { figures, plan } = this.#options;
    if (!this.#finished) {
      this.#run ??= this.#begin(null);
      await comes(this.#run, () => this.#isCrawling());
      await this.#checkAll();
      const ran = await this.#run.ended;
      this.#run = null;
      if (ran.code !== 0) this.#blame(`the last run ended with ${ran.code ?? ran.signal}: ${tailOf(ran)}`);
    }
    this.#keep('the end');
    await this.#checkAll();
    const { pages, archivedOnce, gaps, noted, spareMs, violations } = await judgeFinished(this.#stage, plan.delayMs);
    figures.pages += pages;
    figures.archivedOnce += archivedOnce;
    figures.gaps += gaps;
    figures.noted += noted;
    figures.spareMs = Math.min(figures.spareMs, spareMs);
    for (const violation of violations) this.#blame(violation);
  }

  /** A crawl that failed half-way leaves nothing running. */
  async end(): Promise<void> {
    this.#run?.send('SIGKILL');
    await this.#checkAll();
  }

  /** Whether it struck. Afterwards the crawl is running, or stopped and looked at, or finished. */
  async #hit(hit: Hit): Promise<boolean> {
    const { dice, figures, plan } = this.#options;
    const { dir } = this.#stage;
    this.#run ??= this.#begin(hit);
    const run = this.#run;
    await this.#moment(run, hit);
    const struck = await strike(hit, { run, dir, dice, delayMs: plan.delayMs, mark: this.#mark() });
    if (struck) figures.hits[hit]++;
    this.#said += `${hit}${struck ? '' : ' (missed)'}, `;
    if (hit === 'disk') await this.#afterFull(struck);
    if (run.isOver()) this.#ended(hit, await run.ended);
    return struck;
  }

  /** A resume on a disk that is still full stops in the same way. */
  async #afterFull(struck: boolean): Promise<void> {
    const { dir } = this.#stage;
    if (struck && this.#options.dice(2) === 0) {
      const ran = await this.#begin(null).ended;
      if (ran.code !== 4 && ran.code !== 0)
        this.#blame(`a resume on a full disk ended with ${ran.code ?? ran.signal}: ${tailOf(ran)}`);
    }
    await makeRoom(dir);
  }

  #ended(hit: Hit, ran: Ran): void {
    this.#run = null;
    this.#finished = ran.code === 0;
    if (!mayEndSo(hit, ran))
      this.#blame(`after the hit "${hit}" a run ended with ${ran.code ?? ran.signal}: ${tailOf(ran)}`);
    this.#keep(hit);
  }

  #keep(after: string): void {
    if (!hasStore(this.#stage)) return; // it was hit before there was anything to look at
    this.#kept.push({ after, check: keepForCheck(this.#stage.dir, this.#options.stopped.check) });
  }

  /** What was kept at each stop is checked, one after the other. */
  async #checkAll(): Promise<void> {
    for (const { after, check } of this.#kept.splice(0)) {
      const why = await check();
      if (why === '') this.#options.figures.checksClean++;
      else this.#blame(`after ${after}: ${why}`);
    }
  }

  #isCrawling(): boolean {
    return this.#stage.served.record.requests.length > this.#seenBefore;
  }

  /** Half of the hits on a new run come while it opens or with its first visits, where the most is under way. */
  async #moment(run: Running, hit: Hit): Promise<void> {
    const { dice } = this.#options;
    const fresh = this.#fresh;
    this.#fresh = false;
    if (hit.endsWith('thread')) return; // its moment is set in the thread
    const kind = dice(4);
    // Without descriptors Node itself cannot load a program: that is not ours to judge.
    if (fresh && kind === 0 && hit !== 'clock' && hit !== 'descriptors') return pause(dice(START_MS));
    if (fresh) await comes(run, () => this.#isCrawling());
    await pause(dice(fresh && kind === 1 ? BURST_MS : CRAWLING_MS));
  }

  #begin(hit: Hit | null): Running {
    const { dice, plan, figures, connectTo } = this.#options;
    const stage = this.#stage;
    const threads: Flags = { fetchers: 1 + dice(2), parsers: hit === 'parse thread' ? 1 + dice(2) : dice(3) };
    const fresh = !existsSync(join(stage.dir, 'crawl.json'));
    const settings: Flags = {
      'connect-to': connectTo,
      delay: `${plan.delayMs}ms`,
      timeout: plan.world.oddities ? '6s' : '20s',
      'park-after': plan.world.oddities ? 5 : 3,
      'disk-reserve': '0',
      concurrency: 50,
    };
    figures[fresh ? 'starts' : 'resumes']++;
    this.#fresh = true;
    this.#starts++;
    this.#seenBefore = stage.served.record.requests.length;
    // A clock that was set back stays back, and may be set back again.
    if (hit === 'clock') this.#clockBackMs += CLOCK_BACK_MS;
    const dying = hit?.endsWith('thread') ? hit.replace(' thread', '') : '';
    return startBinary(
      fresh ? stage.crawlWords({ ...settings, ...threads }) : ['resume', stage.dir, ...flagWords(threads)],
      {
        cwd: stage.home,
        env: {
          ...process.env,
          NODE_OPTIONS: `--import ${PRELOAD}`,
          GOSSAMER_CRASH_CLOCK_BACK_MS: String(this.#clockBackMs),
          GOSSAMER_CRASH_THREAD: dying === 'store' || dying === '' ? dying : `${dying}-1`,
          GOSSAMER_CRASH_AFTER_MS: String(dice(THROW_AFTER_MS)),
          GOSSAMER_CRASH_MARK: this.#mark(),
        },
      },
    );
  }

  #mark(): string {
    return join(this.#stage.home, `thrown-${this.#starts}`);
  }

  #blame(violation: string): void {
    const { figures, plan } = this.#options;
    figures.violations.push(`crawl ${figures.crawls} (delay ${plan.delayMs} ms, hits ${this.#said}): ${violation}`);
  }
}

const tailOf = ({ stdout, stderr }: Ran): string => `${stdout.trim().slice(-600)} ${stderr.trim().slice(-1_500)}`;

export interface CrashOrder extends Pick<CrashOptions, 'stopped' | 'figures'> {
  readonly seed: number;
  readonly draw?: (dice: Dice) => CrashPlan;
}

/** Crawls until every one of these hits has struck. */
export const crashCrawls = async (
  hits: readonly Hit[],
  { seed, stopped, figures, draw = drawPlan }: CrashOrder,
): Promise<void> => {
  let left = [...hits];
  for (let n = 0; left.length > 0; n++) {
    if (n > hits.length + CRAWLS_MORE) throw new Error(`these hits never strike: ${left.join(', ')}`);
    const dice = diceFor(mix(seed, n));
    const some = left.slice(0, HITS_PER_CRAWL_MAX);
    const missed = await crashCrawl(some, { plan: draw(dice), dice, stopped, figures });
    left = [...missed, ...left.slice(some.length)];
  }
};

/**
 * Crawls by two processes in a shared store: one of them or the server is hit again and again, and what is left is
 * judged.
 */

import { leaseMsOf } from '../../src/threads/visit-times.ts';
import type { WorldPlan } from '../../src/world/plan.ts';
import { tinyPlan } from '../../src/world/presets.ts';
import { diceFor, mix, type Dice } from '../../src/world/random.ts';
import type { Ran, Running } from './binary.ts';
import { comes, pause } from './crash-hits.ts';
import { openRoad, overRoads } from './crash-road.ts';
import { drawHits, isLast, mayEndSo, type HitCounts, type SharedFigures, type SharedHit } from './shared-hits.ts';
import { MEMBERS, membersOn, tailOf, type MemberName, type Members } from './shared-members.ts';
import type { SharedServer } from './shared-servers.ts';
import { openStage, type Flags } from './stage.ts';

/** A site rests ten times as long as it took to answer: a little less does not lengthen its delay. */
const DELAY_PER_LATENCY = 12;
/** A lease lasts seven times as long and 30 s more; a pause and a busy machine must not make requests fail. */
const TIMEOUT_MS = 2_000;
const ODD_TIMEOUT_MS = 4_000;
/** The longest waits before a hit: a start takes most of a second, and the first visits begin together. */
const START_MS = 900;
const BURST_MS = 40;
const CRAWLING_MS = 1_000;
/** All sites may be waiting for a lease to run out. */
const GOING_ON_MS_MAX = 5_000;
const PAUSE_MS_MAX = 700;
const AWAY_MS_MAX = 1_500;
/** A crawl in which nothing waits for a lease takes about this long without hits. */
const CRAWL_MS = 14_000;
/** Crawls beyond those that were drawn, for hits that came too late to strike. */
const CRAWLS_MORE = 12;

/** How one crawl is made. */
export interface SharedPlan {
  readonly world: WorldPlan;
  readonly delayMs: number;
}

/** Three of four webs are healthy; the others forbid, move, fail and ask for delays. */
const drawPlan = (dice: Dice): SharedPlan => {
  const odd = dice(4) === 0;
  // A start takes a second, or two on a busy machine: a clock that a hit has lost shows where the delay is longer.
  const delayMs = odd ? 300 + dice(200) : dice(3) > 0 ? 500 + dice(700) : 2_500 + dice(1_500);
  const sitePagesMax = Math.max(7, Math.round(CRAWL_MS / delayMs));
  const sites = 10 + dice(odd ? 4 : 8);
  return {
    delayMs,
    world: {
      ...tinyPlan,
      seed: dice(1_000_000),
      sites,
      pages: sites * Math.min(14, sitePagesMax),
      sitePagesMax,
      oddities: odd,
      https: odd || dice(3) === 0,
    },
  };
};

interface CrashOptions {
  readonly server: SharedServer;
  /** Where this crawl is, in a store that has no other of its name. */
  readonly url: string;
  readonly name: string;
  readonly plan: SharedPlan;
  readonly dice: Dice;
  readonly figures: SharedFigures;
}

/** Hits one crawl in this order; gives back the hits that did not strike because it was over before. */
const crashShared = async (hits: readonly SharedHit[], options: CrashOptions): Promise<SharedHit[]> => {
  const { plan, url, name } = options;
  const stage = await openStage(plan.world);
  const latencyMs = plan.delayMs / DELAY_PER_LATENCY;
  const roads = [
    await openRoad(stage.served.httpPort, latencyMs),
    await openRoad(stage.served.httpsPort, latencyMs),
  ] as const;
  const settings: Flags = {
    'connect-to': overRoads(roads),
    delay: `${plan.delayMs}ms`,
    timeout: `${timeoutMsOf(plan)}ms`,
    'park-after': plan.world.oddities ? 5 : 10,
    'disk-reserve': '0',
    concurrency: 50,
  };
  const crawl = new SharedCrash(membersOn(stage, { url, name, settings }), options);
  try {
    const missed = await crawl.take(hits);
    await crawl.finish();
    return missed;
  } finally {
    crawl.end();
    for (const road of roads) await road.close();
    await stage.close();
  }
};

const timeoutMsOf = ({ world }: SharedPlan): number => (world.oddities ? ODD_TIMEOUT_MS : TIMEOUT_MS);

class SharedCrash {
  readonly #members: Members;
  readonly #options: CrashOptions;
  readonly #runs = new Map<MemberName, Running>();
  #begun: { readonly by: MemberName; readonly seenBefore: number } | null = null;
  #finished = false;
  #said = '';

  constructor(members: Members, options: CrashOptions) {
    this.#members = members;
    this.#options = options;
  }

  async take(hits: readonly SharedHit[]): Promise<SharedHit[]> {
    const { figures } = this.#options;
    const missed: SharedHit[] = [];
    for (const hit of hits) {
      const struck = !this.#finished && (await this.#hit(hit));
      if (struck) figures.hits[hit]++;
      else missed.push(hit);
      this.#said += `${hit}${struck ? '' : ' (missed)'}, `;
      // A pause alone ends nobody: the next hit follows it without a look in between.
      if (struck && !isLast(hit) && hit !== 'pause') await this.#check(hit);
    }
    figures.crawls++;
    return missed;
  }

  /** Both go on to the end. */
  async finish(): Promise<void> {
    const { figures, plan } = this.#options;
    await this.#startAll();
    for (const [member, run] of this.#runs) this.#over(member, null, await run.ended);
    await this.#check('the end');
    const { pages, archivedOnce, gaps, noted, spareMs, violations } = await this.#members.judge(plan.delayMs);
    figures.pages += pages;
    figures.archivedOnce += archivedOnce;
    figures.gaps += gaps;
    figures.noted += noted;
    figures.spareMs = Math.min(figures.spareMs, spareMs);
    for (const violation of violations) this.#blame(violation);
  }

  /** A crawl that failed half-way leaves nothing running. */
  end(): void {
    for (const run of this.#runs.values()) run.send('SIGKILL');
  }

  async #hit(hit: SharedHit): Promise<boolean> {
    const { dice } = this.#options;
    const early = !this.#runs.has('first') && !this.#members.isMade('first') && !isLast(hit) && dice(4) === 0;
    if (early) this.#start('first');
    else await this.#startAll();
    await this.#moment(early);
    const running = MEMBERS.filter((member) => this.#runs.get(member)?.isOver() === false);
    const victim = running[dice(running.length)];
    if (victim === undefined || (isLast(hit) && running.length < MEMBERS.length)) return this.#gather(hit, false);
    return this.#gather(hit, await this.#strike(hit, victim));
  }

  async #strike(hit: SharedHit, victim: MemberName): Promise<boolean> {
    const { dice } = this.#options;
    const run = this.#runs.get(victim)!;
    // Whose sites the other is to take over must have some under way.
    const requests = this.#requestsOf(victim);
    if (isLast(hit) && !(await comes(run, () => this.#requestsOf(victim) > requests))) return false;
    switch (hit) {
      case 'kill':
      case 'stop': {
        if (!(await this.#end(victim, hit))) return false;
        if (dice(3) > 0) await this.#goesOn(victim); // or it is dead for a while
        await pause(dice(CRAWLING_MS));
        return true;
      }
      case 'pause':
        run.send('SIGSTOP');
        await pause(dice(PAUSE_MS_MAX));
        run.send('SIGCONT');
        return !run.isOver();
      case 'server':
        return this.#strikeServer(victim);
      case 'leave':
        return (await this.#end(victim, hit)) && this.#otherFinishes(victim);
      case 'sleep': {
        run.send('SIGSTOP');
        const awake = performance.now() + leaseMsOf({ timeoutMs: timeoutMsOf(this.#options.plan) });
        await this.#otherFinishes(victim);
        await pause(Math.max(0, awake - performance.now()));
        run.send('SIGCONT');
        return true;
      }
      default:
        return hit satisfies never;
    }
  }

  /** Now and then a process is ended while the server is gone. */
  async #strikeServer(victim: MemberName): Promise<boolean> {
    const { dice, server, figures } = this.#options;
    await server.kill();
    const too = dice(4);
    await pause(dice(AWAY_MS_MAX));
    if (too === 0 && (await this.#end(victim, 'kill'))) figures.hits.kill++;
    const stopping = too === 1 ? this.#runs.get(victim)! : null;
    stopping?.send('SIGTERM');
    await pause(dice(AWAY_MS_MAX));
    await server.restart();
    if (stopping) {
      const ran = await stopping.ended;
      this.#over(victim, mayEndSo('server', ran) ? 'server' : 'stop', ran);
    }
    await pause(dice(CRAWLING_MS));
    return true;
  }

  /** At once, up to its first request: what its end did to the clocks of its sites shows then. */
  async #goesOn(member: MemberName): Promise<void> {
    if (member === 'second' && !this.#members.isMade('second')) return; // the crawl may not be there to be joined
    const requests = this.#requestsOf(member);
    this.#start(member);
    await comes(this.#runs.get(member)!, () => this.#requestsOf(member) > requests, GOING_ON_MS_MAX);
  }

  /** Whether the signal ended it, and not the crawl's end just before. */
  async #end(member: MemberName, hit: 'kill' | 'stop' | 'leave'): Promise<boolean> {
    const run = this.#runs.get(member)!;
    if (run.isOver()) return false;
    run.send(hit === 'stop' ? 'SIGTERM' : 'SIGKILL');
    const ran = await run.ended;
    this.#over(member, hit, ran);
    return ran.code !== 0;
  }

  /** What the other had leased is free again after a while, and the crawl comes to its end without it. */
  async #otherFinishes(victim: MemberName): Promise<boolean> {
    const other = MEMBERS.find((member) => member !== victim)!;
    this.#over(other, null, await this.#runs.get(other)!.ended);
    return true;
  }

  /** Runs that are over by themselves. */
  async #gather(hit: SharedHit, struck: boolean): Promise<boolean> {
    for (const [member, run] of this.#runs)
      if (run.isOver()) this.#over(member, hit === 'server' ? hit : null, await run.ended);
    return struck;
  }

  #over(member: MemberName, hit: SharedHit | null, ran: Ran): void {
    this.#runs.delete(member);
    if (ran.code === 0) this.#finished = true;
    else if (hit === null || !mayEndSo(hit, ran))
      this.#blame(
        `${hit === null ? 'unhit' : `after "${hit}"`}, the ${member} ended with ${ran.code ?? ran.signal}: ${tailOf(ran)}`,
      );
  }

  /** All are stopped; then both directories and the store must agree. */
  async #check(after: string): Promise<void> {
    for (const run of this.#runs.values()) run.send('SIGTERM');
    for (const [member, run] of this.#runs) this.#over(member, 'stop', await run.ended);
    if (!this.#members.isMade('first')) return; // it was hit before there was anything to look at
    const why = await this.#members.verify();
    if (why === '') this.#options.figures.checksClean++;
    else this.#blame(`after ${after}: ${why}`);
  }

  /** Half of the hits on a new run come while it opens or with its first visits, where the most is under way. */
  async #moment(early: boolean): Promise<void> {
    const { dice } = this.#options;
    const begun = this.#begun;
    this.#begun = null;
    const kind = dice(4);
    if (early || (begun && kind === 0)) return pause(dice(START_MS));
    if (begun) await comes(this.#runs.get(begun.by)!, () => this.#requestsOf(begun.by) > begun.seenBefore);
    await pause(dice(begun && kind === 1 ? BURST_MS : CRAWLING_MS));
  }

  async #startAll(): Promise<void> {
    for (const member of MEMBERS) {
      // Nobody can join before the crawl is in the store, which is when its first request is sent.
      if (member === 'second' && !this.#members.isMade('second'))
        await comes(this.#runs.get('first')!, () => this.#requestsOf('first') > 0);
      if (!this.#runs.has(member)) this.#start(member);
    }
  }

  #start(member: MemberName): void {
    const { dice, figures } = this.#options;
    figures[this.#members.isMade(member) ? 'resumes' : 'starts']++;
    this.#begun = { by: member, seenBefore: this.#requestsOf(member) };
    // The small web sees by the address whose request it is.
    this.#runs.set(
      member,
      this.#members.start(member, { email: `${member}@example.org`, fetchers: 1 + dice(2), parsers: dice(3) }),
    );
  }

  #requestsOf(member: MemberName): number {
    return this.#members.stage.served.record.requests.reduce(
      (sum, { userAgent }) => sum + (userAgent.includes(`${member}@`) ? 1 : 0),
      0,
    );
  }

  #blame(violation: string): void {
    const { figures, plan, name } = this.#options;
    figures.violations.push(`${name} (delay ${plan.delayMs} ms, hits ${this.#said}): ${violation}`);
  }
}

export interface SharedOrder extends HitCounts {
  readonly server: SharedServer;
  readonly figures: SharedFigures;
  readonly seed: number;
  /** No crawl is begun after this time. */
  readonly msMax: number;
}

/** Crawls until every hit has struck, or the time is over. */
export const crashSharedCrawls = async ({ server, figures, seed, msMax, ...counts }: SharedOrder): Promise<void> => {
  const until = performance.now() + msMax;
  const rows = drawHits(counts, diceFor(seed));
  const crawlsMax = rows.length + CRAWLS_MORE;
  const url = await server.place();
  for (let n = 0; rows.length > 0; n++) {
    if (n >= crawlsMax || performance.now() > until)
      return void figures.violations.push(
        `${n >= crawlsMax ? 'crawls' : 'time'} ran out before these hits: ${rows.flat().join(', ')}`,
      );
    const dice = diceFor(mix(seed, n));
    const missed = await crashShared(rows.shift()!, {
      server,
      url,
      name: `crash_${n}`,
      plan: drawPlan(dice),
      dice,
      figures,
    });
    if (missed.length > 0) rows.push(missed);
  }
};

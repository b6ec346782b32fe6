/** Kills a crawl at random moments, goes on with it each time, and judges what is left at the end. */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lookAt } from './sqlite-place.ts';
import { diceFor, type Dice } from '../../src/world/random.ts';
import { originSeen, type Seen } from '../../src/world/seen.ts';
import { archivedIn, countByUrl } from './archive-check.ts';
import type { Running } from './binary.ts';
import type { Stage } from './stage.ts';

export const PHASES = ['set-up', 'loading', 'crawling', 'stopping'] as const;
export type KillPhase = (typeof PHASES)[number];

export interface KillFigures {
  readonly seed: number;
  readonly rounds: number;
  /** Kills by what the crawl was doing. */
  readonly kills: Record<KillPhase, number>;
  /** Runs begun: by `crawl` while there was no crawl yet, by `resume` from then on. */
  starts: number;
  resumes: number;
  pages: number;
  archivedOnce: number;
  gaps: number;
  shortestGapMs: number;
  violations: string[];
}

/** Lines in the seed file, nearly all of them spellings of the same few seeds: loading them takes a while. */
const SEED_LINES = 100_000;
/** Longer than a start takes: a site whose clock was lost in the kill is then visited too early. */
export const KILL_DELAY_MS = 1_500;
/** The longest waits before a kill: set-up reads and copies the seeds within this time, more or less. */
const SET_UP_MS = 700;
const LOADING_MS = 120;
const CRAWLING_MS = 1_200;
/** The first visits of a run begin together: a kill this soon meets many of them under way. */
const BURST_MS = 40;
const STOPPING_MS = 40;

export const killCrawl = async (
  stage: Stage,
  { rounds, seed }: { rounds: number; seed: number },
): Promise<KillFigures> => {
  const dice = diceFor(seed);
  const figures: KillFigures = {
    seed,
    rounds,
    kills: { 'set-up': 0, loading: 0, crawling: 0, stopping: 0 },
    starts: 0,
    resumes: 0,
    pages: 0,
    archivedOnce: 0,
    gaps: 0,
    shortestGapMs: Infinity,
    violations: [],
  };
  const seeds = stage.world.seeds();
  writeFileSync(
    stage.seedFile,
    Array.from({ length: SEED_LINES }, (_, n) => `${seeds[n % seeds.length]}#${n}\n`).join(''),
  );
  for (let round = 0; round < rounds; round++) await killOnce(stage, figures, { dice, phase: phaseOf(round, rounds) });

  const ran = await begin(stage, figures).ended;
  if (ran.code !== 0)
    figures.violations.push(`the last run ended with ${ran.code ?? ran.signal}: ${ran.stderr.trim()}`);
  await judge(stage, figures);
  return figures;
};

/** A fifth of the rounds each for set-up and loading, which come first; of the rest every fourth while it stops. */
const phaseOf = (round: number, rounds: number): KillPhase => {
  const share = Math.max(1, Math.floor(rounds / 5));
  if (round < share) return 'set-up';
  if (round < 2 * share) return 'loading';
  return (round - 2 * share) % 4 === 2 ? 'stopping' : 'crawling';
};

const begin = (stage: Stage, figures: KillFigures): Running => {
  if (existsSync(join(stage.dir, 'crawl.json'))) {
    figures.resumes++;
    return stage.startResume();
  }
  figures.starts++;
  return stage.startCrawl({ delay: `${KILL_DELAY_MS}ms` });
};

const killOnce = async (
  stage: Stage,
  figures: KillFigures,
  { dice, phase }: { dice: Dice; phase: KillPhase },
): Promise<void> => {
  const seenBefore = stage.served.record.requests.length;
  const run = begin(stage, figures);
  const isCrawling = (): boolean => stage.served.record.requests.length > seenBefore;
  switch (phase) {
    case 'set-up':
      await pause(dice(SET_UP_MS));
      break;
    case 'loading':
      await comes(run, async () => (await seedsLoaded(stage)) > 0);
      await pause(dice(LOADING_MS));
      break;
    case 'crawling':
      await comes(run, isCrawling);
      await pause(dice(dice(2) === 0 ? BURST_MS : CRAWLING_MS));
      break;
    case 'stopping':
      await comes(run, isCrawling);
      await pause(dice(BURST_MS));
      run.send('SIGINT');
      await pause(dice(STOPPING_MS));
      break;
  }
  // What it was really doing at the moment of the kill.
  const loaded = await seedsLoaded(stage);
  const doing: KillPhase =
    phase === 'stopping' ? phase : loaded === 0 ? 'set-up' : loaded < SEED_LINES ? 'loading' : 'crawling';
  run.send('SIGKILL');
  const { signal, code, stderr } = await run.ended;
  if (signal === 'SIGKILL') figures.kills[doing]++;
  else if (code !== 3 && code !== 0) figures.violations.push(`a run ended with ${code} by itself: ${stderr.trim()}`);
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const comes = async (run: Running, isSo: () => boolean | Promise<boolean>): Promise<void> => {
  while (!run.isOver() && !(await isSo())) await pause(2);
};

const seedsLoaded = async (stage: Stage): Promise<number> => {
  try {
    return await lookAt(stage.dir, async (crawl) => (await crawl.census()).marks.seeds ?? 0);
  } catch {
    return 0; // the store is not there yet
  }
};

const judge = async (stage: Stage, figures: KillFigures): Promise<void> => {
  const { violations } = figures;
  const wanted = stage.world.reachable().pages;
  const status = await stage.status();
  figures.pages = wanted.size;
  if (status.waiting + status.leased > 0 || status.pages !== wanted.size)
    violations.push(`the status is ${JSON.stringify(status)}`);

  const counts = countByUrl(await archivedIn(stage.dir));
  for (const url of wanted) if (!counts.has(url)) violations.push(`not archived: ${url}`);
  for (const [url, count] of counts) if (count !== 1) violations.push(`archived ${count} times: ${url}`);
  figures.archivedOnce = [...wanted].filter((url) => counts.get(url) === 1).length;

  const { tooEarly, overlaps, forbidden, unexpected, beforeRobots } = stage.served.record.report({
    delayMs: KILL_DELAY_MS,
  });
  for (const gap of tooEarly) violations.push(`too early: ${JSON.stringify(gap)}`);
  for (const gap of overlaps) violations.push(`overlapping: ${JSON.stringify(gap)}`);
  for (const seen of [...forbidden, ...beforeRobots, ...unexpected])
    violations.push(`not to be requested: ${JSON.stringify(seen)}`);
  for (const gapMs of gapsOf(stage.served.record.requests)) {
    figures.gaps++;
    figures.shortestGapMs = Math.min(figures.shortestGapMs, gapMs);
  }
};

/** The times between the starts of two visits to a site, over all runs. */
const gapsOf = (requests: readonly Seen[]): number[] =>
  [...Map.groupBy(requests, (seen) => seen.site).values()].flatMap((seen) => {
    // A page right after the robots.txt of its origin belongs to the same visit.
    const starts = seen.filter((one, n) => {
      const before = seen[n - 1];
      return one.kind === 'robots' || before?.kind !== 'robots' || originSeen(before) !== originSeen(one);
    });
    return starts.slice(1).map((one, n) => one.at - (starts[n] as Seen).at);
  });

export const figuresLine = (figures: KillFigures): string => {
  const { rounds, kills, starts, resumes, pages, archivedOnce, gaps, shortestGapMs, violations, seed } = figures;
  return (
    `seed ${seed}: ${rounds} rounds, kills ${PHASES.map((phase) => `${kills[phase]} in ${phase}`).join(', ')}; ` +
    `${starts} starts, ${resumes} resumes; ${pages} pages, ${archivedOnce} archived once; ` +
    `${gaps} gaps checked, shortest gap - delay ${(shortestGapMs - KILL_DELAY_MS).toFixed(2)} ms; ${violations.length} violations`
  );
};

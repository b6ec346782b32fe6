/** The ways in which a running crawl is hit, and what it may do about each. */

import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Dice } from '../../src/world/random.ts';
import type { Ran, Running } from './binary.ts';
import { fillDisk } from './crash-disk.ts';
import { PATIENCE_MS } from './until.ts';

export const HITS = {
  kill: 'kill -9',
  stop: 'SIGTERM',
  halt: 'SIGTERM twice',
  pause: 'SIGSTOP, a pause longer than the delay, SIGCONT',
  'long pause': 'a pause longer than the watch over threads tolerates',
  'fetch thread': 'a fetch thread throws',
  'parse thread': 'a parse thread throws',
  'store thread': 'the store thread throws',
  disk: 'the disk is full',
  descriptors: 'no descriptor is left',
  clock: 'the clock is set back between two runs',
} as const;

export type Hit = keyof typeof HITS;
export const ALL_HITS = Object.keys(HITS) as Hit[];

/** These are prepared before a run begins. */
export const needsStart = (hit: Hit): boolean => hit === 'clock' || hit.endsWith('thread');

export interface Target {
  readonly run: Running;
  readonly dir: string;
  readonly dice: Dice;
  readonly delayMs: number;
  /** Made by the thread that throws. */
  readonly mark: string;
}

/** The watch over threads holds three seconds without a look for a pause of the whole process. */
const LONG_PAUSE_MS = 3_200;
/** What was under way takes ten times the pause as its site's rest: a crawl with a long one is long. */
const PAUSE_MORE_MS = 1_000;
/** Two signals come as close together as a person's second thought, or as a script's. */
const SECOND_SIGNAL_MS = 40;
const WITHOUT_DESCRIPTORS_MS = 2_000;
const SPARE_PAGES_MAX = 24;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether it came true before the run was over, or time was. */
export const comes = async (run: Running, isSo: () => boolean, deadlineMs = PATIENCE_MS): Promise<boolean> => {
  const end = performance.now() + deadlineMs;
  while (!run.isOver() && !isSo() && performance.now() < end) await pause(2);
  return isSo();
};

/** Strikes; resolves with whether it struck a run that was under way. */
export const strike = async (hit: Hit, target: Target): Promise<boolean> => {
  const { run, dice, delayMs } = target;
  if (run.isOver()) return false;
  switch (hit) {
    case 'kill':
      run.send('SIGKILL');
      return (await run.ended).signal === 'SIGKILL';
    case 'stop':
      run.send('SIGTERM');
      return (await run.ended).code !== 0;
    case 'halt':
      run.send('SIGTERM');
      await pause(dice(SECOND_SIGNAL_MS));
      run.send('SIGTERM');
      return (await run.ended).code !== 0;
    case 'pause':
      return standStill(run, delayMs + dice(PAUSE_MORE_MS / 4));
    case 'long pause':
      return standStill(run, LONG_PAUSE_MS + dice(PAUSE_MORE_MS));
    case 'fetch thread':
    case 'parse thread':
      return comes(run, () => existsSync(target.mark)); // a run that is over before was too short
    case 'store thread':
      return (await comes(run, () => existsSync(target.mark))) && (await run.ended, true);
    case 'disk':
      await fillDisk(target.dir, dice(SPARE_PAGES_MAX));
      return (await run.ended).code === 4; // otherwise it needed nothing more
    case 'descriptors':
      return exhaust(run, dice);
    case 'clock':
      return !run.isOver();
    default:
      return hit satisfies never;
  }
};

const standStill = async (run: Running, ms: number): Promise<boolean> => {
  run.send('SIGSTOP');
  await pause(ms);
  run.send('SIGCONT');
  return !run.isOver();
};

const prlimit = async (run: Running, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)('prlimit', ['--pid', String(run.pid), ...args])).stdout;

export const canLimitDescriptors = (): Promise<boolean> =>
  promisify(execFile)('prlimit', ['--pid', String(process.pid), '--nofile']).then(
    () => existsSync('/proc/self/fd'),
    () => false,
  );

/** What is open stays open; nothing more can be opened for a while. */
const exhaust = async (run: Running, dice: Dice): Promise<boolean> => {
  let struck = false;
  try {
    const before = (await prlimit(run, '--nofile', '--output=SOFT', '--noheadings', '--raw')).trim();
    await prlimit(run, `--nofile=${dice(readdirSync(`/proc/${run.pid}/fd`).length)}:`);
    struck = true;
    await pause(WITHOUT_DESCRIPTORS_MS / 4 + dice(WITHOUT_DESCRIPTORS_MS));
    if (!run.isOver()) await prlimit(run, `--nofile=${before}:`);
  } catch (error) {
    await comes(run, () => false); // it may have been about to end while we looked
    if (!run.isOver()) throw error;
  }
  return struck;
};

/** Whether a run may end like this after that hit; a run that is finished may always. */
export const mayEndSo = (hit: Hit, { code, signal, stderr }: Ran): boolean => {
  if (code === 0) return true;
  switch (hit) {
    case 'kill':
      return signal === 'SIGKILL';
    case 'stop':
      return code === 3 || signal === 'SIGTERM'; // before it listens, a signal ends it as any program
    case 'halt':
      return code === 130 || code === 3 || signal === 'SIGTERM';
    case 'store thread':
      return code === 1;
    case 'disk':
      return code === 4;
    case 'descriptors':
      return code === 1 && !/^ +at /m.test(stderr); // a sentence, no stack
    case 'pause':
    case 'long pause':
    case 'fetch thread':
    case 'parse thread':
    case 'clock':
      return false;
    default:
      return hit satisfies never;
  }
};

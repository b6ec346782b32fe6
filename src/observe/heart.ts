/** Shared memory in which a thread shows that it lives: it answers even when the thread cannot. */

import { HOOK_NAMES, type HookName } from '../model/hooks.ts';

/** Busy since this second (of a clock that starts at 1), or 0 when the thread rests. */
const BUSY_SINCE = 0;
/** The job being worked on, or 0. A number of 53 bits in two cells, as a lease has. */
const JOB_LOW = 1;
const JOB_HIGH = 2;
/** Which hook of a person's module is running: 0 for none, or its place in HOOK_NAMES from 1 on. */
const HOOK = 3;
const HALF = 2 ** 32;

export interface Heart {
  /** The thread begins something that must end in time. */
  busy(job?: number): void;
  rest(): void;
  /** How long it has been busy with one thing. */
  busyMs(): number;
  job(): number;
  /** The thread runs a hook, or has come back from it (null). */
  runs(hook: HookName | null): void;
  /** The hook it is in, or was in when it died. */
  hook(): HookName | null;
}

export const newHeart = (): SharedArrayBuffer => new SharedArrayBuffer(16);

const second = (): number => Math.floor(Number(process.hrtime.bigint() / 1_000_000_000n)) + 1;

export const openHeart = (shared: SharedArrayBuffer): Heart => {
  const cells = new Int32Array(shared);
  const setJob = (job: number): void => {
    Atomics.store(cells, JOB_LOW, job | 0);
    Atomics.store(cells, JOB_HIGH, Math.floor(job / HALF));
  };
  return {
    busy: (job = 0) => {
      setJob(job);
      Atomics.store(cells, BUSY_SINCE, second());
    },
    rest: () => {
      Atomics.store(cells, BUSY_SINCE, 0);
      setJob(0);
    },
    busyMs: () => {
      const since = Atomics.load(cells, BUSY_SINCE);
      return since === 0 ? 0 : (second() - since) * 1_000;
    },
    runs: (hook) => void Atomics.store(cells, HOOK, hook === null ? 0 : HOOK_NAMES.indexOf(hook) + 1),
    hook: () => HOOK_NAMES[Atomics.load(cells, HOOK) - 1] ?? null,
    job: () => (Atomics.load(cells, JOB_HIGH) >>> 0) * HALF + (Atomics.load(cells, JOB_LOW) >>> 0),
  };
};

/** Shared memory in which a thread shows that it lives: it answers even when the thread cannot. */

/** Busy since this second (of a clock that starts at 1), or 0 when the thread rests. */
const BUSY_SINCE = 0;
/** The job being worked on, or 0. A number of 53 bits in two cells, as a lease has. */
const JOB_LOW = 1;
const JOB_HIGH = 2;
const HALF = 2 ** 32;

export interface Heart {
  /** The thread begins something that must end in time. */
  busy(job?: number): void;
  rest(): void;
  /** How long it has been busy with one thing. */
  busyMs(): number;
  job(): number;
}

export const newHeart = (): SharedArrayBuffer => new SharedArrayBuffer(12);

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
    job: () => (Atomics.load(cells, JOB_HIGH) >>> 0) * HALF + (Atomics.load(cells, JOB_LOW) >>> 0),
  };
};

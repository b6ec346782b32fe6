/** Shared memory in which a thread shows that it lives: it answers even when the thread cannot. */

/** Busy since this second (of a clock that starts at 1), or 0 when the thread rests. */
const BUSY_SINCE = 0;
/** The job being worked on, or 0. */
const JOB = 1;

export interface Heart {
  /** The thread begins something that must end in time. */
  busy(job?: number): void;
  rest(): void;
  /** How long it has been busy with one thing. */
  busyMs(): number;
  job(): number;
}

export const newHeart = (): SharedArrayBuffer => new SharedArrayBuffer(8);

const second = (): number => Math.floor(Number(process.hrtime.bigint() / 1_000_000_000n)) + 1;

export const openHeart = (shared: SharedArrayBuffer): Heart => {
  const cells = new Int32Array(shared);
  return {
    busy: (job = 0) => {
      Atomics.store(cells, JOB, job);
      Atomics.store(cells, BUSY_SINCE, second());
    },
    rest: () => {
      Atomics.store(cells, BUSY_SINCE, 0);
      Atomics.store(cells, JOB, 0);
    },
    busyMs: () => {
      const since = Atomics.load(cells, BUSY_SINCE);
      return since === 0 ? 0 : (second() - since) * 1_000;
    },
    job: () => Atomics.load(cells, JOB),
  };
};

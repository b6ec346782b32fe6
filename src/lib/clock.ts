/** The one place that knows what time it is. */

import { onAbort } from './on-abort.ts';

export interface Clock {
  /** Milliseconds since the epoch; never goes back within one process. */
  now(): number;
  /** Resolves after that time, or at once when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Where a process's clock starts: a moment of the wall clock and the same moment of the monotonic one. */
export interface Anchor {
  readonly wallMs: number;
  readonly monotonicNs: bigint;
  /** Where time is a server's: how far it has moved away since, in milliseconds, one number for all threads. */
  readonly drift?: SharedArrayBuffer;
}

/** Milliseconds that only go forward, the same for all threads; they stand still while the machine sleeps. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Milliseconds since the epoch by the machine's own clock, which a person may set. */
export const wallMs = (): number => Date.now();

/**
 * Milliseconds that passed, also while the machine slept: of the two clocks the one that went further counts, each time
 * that it is looked at. A person who sets the wall clock forward makes it run ahead, and nobody can set it back.
 */
export const createElapsed = (): (() => number) => {
  let [monotonic, wall, passed] = [monotonicMs(), wallMs(), 0];
  return () => {
    const [monotonicNow, wallNow] = [monotonicMs(), wallMs()];
    passed += Math.max(monotonicNow - monotonic, wallNow - wall);
    [monotonic, wall] = [monotonicNow, wallNow];
    return passed;
  };
};

/** Anchored to the wall clock, but never before the last moment that a store recorded. */
export const anchorNow = (notBeforeMs: number): Anchor => ({
  wallMs: Math.max(Date.now(), notBeforeMs),
  monotonicNs: process.hrtime.bigint(),
});

/**
 * hrtime is one clock for all threads of a machine, so one anchor gives them all the same time.
 * performance.now() would be cheaper, but it starts anew in each thread: tying it to the anchor
 * takes two readings, and a thread that loses the processor between them would be late for good.
 */
export const createClock = (anchor: Anchor = anchorNow(0)): Clock => {
  const own = (): number => anchor.wallMs + Number(process.hrtime.bigint() - anchor.monotonicNs) / 1e6;
  if (!anchor.drift) return { now: own, sleep };
  const drift = new Float64Array(anchor.drift);
  let last = -Infinity;
  return { now: () => (last = Math.max(last, own() + drift[0]!)), sleep };
};

/**
 * A clock that follows a server's: `readServer` gives its time. Where it stands is looked at with `follow`, which moves
 * all clocks of this anchor.
 */
export const anchorTo = async (
  readServer: () => Promise<number>,
): Promise<{ anchor: Anchor; follow: () => Promise<void> }> => {
  const first = await nearest(readServer);
  const drift = new SharedArrayBuffer(8);
  const anchor: Anchor = { ...first, drift };
  const follow = async (): Promise<void> => {
    const now = await nearest(readServer);
    new Float64Array(drift)[0] = now.wallMs - (anchor.wallMs + Number(now.monotonicNs - anchor.monotonicNs) / 1e6);
  };
  return { anchor, follow };
};

/** Readings of a server's clock: the one with the shortest way there and back is the nearest. */
const READINGS = 5;
/**
 * A clock that is behind the server's would let a site be called too early, by what it is behind; one that is ahead
 * only waits. So the whole way counts as way back, and some more: good clocks drift apart by up to 3 ms a minute.
 */
const AHEAD_MS = 5;

const nearest = async (readServer: () => Promise<number>): Promise<{ wallMs: number; monotonicNs: bigint }> => {
  let best = { wallMs: 0, monotonicNs: 0n };
  let bestWayNs: bigint | null = null;
  for (let i = 0; i < READINGS; i++) {
    const before = process.hrtime.bigint();
    const wallMs = await readServer();
    const monotonicNs = process.hrtime.bigint();
    if (bestWayNs !== null && monotonicNs - before >= bestWayNs) continue;
    bestWayNs = monotonicNs - before;
    best = { wallMs: wallMs + Number(bestWayNs) / 1e6 + AHEAD_MS, monotonicNs };
  }
  return best;
};

const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      stopListening?.();
      resolve();
    };
    const timer = setTimeout(done, Math.min(Math.max(ms, 0), 2 ** 31 - 1));
    const stopListening = signal && onAbort(signal, done);
  });

/** Long work of a fetch thread in slices: between them other visits go on, and the thread shows that it lives. */

import type { Clock } from '../lib/clock.ts';

/** Links of one slice: 1 to 3 ms of ordinary addresses. */
export const SLICE_LINKS_MAX = 1_000;
/** A slice ends with the link that takes it past this time: a slow address takes up to half a millisecond. */
export const SLICE_MS_MAX = 20;

/**
 * Does `work` with each item in order, and gives the event loop a turn after each slice. Ends early when `stop` is
 * aborted, and says so with false.
 */
export type InSlices = <T>(items: readonly T[], work: (item: T) => void, stop?: AbortSignal) => Promise<boolean>;

export const createSlices = (clock: Clock): InSlices => {
  // One slice a turn, however many pages are in slices: a thousand in one turn would stop all others for seconds.
  let lastTurn: Promise<void> = Promise.resolve();
  return async (items, work, stop) => {
    let begunAt = clock.now();
    let done = 0;
    for (const item of items) {
      if (done >= SLICE_LINKS_MAX || clock.now() - begunAt >= SLICE_MS_MAX) {
        await (lastTurn = lastTurn.then(() => clock.sleep(0)));
        if (stop?.aborted) return false;
        begunAt = clock.now();
        done = 0;
      }
      work(item);
      done++;
    }
    return true;
  };
};

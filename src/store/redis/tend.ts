/**
 * Keeps a frontier in files small, in the background: merges references, empties files with little left, deletes those
 * with nothing.
 */

import { reclaim, type Frontier } from './frontier.ts';
import { empty, merge } from './rewrite.ts';

export interface Tending {
  /** These sites have many references. */
  notice(shard: number, sites: readonly string[]): void;
  /** Resolves when there is not too much left to do. */
  room(): Promise<void>;
  /** Resolves when all that is to be done now is done. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** Sites merged together; the lines of all are in memory then. */
const SITES_AT_ONCE = 16;
/** Who admits waits when more sites than this wait for being merged. */
const SITES_WAITING_MAX = 10_000;

export const tendFrontier = (frontier: Frontier): Tending => {
  const { writer, limits } = frontier;
  const sites = new Map<string, number>();
  let lookedAt = writer.current();
  let isLookDue = false;
  let isOpen = true;
  let work: Promise<void> | null = null;
  let wakeWaiting = (): void => {};

  const run = async (): Promise<void> => {
    while (isOpen) {
      if (isLookDue || writer.current() !== lookedAt) {
        const isThorough = isLookDue;
        isLookDue = false;
        lookedAt = writer.current();
        const sparse = await reclaim(frontier);
        if (isThorough && sparse.files.size > 0) {
          await empty(frontier, sparse);
          await reclaim(frontier);
        }
      } else if (sites.size > 0) {
        const some = [...sites].slice(0, SITES_AT_ONCE).map(([site, shard]) => ({ site, shard }));
        for (const { site } of some) sites.delete(site);
        if (sites.size < SITES_WAITING_MAX) wakeWaiting();
        await merge(frontier, some);
      } else return;
    }
  };
  const begin = (): void => {
    if (!isOpen) return;
    // What keeps this from being done keeps the verbs from being done, too, and they say it.
    work ??= run()
      .catch(() => sites.clear())
      .finally(() => {
        work = null;
        wakeWaiting();
      });
  };
  const look = (): void => {
    isLookDue = true;
    begin();
  };
  const timer = setInterval(look, limits.lookMs).unref();
  look(); // also for what the last opening left

  return {
    notice: (shard, some) => {
      for (const site of some) sites.set(site, shard);
      if (sites.size > 0 || writer.current() !== lookedAt) begin();
    },
    room: async () => {
      while (isOpen && work !== null && sites.size >= SITES_WAITING_MAX)
        await new Promise<void>((resolve) => (wakeWaiting = resolve));
    },
    idle: async () => {
      while (work !== null) await work;
    },
    close: async () => {
      isOpen = false;
      clearInterval(timer);
      await work;
    },
  };
};

/** Keeps files with waiting links few, in the background: merges references, empties files, deletes what is empty. */

import { empty, merge } from './rewrite.ts';
import { reclaim, type FilesSession } from './session.ts';

export interface Compaction {
  /** These sites have many references. */
  notice(shard: number, sites: readonly string[]): void;
  /** Resolves when there is not too much left to do. */
  room(): Promise<void>;
  close(): Promise<void>;
}

/** Sites merged together; the links of all are in memory then. */
const SITES_AT_ONCE = 16;
/** Who admits waits when more sites than this wait for being merged. */
const SITES_WAITING_MAX = 10_000;

export const startCompaction = (session: FilesSession): Compaction => {
  const { writer, limits } = session;
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
        const sparse = await reclaim(session);
        if (isThorough && sparse.files.size > 0) {
          await empty(session, sparse);
          await reclaim(session);
        }
      } else if (sites.size > 0) {
        const some = [...sites].slice(0, SITES_AT_ONCE).map(([site, shard]) => ({ site, shard }));
        for (const { site } of some) sites.delete(site);
        if (sites.size < SITES_WAITING_MAX) wakeWaiting();
        await merge(session, some);
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
    close: async () => {
      isOpen = false;
      clearInterval(timer);
      await work;
    },
  };
};

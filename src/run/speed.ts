/** What limits the speed of a run: looks at it some times a second, and says it in words. */

import type { Census } from '../model/census.ts';
import type { Settings } from '../model/settings.ts';
import { limitOf, type Limit } from '../observe/limit.ts';
import { keepSamples, loadOf, sampleOf, type Busy, type LoadSample } from '../observe/load.ts';
import type { Board } from '../observe/metrics/board.ts';
import { nameOfQueue } from '../url/side-queue.ts';

export interface Speed {
  look(census: Census, busy: Busy): void;
  /** Null until there is something to compare with. */
  limit(): Limit | null;
}

export const createSpeed = (board: Board, settings: Settings): Speed => {
  let samples: readonly LoadSample[] = [];
  let last: Census | null = null;
  return {
    look: (census, busy) => {
      last = census;
      samples = keepSamples(samples, sampleOf(board, { sitesDue: census.sitesDue, busy }));
    },
    limit: () => {
      if (!last || samples.length < 2) return null;
      const { next, sites, now } = last;
      const nextSite = next && {
        name: nameOfQueue(next.site),
        inMs: next.dueAt - now,
        failures: next.failures,
      };
      return limitOf(loadOf(samples, { settings, sitesKnown: sites.known, next: nextSite }));
    },
  };
};

/**
 * What follows from the settings of the crawl in a fetch thread. It is made anew with each change, for the visits that
 * begin after it; those under way end with what they began with.
 */

import type { Ask, Claimed } from '../contract/store.ts';
import { createGate } from '../lib/gate.ts';
import { onAbort } from '../lib/on-abort.ts';
import type { Settlement } from '../model/settlement.ts';
import type { Visit } from '../model/visit.ts';
import type { Given } from '../visit/claim-loop.ts';
import type { VisitParts } from '../visit/parts.ts';
import type { SettingsNow } from './messages.ts';

/** What the visits of a thread need under some settings. */
export interface Footing {
  readonly parts: VisitParts;
  /** What a claim asks for. */
  readonly ask: Pick<Ask, 'delayMs' | 'pagesMax' | 'sitePagesMax' | 'leaseMs'>;
  /** The last visit that began on it has ended. */
  end(): Promise<void>;
}

export interface LiveSettings {
  now(): Footing;
  take(now: SettingsNow): void;
  /**
   * Resolves when the settings have at least this entry of the journal in them, with true, or when `stop` is aborted:
   * nothing is visited under older settings than those that its lease was given under.
   */
  reached(number: number, stop: AbortSignal): Promise<boolean>;
  /** Does something with what is in force at its beginning. */
  during<T>(work: (footing: Footing) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface LiveParts {
  readonly make: (now: SettingsNow) => Footing;
  /** Told that the settings here are older than this entry. */
  readonly onBehind: (number: number) => void;
}

interface Used {
  readonly footing: Footing;
  users: number;
}

export const createLiveSettings = (first: SettingsNow, { make, onBehind }: LiveParts): LiveSettings => {
  let number = first.number;
  let used: Used = { footing: make(first), users: 0 };
  const taken = createGate();
  const ending = new Set<Promise<void>>();
  const end = ({ footing, users }: Used): void => {
    if (users > 0) return;
    const ended = footing.end().finally(() => ending.delete(ended));
    ending.add(ended);
  };
  return {
    now: () => used.footing,
    take: (now) => {
      const former = used;
      used = { footing: make(now), users: 0 };
      ({ number } = now);
      end(former);
      taken.open();
    },
    reached: async (wanted, stop) => {
      if (number >= wanted) return true;
      onBehind(wanted);
      const stopped = new Promise<void>((resolve) => onAbort(stop, resolve));
      while (number < wanted && !stop.aborted) await Promise.race([taken.passed(), stopped]);
      return number >= wanted;
    },
    during: async (work) => {
      const mine = used;
      mine.users++;
      try {
        return await work(mine.footing);
      } finally {
        mine.users--;
        if (mine !== used) end(mine);
      }
    },
    close: async () => {
      end(used);
      await Promise.all(ending);
    },
  };
};

/** What a claim gave, when the settings here are as new as its leases; each visit knows the number. */
export const heardWith = async (live: LiveSettings, claimed: Claimed, stop: AbortSignal): Promise<Given> => {
  const { visits, nextDueAt, entry, term } = claimed;
  if (!(await live.reached(entry, stop))) {
    // Stopped before the change was heard of: the links wait as before.
    await Promise.all(visits.map((visit) => live.now().parts.settle(untouched(visit))));
    return { visits: [], nextDueAt };
  }
  return { visits: visits.map((visit) => ({ ...visit, entry, term })), nextDueAt };
};

const untouched = ({ site, lease, pace }: Visit): Settlement => ({
  ...{ site, lease, pace, fate: 'returned', parked: false },
  ...{ page: null, records: null, robots: null },
});

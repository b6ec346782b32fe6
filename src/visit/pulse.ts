/**
 * Whether this member may send requests: only while its store has heard of it a moment ago.
 *
 * Where processes share a store, one that is cut off from it must fall silent before the others take over its sites,
 * and must not go on as if nothing had happened when it is back. One thread asks the store (`heard` after each beat),
 * all threads look here before a request leaves.
 */

import type { Beat } from '../contract/journal.ts';
import type { Clock } from '../lib/clock.ts';
import { LAPSED_AFTER_MS, SILENT_AFTER_MS } from '../model/pulse.ts';

/** Numbers that all threads of a process share: when the last answered beat was sent, by two clocks; term and entry. */
export type SharedPulse = Float64Array;

const CELLS = ['sentAt', 'sentWallAt', 'term', 'entry'] as const;
const AT = Object.fromEntries(CELLS.map((name, i) => [name, i])) as Record<(typeof CELLS)[number], number>;

export const createSharedPulse = (): SharedPulse => new Float64Array(new SharedArrayBuffer(CELLS.length * 8));

/** What the store answered last. */
export const lastBeat = (shared: SharedPulse): Beat => ({ term: shared[AT.term]!, entry: shared[AT.entry]! });

/**
 * Two clocks that all threads of a process share, because neither is enough: a monotonic one stands still while the
 * machine sleeps, and the wall clock may be set back.
 */
export interface PulseClocks {
  monotonic(): number;
  wall(): number;
}

export interface Pulse {
  /** To be called before a beat is sent; what it gives is called when the beat was answered. */
  sending(): (beat: Beat) => void;
  /** Whether a request may leave now, in a visit of that term. */
  mayRequest(term: number): boolean;
  /** Whether visits of that term must be broken off: the store has not been heard for too long, or says so. */
  isLapsed(term: number): boolean;
}

export const openPulse = (shared: SharedPulse, { monotonic, wall }: PulseClocks): Pulse => {
  const silentMs = (): number => Math.max(monotonic() - shared[AT.sentAt]!, wall() - shared[AT.sentWallAt]!);
  return {
    sending: () => {
      const [sentAt, sentWallAt] = [monotonic(), wall()];
      return ({ term, entry }) => {
        // The term first: who finds a beat that is fresh finds the term that it was answered in.
        shared[AT.term] = term;
        shared[AT.entry] = entry;
        shared[AT.sentWallAt] = sentWallAt;
        shared[AT.sentAt] = sentAt;
      };
    },
    mayRequest: (term) => shared[AT.term] === term && silentMs() < SILENT_AFTER_MS,
    isLapsed: (term) => shared[AT.term] !== term || silentMs() >= LAPSED_AFTER_MS,
  };
};

/** What the visits of one fetch thread share of the pulse. */
export interface PulseWatch {
  /** Resolves when a visit of that term may send a request, or never will; also when the signal is aborted. */
  awaited(term: number, signal: AbortSignal): Promise<void>;
  mayRequest(term: number): boolean;
  /** Aborted when visits of that term must end. */
  lapsed(term: number): AbortSignal;
  /** To be called some times a second: breaks off visits whose term has lapsed. */
  look(): void;
}

/** A visit that waits for the store to be heard again looks this often. */
const LOOK_MS = 100;

export const watchPulse = (pulse: Pulse, clock: Clock): PulseWatch => {
  let current = { term: -1, over: new AbortController() };
  const look = (): void => {
    if (pulse.isLapsed(current.term)) current.over.abort();
  };
  return {
    look,
    mayRequest: pulse.mayRequest,
    lapsed: (term) => {
      if (current.term !== term) {
        current.over.abort();
        current = { term, over: new AbortController() };
      } else if (current.over.signal.aborted && !pulse.isLapsed(term)) {
        // It was silent for long, and yet the store counts on in the same term.
        current = { term, over: new AbortController() };
      }
      return current.over.signal;
    },
    awaited: async (term, signal) => {
      while (!pulse.mayRequest(term) && !pulse.isLapsed(term) && !signal.aborted) await clock.sleep(LOOK_MS, signal);
      look();
    },
  };
};

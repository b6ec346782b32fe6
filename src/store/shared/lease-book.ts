/**
 * The leases that this process has, numbered by itself.
 *
 * A store that several processes share may go back in time (a replica that lags takes over), and would give a number of
 * its own a second time. So the id of a lease is made here: the random name of a run, and a number that counts up. The
 * store keeps it with the lease, and a settlement with another id is refused.
 *
 * When leases may be lost (the store went back, or this process was not heard for too long) a new term begins: all
 * leases of earlier ones are void, whatever the store says of them, and it is known when the last of their visits has
 * ended.
 */

import { randomBytes } from 'node:crypto';

export interface LeaseBook {
  /** Names this run of the process in the ids of its leases; another one in each term. */
  run(): string;
  /** Counts the terms, from 0. */
  term(): number;
  /** The first of so many new numbers. */
  take(count: number): number;
  /**
   * The store gave this lease to a thread. False when its number was taken in an earlier term: the claim was on its way
   * when that ended, its lease is void, and nothing may be visited under it.
   */
  given(lease: number, holder: string): boolean;
  /** Whether this process has the lease, in this term. */
  isInForce(lease: number): boolean;
  /** The lease is settled, or its settlement was refused: its visit has ended. */
  ended(lease: number): void;
  /** A thread died, and its visits with it; null for all of this process. */
  died(holder: string | null): void;
  /** Begins a new term: every lease so far is void. */
  lapse(): void;
  /** Whether no visit of an earlier term is under way any more. */
  isQuiet(): boolean;
}

/** `run` is for tests: the name of each term's run. */
export const createLeaseBook = (nameRun: () => string = () => randomBytes(9).toString('base64url')): LeaseBook => {
  let run = nameRun();
  let term = 0;
  let last = 0;
  /** The first number of this term. */
  let first = 1;
  /** Who has each lease whose visit has not ended, those of earlier terms included. */
  const holders = new Map<number, string>();
  return {
    run: () => run,
    term: () => term,
    take: (count) => {
      const from = last + 1;
      last += count;
      return from;
    },
    given: (lease, holder) => {
      if (lease < first) return false;
      holders.set(lease, holder);
      return true;
    },
    isInForce: (lease) => lease >= first && holders.has(lease),
    ended: (lease) => void holders.delete(lease),
    died: (holder) => {
      for (const [lease, one] of holders) if (holder === null || one === holder) holders.delete(lease);
    },
    lapse: () => {
      term++;
      first = last + 1;
      run = nameRun();
    },
    isQuiet: () => holders.keys().every((lease) => lease >= first),
  };
};

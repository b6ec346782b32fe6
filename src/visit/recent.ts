/**
 * URLs that are known to be in the store: a first look that saves asking it.
 *
 * A table of fixed size where a newer URL takes the place of an older one. It forgets, but it never
 * claims what is not so: a URL is noted only after the store has answered that it has it.
 */

import type { Link } from '../model/link.ts';
import { fingerprint } from '../url/fingerprint.ts';

/** 8 bytes each: 4 MiB per fetch thread, whatever the size of the crawl. */
const ENTRIES = 2 ** 19;

export interface RecentlyAdmitted {
  has(url: string): boolean;
  note(links: readonly Link[]): void;
  /** The store may have forgotten some: all are asked for again. */
  clear(): void;
}

export const createRecentlyAdmitted = (): RecentlyAdmitted => {
  const table = new BigUint64Array(ENTRIES);
  const scratch = new BigUint64Array(1);
  const low = new Uint32Array(scratch.buffer);
  const slot = (print: bigint): number => {
    scratch[0] = print;
    return low[0]! & (ENTRIES - 1);
  };
  return {
    has: (url) => {
      const print = fingerprint(url);
      return table[slot(print)] === print;
    },
    note: (links) => {
      for (const link of links) {
        const print = fingerprint(link.url);
        table[slot(print)] = print;
      }
    },
    clear: () => void table.fill(0n),
  };
};

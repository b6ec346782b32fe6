/** Walks the line of a site to its end, also when it is broken, and remembers which blocks it has met. */

import type { Book } from './book.ts';
import { readWaiting, type Waiting } from './line.ts';

export interface SiteEnds {
  readonly id: number;
  readonly name: string;
  readonly head: number | null;
  readonly head_at: number;
  readonly tail: number | null;
}

export interface LineWalk {
  readonly sql: Book['sql'];
  readonly site: SiteEnds;
  readonly visited: BlockSet;
}

type BlockRow = readonly [next: number | null, readTo: number, via: string, links: string];

/** Null when the line is whole; otherwise what is wrong with it. What comes before the break is met. */
export const walkLine = ({ sql, site, visited }: LineWalk, meet: (waiting: Waiting) => void): string | null => {
  const select = sql('SELECT next, read_to, via, links FROM block WHERE id = ?');
  select.setReturnArrays(true); // see eachRow
  let last: number | null = null;
  for (let id = site.head; id !== null; ) {
    const block = select.get(id) as unknown as BlockRow | undefined;
    if (!block) return `block ${id} is missing`;
    if (!visited.add(id)) return `block ${id} is in two places`;
    const [next, readTo, via, links] = block;
    const lines = linksFrom({ links }, id === site.head ? site.head_at : readTo);
    if (lines === null) return `block ${id} cannot be read`;
    for (const line of lines) meet(readWaiting(line, via, site.name));
    [last, id] = [id, next];
  }
  return last === site.tail ? null : `it ends with block ${last}, but should end with ${site.tail}`;
};

/** A link as the line writes it: four numbers and an address. */
const LINE = /^\d+ \d+ [0-5] -?\d+ https?:\/\/\S+$/;

/** The links of a block from this character on; null when something else is there. */
export const linksFrom = ({ links }: { readonly links: string }, from: number): string[] | null => {
  if (from < 0 || from >= links.length || !links.endsWith('\n') || (from > 0 && links[from - 1] !== '\n')) return null;
  const lines = links.slice(from, -1).split('\n');
  return lines.every((line) => LINE.test(line)) ? lines : null;
};

/** A set of block numbers, a bit each where they lie close together. */
export interface BlockSet {
  /** True when it was not there before. */
  add(id: number): boolean;
  has(id: number): boolean;
}

/** Numbers that share an array of bits of 8 KiB. */
const NUMBERS_PER_PART = 65_536;

export const createBlockSet = (): BlockSet => {
  const parts = new Map<number, Uint8Array>();
  const has = (id: number): boolean => ((parts.get(Math.floor(id / NUMBERS_PER_PART))?.[(id % NUMBERS_PER_PART) >> 3] ?? 0) & (1 << (id % 8))) !== 0;
  return {
    has,
    add: (id) => {
      if (has(id)) return false;
      const key = Math.floor(id / NUMBERS_PER_PART);
      let part = parts.get(key);
      if (!part) parts.set(key, (part = new Uint8Array(NUMBERS_PER_PART / 8)));
      part[(id % NUMBERS_PER_PART) >> 3]! |= 1 << (id % 8);
      return true;
    },
  };
};

/** Walks the line of a site to its end, also when it is broken, and remembers which blocks and packs it has met. */

import { numbersOf } from '../../lib/long-queue.ts';
import type { Book } from './book.ts';
import { readWaiting, type Waiting } from '../link-text.ts';
import { READ_IN_BLOCK } from './line.ts';

export interface SiteEnds {
  readonly id: number;
  readonly name: string;
  readonly line: string;
  readonly head_at: number;
}

export interface LineWalk {
  readonly sql: Book['sql'];
  readonly site: SiteEnds;
  readonly visited: Visited;
}

export interface Visited {
  readonly blocks: NumberSet;
  readonly packs: NumberSet;
}

export const createVisited = (): Visited => ({ blocks: createNumberSet(), packs: createNumberSet() });

type BlockRow = readonly [readTo: number, via: string, links: string];

/** What a line's text can be: levels of block numbers, the front and the back of the line. */
const LINE_TEXT = /^[0-9 ;]*(?:\|[0-9 ;]*)?$/;

/** What is wrong with a line; it ends a walk. */
class Broken extends Error {}

/** Null when the line is whole; otherwise what is wrong with it. What comes before the break is met. */
export const walkLine = (walk: LineWalk, meet: (waiting: Waiting) => void): string | null => {
  const { sql, site, visited } = walk;
  if (!LINE_TEXT.test(site.line)) return 'the list of its blocks cannot be read';
  const select = sql('SELECT read_to, via, links FROM block WHERE id = ?', 'arrays');
  try {
    let isFirst = true;
    for (const id of blocksOf(walk)) {
      const block = select.get(id) as unknown as BlockRow | undefined;
      if (!block) return `block ${id} is missing`;
      if (!visited.blocks.add(id)) return `block ${id} is in two places`;
      const [readTo, via, links] = block;
      const lines = linksFrom({ links }, isFirst && site.head_at !== READ_IN_BLOCK ? site.head_at : readTo);
      if (lines === null) return `block ${id} cannot be read`;
      for (const line of lines) meet(readWaiting(line, via, site.name));
      isFirst = false;
    }
    return null;
  } catch (error) {
    if (error instanceof Broken) return error.message;
    throw error;
  }
};

/** The numbers of a line's blocks, throws where a pack is missing or met twice. */
const blocksOf = ({ sql, site, visited }: LineWalk): Iterable<number> => {
  const select = sql('SELECT blocks FROM pack WHERE id = ?', 'arrays');
  const get = (pack: number): number[] => {
    const row = select.get(pack) as unknown as [string] | undefined;
    if (!row) throw new Broken(`pack ${pack} is missing`);
    const numbers = row[0].split(' ').map(Number);
    if (!numbers.every(Number.isSafeInteger)) throw new Broken(`pack ${pack} cannot be read`);
    return numbers;
  };
  return numbersOf(site.line, { get }, (pack) => {
    if (!visited.packs.add(pack)) throw new Broken(`pack ${pack} is in two places`);
  });
};

/** A link as the line writes it: four numbers and an address. */
const LINE = /^\d+ \d+ [0-5] -?\d+ https?:\/\/\S+$/;

/** The links of a block from this character on; null when something else is there. */
export const linksFrom = ({ links }: { readonly links: string }, from: number): string[] | null => {
  if (from < 0 || from >= links.length || !links.endsWith('\n') || (from > 0 && links[from - 1] !== '\n')) return null;
  const lines = links.slice(from, -1).split('\n');
  return lines.every((line) => LINE.test(line)) ? lines : null;
};

/** A set of row numbers, a bit each where they lie close together. */
export interface NumberSet {
  /** True when it was not there before. */
  add(id: number): boolean;
  has(id: number): boolean;
}

/** Numbers that share an array of bits of 8 KiB. */
const NUMBERS_PER_PART = 65_536;

export const createNumberSet = (): NumberSet => {
  const parts = new Map<number, Uint8Array>();
  const has = (id: number): boolean =>
    ((parts.get(Math.floor(id / NUMBERS_PER_PART))?.[(id % NUMBERS_PER_PART) >> 3] ?? 0) & (1 << (id % 8))) !== 0;
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

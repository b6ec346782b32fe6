/** Warnings that repeat: the first of a kind is said, the others within a minute are counted and said in one line. */

import { writeCount, writeDuration } from '../lib/units.ts';

/** Others of a kind are summed up this often. */
export const SUMMED_MS = 60_000;
/**
 * Kinds that are told apart at a time. What is of yet another kind is counted together, so that a flood of all kinds
 * stays a few lines, too.
 */
const KINDS_MAX = 200;
/** Stands for the kinds that found no room; no kind has this name, because `kindOf` never gives it. */
const OTHER = '"';

/** A line that is summed up: what it said first, and how many came after. */
export interface Repeat<T> {
  readonly first: T;
  readonly more: number;
  /** Completes the first message: `… and 1,234 more like it in the last minute`. */
  readonly words: string;
}

export interface Repeats<T> {
  /** Whether it is to be said now; otherwise it was counted. */
  note(kind: string, line: T, nowMs: number): boolean;
  /** What was counted in minutes that are over. */
  over(nowMs: number): Repeat<T>[];
  /** What was counted and not said yet; afterwards nothing is known of any kind. */
  rest(nowMs: number): Repeat<T>[];
  /** When a minute ends next; null while nothing is known. */
  nextMs(): number | null;
}

interface Known<T> {
  readonly first: T;
  since: number;
  more: number;
}

export const createRepeats = <T>(): Repeats<T> => {
  const kinds = new Map<string, Known<T>>();
  const repeatOf = (kind: string, { first, more, since }: Known<T>, nowMs: number): Repeat<T> => {
    const spanMs = nowMs - since;
    const like = kind === OTHER ? `other ${more === 1 ? 'warning' : 'warnings'}` : 'more like it';
    return {
      first,
      more,
      words: `… and ${writeCount(more)} ${like} in the last ${spanMs < SUMMED_MS ? writeDuration(spanMs) : 'minute'}`,
    };
  };
  return {
    note: (kind, line, nowMs) => {
      const key = kinds.has(kind) || kinds.size < KINDS_MAX ? kind : OTHER;
      const known = kinds.get(key);
      if (known) known.more++;
      else kinds.set(key, { first: line, since: nowMs, more: 0 });
      return known === undefined;
    },
    over: (nowMs) => {
      const ended = [...kinds].filter(([, { since }]) => nowMs - since >= SUMMED_MS);
      const said = ended.filter(([, { more }]) => more > 0).map(([kind, known]) => repeatOf(kind, known, nowMs));
      for (const [kind, known] of ended) {
        // A minute without another one ends it. Otherwise it goes on, and stays counted.
        if (known.more === 0) kinds.delete(kind);
        else [known.since, known.more] = [nowMs, 0];
      }
      return said;
    },
    rest: (nowMs) => {
      const said = [...kinds].filter(([, { more }]) => more > 0).map(([kind, known]) => repeatOf(kind, known, nowMs));
      kinds.clear();
      return said;
    },
    nextMs: () => (kinds.size === 0 ? null : Math.min(...[...kinds.values()].map(({ since }) => since)) + SUMMED_MS),
  };
};

/** What is alike in messages of a kind: the words, without addresses, quoted parts and numbers. */
export const kindOf = (message: string): string => message.replace(/\b[a-z]+:\/\/\S+|"[^"]*"|\d+(?:[.,]\d+)*/g, '#');

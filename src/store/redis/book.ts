/** The open crawl together with what this process remembers of it; the verbs work on this. */

import { unansweredPage } from '../../frontier/page.ts';
import type { Archive, StoreFault } from '../../frontier/store.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import { shardOf } from '../../url/shard.ts';
import { readWaiting } from '../link-text.ts';
import type { DeadRecords } from '../shared-crawl.ts';
import { lineOf } from './claim-files.ts';
import type { Frontier } from './frontier.ts';
import type { Rows } from './rows.ts';
import type { Tending } from './tend.ts';
import type { Call, Wire } from './wire.ts';

export interface Book {
  readonly wire: Wire;
  readonly member: string;
  readonly shards: number;
  readonly rows: Rows;
  readonly archive: Archive;
  readonly dead: (records: readonly DeadRecords[]) => void;
  readonly clock: Clock | null;
  /** Leases that this process was given and has not settled: a settlement of any other is refused here already. */
  readonly leases: Set<number>;
  /** The files that lines lie in; null where they lie in Redis. */
  readonly frontier: Frontier | null;
  readonly tending: Tending | null;
  readonly hints: Hint[];
  /** The shard a claim starts with, so that each gets its turn. */
  turn: number;
  /** Number of the batch settled last. */
  batch: number;
  /** Where the settled part of this member's archive ends. */
  end: ArchiveEnd;
  /**
   * What a batch left on this machine could not be put right: nothing more is settled before the next start does it.
   */
  fault: StoreFault | null;
}

/**
 * What the last answer of a shard said: when its next site is due, and when its next lease runs out, by its own time.
 */
export interface Hint {
  readonly dueAt: number;
  readonly endsAt: number;
  /** The shard's time then, and ours. */
  readonly now: number;
  readonly learnedAtMs: number;
}

/** Other processes admit and settle too: what is known of a shard is believed this long. */
const HINT_MS_MAX = 1_000;

export const createHints = (shards: number): Hint[] =>
  Array.from({ length: shards }, () => ({ dueAt: -Infinity, endsAt: -Infinity, now: 0, learnedAtMs: -Infinity }));

/** Of this process: for how long something is known. */
export const ownNow = ({ clock }: Pick<Book, 'clock'>): number => clock?.now() ?? performance.now();

const isKnown = ({ learnedAtMs }: Hint, atMs: number): boolean => atMs - learnedAtMs < HINT_MS_MAX;

/** The time of a shard, as far as it is known without asking; nodes of a cluster each have their own. */
const timeOf = ({ clock, hints }: Book, shard: number): number =>
  clock?.now() ?? hints[shard]!.now + (performance.now() - hints[shard]!.learnedAtMs);

/** Whether this shard had a site that is due now, or a lease that has run out. */
export const isDue = (book: Book, shard: number): boolean => {
  const hint = book.hints[shard]!;
  return isKnown(hint, ownNow(book)) && Math.min(hint.dueAt, hint.endsAt) <= timeOf(book, shard);
};

/** Whether a look at this shard may give a visit, or free a lease. */
export const mayGive = (book: Book, shard: number): boolean =>
  !isKnown(book.hints[shard]!, ownNow(book)) || isDue(book, shard);

/**
 * When the next site of these shards is due: at once, where that was not known at that moment and was not learned
 * since. Null when none waits.
 */
export const nextDueAt = (book: Book, shards: readonly number[], atMs: number): number | null => {
  const next = shards.reduce(
    (least, shard) => Math.min(least, isKnown(book.hints[shard]!, atMs) ? book.hints[shard]!.dueAt : 0),
    Infinity,
  );
  return next === Infinity ? null : next;
};

/** Empty for never; a lease without an end has an infinite one. */
const momentOf = (text: string): number => (text === '' || text === 'inf' ? Infinity : Number(text));

/** Every answer of a shard begins with its time and its next moments. */
export const learn = (book: Book, shard: number, [now, dueAt, endsAt]: readonly unknown[]): Hint =>
  (book.hints[shard] = {
    now: Number(now),
    dueAt: momentOf(dueAt as string),
    endsAt: momentOf(endsAt as string),
    learnedAtMs: ownNow(book),
  });

/** A batch by shard, in order. */
export const byShard = <T extends { readonly site: string }>(book: Book, batch: readonly T[]): Map<number, T[]> => {
  const parts = new Map<number, T[]>();
  for (const one of batch) {
    const shard = shardOf(one.site, book.shards);
    const part = parts.get(shard);
    if (part) part.push(one);
    else parts.set(shard, [one]);
  }
  return parts;
};

/** In files it is named by a reference to its line: file, offset, that line and the one behind it, tries. */
const givenUp = (
  { frontier }: Book,
  text: readonly string[],
): readonly [site: string, at: string, via: string, line: string] => {
  const [site, at, via, line] = text as [string, string, string, string];
  if (!frontier) return [site, at, via, line];
  const [file, offset, number, , tries] = via.split(' ');
  const found = lineOf(frontier, `${file} ${offset} ${number} ${tries}`);
  return [site, at, found.via, found.line];
};

/**
 * Writes the rows of links that were given up. They stay on a list in Redis until that is done; that they come off it
 * is not waited for: a link that stays on it is met again at the next start, and its row is known.
 */
export const writeGivenUp = (book: Book, shard: number, texts: readonly string[]): void => {
  if (texts.length === 0) return;
  book.rows.giveUp(
    texts.map((text) => {
      const [site, at, via, line] = givenUp(book, text.split('\n'));
      const { link, tries } = readWaiting(line, via, site);
      return { shard, page: unansweredPage({ link, tries, outcome: 'gave-up', at: Number(at) }) };
    }),
  );
  const calls = texts.map((text): Call => ({ name: 'written', shard, args: [text] }));
  book.wire.each(calls).catch(() => {});
};

/** What the last answer of each shard said of its next moments, so that a claim asks only shards that may give one. */

import type { Clock } from '../../lib/clock.ts';

/** When the next site of a shard is due, and when its next lease runs out, by its own time. */
interface Hint {
  readonly dueAt: number;
  readonly endsAt: number;
  /** The shard's time then, and ours. */
  readonly now: number;
  readonly learnedAtMs: number;
}

export interface Hints {
  /** Every answer of a verb begins with the time of the shard and its next moments. True when one of them has come. */
  learn(shard: number, answer: readonly unknown[]): boolean;
  /** Whether this shard had a site that is due now, or a lease that has run out. */
  isDue(shard: number): boolean;
  /** Whether a look at this shard may give a visit, or free a lease. */
  mayGive(shard: number): boolean;
  /**
   * When the next site of these shards is due: at once, where that was not known at that moment and was not learned
   * since. Null when none waits.
   */
  nextDueAt(shards: readonly number[], atMs: number): number | null;
  /** The time of this process, which tells for how long something is known. */
  now(): number;
}

/** Other processes admit and settle too: what is known of a shard is believed this long. */
const HINT_MS_MAX = 1_000;

/** Empty for never; a lease without an end has an infinite one. */
const momentOf = (text: string): number => (text === '' || text === 'inf' ? Infinity : Number(text));

export const createHints = (shards: number, clock: Clock | null): Hints => {
  const hints = Array.from(
    { length: shards },
    (): Hint => ({ dueAt: -Infinity, endsAt: -Infinity, now: 0, learnedAtMs: -Infinity }),
  );
  const now = (): number => clock?.now() ?? performance.now();
  const isKnown = (shard: number, atMs: number): boolean => atMs - hints[shard]!.learnedAtMs < HINT_MS_MAX;
  /** The time of a shard, as far as it is known without asking; nodes of a cluster each have their own. */
  const timeOf = ({ now: then, learnedAtMs }: Hint): number => clock?.now() ?? then + (performance.now() - learnedAtMs);
  const hasCome = (hint: Hint, atMs: number): boolean => Math.min(hint.dueAt, hint.endsAt) <= atMs;
  const isDue = (shard: number): boolean => isKnown(shard, now()) && hasCome(hints[shard]!, timeOf(hints[shard]!));
  return {
    now,
    isDue,
    learn: (shard, [at, dueAt, endsAt]) => {
      const hint = {
        now: Number(at),
        dueAt: momentOf(dueAt as string),
        endsAt: momentOf(endsAt as string),
        learnedAtMs: now(),
      };
      hints[shard] = hint;
      return hasCome(hint, hint.now);
    },
    mayGive: (shard) => !isKnown(shard, now()) || isDue(shard),
    nextDueAt: (some, atMs) => {
      const next = Math.min(...some.map((shard) => (isKnown(shard, atMs) ? hints[shard]!.dueAt : 0)));
      return next === Infinity ? null : next;
    },
  };
};

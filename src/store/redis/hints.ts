/**
 * What the last answer of each shard said: of its next moments, so that a claim asks only shards that may give one, and
 * of its past, so that a shard that went back in time is noticed.
 */

import { BEAT_MS } from '../../model/pulse.ts';
import { createElapsed, type Clock } from '../../lib/clock.ts';

/** When the next site of a shard is due, and when its next lease runs out, by its own time. */
interface Hint {
  readonly dueAt: number;
  readonly endsAt: number;
  /** The shard's time when it answered last, and ours. */
  readonly now: number;
  readonly nowAtMs: number;
  /** When all of this was learned, by our time. */
  readonly learnedAtMs: number;
}

export interface Hints {
  /**
   * Every answer of a verb begins with the time of the shard, its next moments, and how often it changed. True when
   * one of the moments has come, and this member may work there.
   */
  learn(shard: number, moments: string): boolean;
  /** Whether this shard had a site that is due now, or a lease that has run out. */
  isDue(shard: number): boolean;
  /** Whether a look at this shard may give a visit, or free a lease. */
  mayGive(shard: number): boolean;
  /**
   * When the next site of these shards is due: at once, where that was not known at that moment and was not learned
   * since. Null when none waits.
   */
  nextDueAt(shards: readonly number[], atMs: number): number | null;
  /** What a step tells the shard of this member: the epoch that it knows, and the changes that it has seen. */
  stamp(shard: number): string;
  epoch(shard: number): number;
  /** Shards in which this member may not work, because they went back in time. */
  readonly shut: ReadonlySet<number>;
  /** Somebody says that this shard went back. */
  doubt(shard: number): void;
  /** What the shard forgot is put right as far as this member can: it has that epoch, and so many changes. */
  adopt(shard: number, epoch: number, changes: number): void;
  /** Shards that changed since a beat told of them, as far as this member knows. */
  readonly news: Set<number>;
  /** A beat was answered: others changed these shards, and no others. */
  heard(shards: readonly number[]): void;
  /** This member may work there again. */
  open(shard: number): void;
  /** The time of this process, which tells for how long something is known. */
  now(): number;
}

/** Other processes admit and settle too: what is known of a shard is believed this long. */
const HINT_MS_MAX = 1_000;
/** While beats tell of what others changed, it is believed until one does. */
const HEARD_MS_MAX = 2 * BEAT_MS + BEAT_MS / 2;

const UNKNOWN: Hint = { dueAt: -Infinity, endsAt: -Infinity, now: 0, nowAtMs: 0, learnedAtMs: -Infinity };

/** `-` for never; a lease without an end has an infinite one. */
const momentOf = (text: string): number => (text === '-' || text === 'inf' ? Infinity : Number(text));

export const createHints = (shards: number, clock: Clock | null): Hints => {
  const hints = Array.from({ length: shards }, () => UNKNOWN);
  const epochs = Array.from({ length: shards }, () => 0);
  const changes = Array.from({ length: shards }, () => 0);
  const shut = new Set<number>();
  const elapsed = createElapsed();
  const now = (): number => clock?.now() ?? elapsed();
  const news = new Set<number>();
  let heardAtMs = -Infinity;
  const isKnown = (shard: number, atMs: number): boolean =>
    atMs - hints[shard]!.learnedAtMs < (now() - heardAtMs < HEARD_MS_MAX ? Infinity : HINT_MS_MAX);
  /** The time of a shard, as far as it is known without asking; nodes of a cluster each have their own. */
  const timeOf = ({ now: then, nowAtMs }: Hint): number => clock?.now() ?? then + (elapsed() - nowAtMs);
  const hasCome = (hint: Hint, atMs: number): boolean => Math.min(hint.dueAt, hint.endsAt) <= atMs;
  const isDue = (shard: number): boolean =>
    !shut.has(shard) && isKnown(shard, now()) && hasCome(hints[shard]!, timeOf(hints[shard]!));
  return {
    now,
    isDue,
    learn: (shard, moments) => {
      const [at, dueAt, endsAt, changed, state] = moments.split(' ') as [string, string, string, string, string];
      const before = hints[shard]!;
      const time = { now: Number(at), nowAtMs: now() };
      // With ~ it tells of what became due by this verb, and nothing else.
      const hint = dueAt.startsWith('~')
        ? { ...before, ...time, dueAt: Math.min(before.dueAt, momentOf(dueAt.slice(1))) }
        : { ...time, dueAt: momentOf(dueAt), endsAt: momentOf(endsAt), learnedAtMs: now() };
      hints[shard] = hint;
      if (Number(changed) > changes[shard]!) {
        changes[shard] = Number(changed);
        news.add(shard);
      }
      if (state === '!') shut.add(shard);
      return !shut.has(shard) && hasCome(hint, hint.now);
    },
    mayGive: (shard) => !shut.has(shard) && (!isKnown(shard, now()) || isDue(shard)),
    nextDueAt: (some, atMs) => {
      const open = some.filter((shard) => !shut.has(shard));
      const next = Math.min(...open.map((shard) => (isKnown(shard, atMs) ? hints[shard]!.dueAt : 0)));
      return next === Infinity ? null : next;
    },
    stamp: (shard) => `${epochs[shard]} ${changes[shard]}`,
    epoch: (shard) => epochs[shard]!,
    shut,
    doubt: (shard) => void shut.add(shard),
    adopt: (shard, epoch, changed) => {
      epochs[shard] = epoch;
      changes[shard] = changed;
    },
    news,
    heard: (some) => {
      heardAtMs = now();
      for (const shard of some) hints[shard] = UNKNOWN;
    },
    open: (shard) => {
      shut.delete(shard);
      hints[shard] = UNKNOWN;
    },
  };
};

/** Per shard, a moment before which no site of it is due: a hint that saves asking. */

/**
 * Other processes settle and admit, too: a beat tells every second whether anything changed. Without one, a hint says
 * nothing any more after so long.
 */
const HINT_MS_MAX = 2_000;

export interface DueHints {
  /** The shards that may have a site that is due, in the order given. */
  worthAsking(shards: readonly number[], now: number): number[];
  /** When the next site of these shards is due by what is known; Infinity when none is. */
  next(shards: readonly number[]): number;
  /** Something happened to sites of these shards (null: of all). */
  forget(shards: readonly number[] | null): void;
  /** Nothing has changed in the crawl up to this moment: what is known is still so. */
  confirm(now: number): void;
  /** To be taken before a question, and given back with its answer. */
  age(): number;
  /** The answer: of these shards all that is due was given, and their next sites are due then. */
  learn(answer: {
    readonly shards: readonly number[];
    readonly dueAt: ReadonlyMap<number, number>;
    readonly now: number;
    readonly age: number;
  }): void;
}

export const createDueHints = (shards: number): DueHints => {
  const dueAt = new Float64Array(shards).fill(-Infinity);
  const learntAt = new Float64Array(shards).fill(-Infinity);
  /** The age at which something last happened: an answer to an older question says nothing. */
  const changedAt = new Float64Array(shards);
  let age = 0;
  return {
    worthAsking: (asked, now) =>
      asked.filter((shard) => dueAt[shard]! <= now || Math.abs(now - learntAt[shard]!) >= HINT_MS_MAX),
    next: (asked) => asked.reduce((least, shard) => Math.min(least, dueAt[shard]!), Infinity),
    forget: (touched) => {
      age++;
      if (touched === null) [dueAt, changedAt].forEach((list, i) => list.fill(i === 0 ? -Infinity : age));
      else for (const shard of touched) [dueAt[shard], changedAt[shard]] = [-Infinity, age];
    },
    confirm: (now) => {
      for (let shard = 0; shard < shards; shard++) if (learntAt[shard]! > -Infinity) learntAt[shard] = now;
    },
    age: () => age,
    learn: (answer) => {
      for (const shard of answer.shards) {
        if (changedAt[shard]! > answer.age) continue;
        dueAt[shard] = answer.dueAt.get(shard) ?? Infinity;
        learntAt[shard] = answer.now;
      }
    },
  };
};

/** The batch written last may not have been settled: what of it was not? */

import { toDrop, type Dropped } from './drop.ts';
import type { Batch } from './rows.ts';
import { readPlaces } from './settle.ts';

/** What a shard settled last of a member: the number of the batch, and what of it was refused. */
export interface LastSettled {
  readonly number: number;
  readonly refused: ReadonlySet<number>;
}

export const readLastSettled = (text: string): LastSettled => {
  const [number, refused] = text.split(' ') as [string, string];
  return { number: Number(number), refused: readPlaces(refused) };
};

/** What a start takes back of the last batch of its member, by what each shard settled last. */
export const unsettledOf = (last: Batch, settled: readonly LastSettled[]): Dropped =>
  toDrop(
    last,
    ({ shard, place }) =>
      settled[shard]!.number < last.number ||
      (settled[shard]!.number === last.number && settled[shard]!.refused.has(place)),
  );

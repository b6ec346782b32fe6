/** Reads the set of known URLs of a shard: is each fingerprint there once, in the small set that is its own? */

import type { FingerprintTable } from '../../lib/fingerprint-table.ts';
import { writeCount } from '../../lib/units.ts';
import { pairs } from './census.ts';
import { ofShard, type Course } from './survey-course.ts';

/** Of up to 360 fingerprints each. */
const SETS_AT_ONCE = 30;

export const readSeen = async ({ look, wrong }: Course, shard: number, seen: FingerprintTable): Promise<void> => {
  const [[, counters]] = (await look.wire.all([{ name: 'shard', shard, args: [] }])) as [[unknown, string[]]];
  const said = new Map(pairs(counters));
  const sets = Number(said.get('buckets') ?? 1);
  let known = 0;
  let [misplaced, twice] = [0, 0];
  for (let from = 0; from < sets; from += SETS_AT_ONCE) {
    const [some] = (await look.wire.all([
      { name: 'prints', shard, args: [from, Math.min(from + SETS_AT_ONCE, sets)] },
    ])) as [string[][]];
    for (const [i, prints] of some.entries()) {
      known += prints.length;
      for (const print of prints) {
        if (setOf(print, sets) !== from + i) misplaced++;
        if (!seen.add(ofShard(BigInt.asUintN(64, BigInt(print)), shard))) twice++;
      }
    }
  }
  const those = (n: number): string => `${writeCount(n)} known ${n === 1 ? 'URL' : 'URLs'} of shard ${shard}`;
  if (misplaced > 0)
    wrong(`${those(misplaced)} ${misplaced === 1 ? 'is' : 'are'} in the wrong set, where nobody looks`);
  if (twice > 0) wrong(`${those(twice)} ${twice === 1 ? 'is' : 'are'} there twice`);
  if (known !== Number(said.get('seen') ?? 0))
    wrong(
      `shard ${shard} counts ${writeCount(Number(said.get('seen') ?? 0))} known URLs, but has ${writeCount(known)}`,
    );
};

/**
 * As the scripts decide it: by the last nine digits. A short negative number keeps its sign there, and is counted
 * around.
 */
const setOf = (print: string, sets: number): number => {
  const part = Number(print.slice(-9));
  const level = 2 ** Math.floor(Math.log2(sets));
  const within = (n: number): number => ((part % n) + n) % n;
  return within(2 * level) < sets ? within(2 * level) : within(level);
};

/** Takes back what a batch left on this machine for settlements that were refused, or never settled. */

import type { DeadRecords } from '../../contract/walk.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import type { Batch, Part } from './rows.ts';
import type { Session } from './session.ts';

/** What a shard settled last for a member: the number of the batch, and the places of what was refused of it. */
export interface LastSettled {
  readonly number: number;
  readonly refused: ReadonlySet<number>;
}

/** `number places`, as the shard writes it. */
export const readLastSettled = (text: string): LastSettled => {
  const [number, places] = text.split(' ') as [string, string];
  return { number: Number(number), refused: readPlaces(places) };
};

/** The places of what a shard refused, from 1, as it writes them. */
export const readPlaces = (text: string): ReadonlySet<number> =>
  new Set(text === '' ? [] : text.split(',').map(Number));

export interface Unsettled {
  readonly parts: readonly Part[];
  /** Where the archive ends once the records at its tail are cut. */
  readonly end: ArchiveEnd;
  /** Records that others lie after. */
  readonly dead: readonly DeadRecords[];
}

export const unsettledIn = (batch: Batch, isRefused: (part: Part) => boolean): Unsettled => {
  const withRecords = batch.parts.filter(({ records }) => records !== null);
  const lastKept = withRecords.findLastIndex((part) => !isRefused(part));
  const kept = withRecords[lastKept]?.records;
  const isWhole = lastKept === withRecords.length - 1;
  const end = isWhole ? batch.end : kept ? { file: kept.file, bytes: kept.offset + kept.bytes } : batch.before;
  const dead = withRecords.slice(0, lastKept + 1).filter(isRefused);
  return { parts: batch.parts.filter(isRefused), end, dead: dead.map(({ records }) => records!) };
};

/** What is not settled of the last batch of a member, by what each shard settled last for it. */
export const unsettledOf = (last: Batch, settled: readonly LastSettled[]): Unsettled =>
  unsettledIn(last, ({ shard, place }) => {
    const { number, refused } = settled[shard]!;
    return number < last.number || (number === last.number && refused.has(place));
  });

/** Each step may be repeated: a crash between two of them is put right by the next start, which takes all again. */
export const withdraw = (
  session: Pick<Session, 'rows' | 'dead'>,
  batch: Batch,
  { parts, end, dead }: Unsettled,
  cut: (end: ArchiveEnd) => void,
): void => {
  if (parts.length === 0) return;
  if (dead.length > 0) session.dead(dead);
  // The row that says where the settled part ends is written after the cut: the archive must reach it.
  cut(end);
  session.rows.reduce({ ...batch, end, parts: batch.parts.filter((part) => !parts.includes(part)) }, parts);
};

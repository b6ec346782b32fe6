/** Takes back what a batch left on this machine for settlements that were refused, or never settled. */

import type { DeadRecords } from '../../contract/walk.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import type { Batch, Part } from './rows.ts';
import type { Session } from './session.ts';

/** What a shard remembers of a member. */
export interface LastSettled {
  /** The number of the batch that it settled last here. */
  readonly number: number;
  /** How many links it settled here, and how many of those it gave up. */
  readonly settled: number;
  readonly given: number;
  /** The places of what was refused of the last batch. */
  readonly refused: ReadonlySet<number>;
}

/** `number settled given places`, as the shard writes it; empty for a member that it does not know. */
export const readLastSettled = (text: string): LastSettled => {
  const [number, settled, given, places] = text.split(' ');
  return {
    number: Number(number),
    settled: Number(settled ?? 0),
    given: Number(given ?? 0),
    refused: readPlaces(places ?? ''),
  };
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
export const unsettledOf = (last: Batch, settled: ReadonlyMap<number, LastSettled>): Unsettled =>
  unsettledIn(last, ({ shard, place }) => {
    const { number, refused } = settled.get(shard)!;
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
  if (dead.length > 0) session.dead(dead, 'lease');
  // The row that says where the settled part ends is written after the cut: the archive must reach it.
  cut(end);
  session.rows.reduce({ ...batch, end, parts: batch.parts.filter((part) => !parts.includes(part)) }, parts);
};

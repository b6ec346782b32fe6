/** Takes back what a batch left on this machine for settlements that were refused. */

import type { ArchiveEnd } from '../../model/census.ts';
import type { DeadRecords } from '../shared-crawl.ts';
import type { Book } from './book.ts';
import type { Batch, Part } from './rows.ts';

export interface Dropped {
  readonly parts: readonly Part[];
  /** Where the archive ends once the records at its tail are cut. */
  readonly end: ArchiveEnd;
  /** Records that others lie behind. */
  readonly dead: readonly DeadRecords[];
}

export const toDrop = (batch: Batch, isRefused: (part: Part) => boolean): Dropped => {
  const withRecords = batch.parts.filter(({ records }) => records !== null);
  const lastKept = withRecords.findLast((part) => !isRefused(part))?.records;
  const end = !lastKept
    ? batch.before
    : lastKept === withRecords.at(-1)!.records
      ? batch.end
      : { file: lastKept.file, bytes: lastKept.offset + lastKept.bytes };
  const keptUpTo = lastKept ? withRecords.findIndex(({ records }) => records === lastKept) : -1;
  const dead = withRecords
    .slice(0, keptUpTo + 1)
    .filter(isRefused)
    .map(({ records }) => records!);
  return { parts: batch.parts.filter(isRefused), end, dead };
};

/** Each step may be repeated: a crash between two of them is mended by the next start, which takes them all again. */
export const drop = (
  book: Pick<Book, 'rows' | 'archive' | 'dead'> & { end: ArchiveEnd },
  batch: Batch,
  isRefused: (part: Part) => boolean,
): void => {
  const dropped = toDrop(batch, isRefused);
  book.end = dropped.end;
  if (dropped.parts.length === 0) return;
  if (dropped.dead.length > 0) book.dead(dropped.dead);
  // The row that says where the settled part ends is written after the cut: the archive must reach it.
  book.archive.cut(dropped.end);
  book.rows.reduce(
    { ...batch, end: dropped.end, parts: batch.parts.filter((part) => !dropped.parts.includes(part)) },
    dropped.parts,
  );
};

/**
 * Puts fillers where bytes of the archive are listed as dead and cannot be read, so that every reader passes over them.
 */

import { closeSync, fsyncSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ArchiveFault, systemCode } from '../../archive/archive.ts';
import { FILLER_BYTES_MIN, fillers } from '../../archive/filler.ts';
import { readRecords } from '../../archive/reader.ts';
import { joinSpans, type DeadSpan } from '../../archive/dead-list.ts';
import type { PlacedPage } from './page-cursor.ts';

export interface Stretch {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

/** Whether readers stumble here, and a filler would help: not where the stretch is too short for a record. */
export const needsFiller = ({ path, from, to }: Stretch): boolean => {
  if (to - from < FILLER_BYTES_MIN) return false;
  try {
    for (const _ of readRecords(path, from, to));
    return false;
  } catch (error) {
    // What the system complains of (no permission, a failing disk) is not for a repair to judge.
    if (!(error instanceof ArchiveFault) || error.code !== '') throw error;
    return true;
  }
};

/**
 * How many stretches were filled. They are on the list already, so one that is filled by half when the process ends
 * is found and filled again. Nothing that a page points to is written over, whatever the list says.
 */
export const fillDead = async (
  dir: string,
  pages: () => AsyncIterable<PlacedPage>,
  dead: readonly DeadSpan[],
): Promise<number> => {
  const wanted = joinSpans(dead).filter(
    ({ file, offset, bytes }) => bytes > 0 && needsFiller(stretchOf(dir, { file, offset, bytes })),
  );
  const free = wanted.length === 0 ? [] : await withoutPages(pages(), wanted);
  for (const span of free) fill(stretchOf(dir, span), span.file);
  return free.length;
};

type Span = Pick<DeadSpan, 'file' | 'offset' | 'bytes'>;

const stretchOf = (dir: string, { file, offset, bytes }: Span): Stretch => {
  const path = join(dir, file);
  return { path, from: offset, to: Math.min(offset + bytes, sizeOf(path)) };
};

/** 0 when it is gone: the list may name such a file. */
const sizeOf = (path: string): number => {
  try {
    return statSync(path).size;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 0;
    throw error;
  }
};

const withoutPages = async (pages: AsyncIterable<PlacedPage>, spans: readonly DeadSpan[]): Promise<DeadSpan[]> => {
  const byFile = Map.groupBy(spans, ({ file }) => file);
  const taken = new Set<DeadSpan>();
  for await (const { file, offset, groupLength } of pages) {
    const inFile = byFile.get(file) ?? [];
    for (let i = firstEndingAfter(inFile, offset); i < inFile.length && inFile[i]!.offset < offset + groupLength; i++)
      taken.add(inFile[i]!);
  }
  return spans.filter((span) => !taken.has(span));
};

/** Spans are in order and do not touch. */
const firstEndingAfter = (spans: readonly DeadSpan[], offset: number): number => {
  let low = 0;
  for (let high = spans.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if (spans[middle]!.offset + spans[middle]!.bytes > offset) high = middle;
    else low = middle + 1;
  }
  return low;
};

const fill = ({ path, from, to }: Stretch, file: string): void => {
  const fd = openSync(path, 'r+');
  try {
    let at = from;
    for (const filler of fillers(to - from, file)) {
      for (let done = 0; done < filler.length; ) done += writeSync(fd, filler, done, filler.length - done, at + done);
      at += filler.length;
    }
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
};

/**
 * The list beside the archive of bytes in it that belong to no page: damaged records, records without a
 * page, files that are gone. A repair writes it, and a settlement that a shared store refused; whoever reads the
 * archive skips what is on it.
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../lib/replace-file.ts';

/** In the directory of the crawl. */
export const DEAD_FILE = 'dead-records.txt';

export interface DeadSpan {
  readonly file: string;
  readonly offset: number;
  /** 0 for a file that is gone. */
  readonly bytes: number;
  readonly why: string;
}

const HEAD = '# Bytes of the archive that belong to no page: file, offset, bytes, why. A file with 0 bytes is gone.\n';

export const readDead = (dir: string): DeadSpan[] => {
  const path = join(dir, DEAD_FILE);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [file, offset, bytes, why] = line.split('\t');
      if (line.startsWith('#') || file === undefined || !/^\d+$/.test(offset ?? '') || !/^\d+$/.test(bytes ?? ''))
        return [];
      return [{ file, offset: Number(offset), bytes: Number(bytes), why: why ?? '' }];
    });
};

/** In the order of the archive; spans that touch become one. */
export const joinSpans = (spans: readonly DeadSpan[]): DeadSpan[] => {
  const joined: DeadSpan[] = [];
  for (const span of spans.toSorted((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.offset - b.offset))) {
    const last = joined.at(-1);
    if (!last || last.file !== span.file || last.offset + last.bytes < span.offset) joined.push(span);
    else joined[joined.length - 1] = { ...last, bytes: Math.max(last.bytes, span.offset + span.bytes - last.offset) };
  }
  return joined;
};

/** Adds to the list; what is on it already stays. */
export const addDead = (dir: string, spans: readonly DeadSpan[]): void => writeDead(dir, [...readDead(dir), ...spans]);

export const writeDead = (dir: string, spans: readonly DeadSpan[]): void =>
  replaceFile(
    join(dir, DEAD_FILE),
    HEAD +
      joinSpans(spans)
        .map(({ file, offset, bytes, why }) => `${file}\t${offset}\t${bytes}\t${why.replace(/[\t\r\n]/g, ' ')}\n`)
        .join(''),
  );

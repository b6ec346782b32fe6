/** The settled pages in the order of the archive, taken one file and one offset at a time. */

import type { PlacedRow } from '../../store/sqlite/check.ts';

export interface PageCursor {
  /** The file of the next page; null after the last. */
  nextFile(): string | null;
  /** The next page of this file; null when there is none. */
  peek(file: string): PlacedRow | null;
  takeAt(file: string, offset: number): PlacedRow[];
  takeBefore(file: string, offset: number): Iterable<PlacedRow>;
  takeAll(file: string): Iterable<PlacedRow>;
}

export const createPageCursor = (rows: Iterator<PlacedRow>): PageCursor => {
  let next = rows.next();
  const peek = (file: string): PlacedRow | null => (!next.done && next.value.file === file ? next.value : null);
  function* takeWhile(file: string, isWanted: (page: PlacedRow) => boolean): Generator<PlacedRow> {
    for (let page = peek(file); page !== null && isWanted(page); page = peek(file)) {
      next = rows.next();
      yield page;
    }
  }
  return {
    nextFile: () => (next.done ? null : next.value.file),
    peek,
    takeAt: (file, offset) => [...takeWhile(file, (page) => page.offset === offset)],
    takeBefore: (file, offset) => takeWhile(file, (page) => page.offset < offset),
    takeAll: (file) => takeWhile(file, () => true),
  };
};

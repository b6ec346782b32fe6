/** Marks that count rows, on their way to a store that numbers its rows anew, from 1 and without gaps. */

import type { Census } from '../../model/census.ts';

/** What they are called, before a colon if there is one: results/on-page.ts and run/reread.ts set them. */
const NAMES: ReadonlySet<string> = new Set(['handled', 'reread']);

export interface RowMarks {
  /** A row that moves. */
  note(row: number): void;
  /** All marks as they are to be in the other store. */
  moved(marks: Census['marks']): Census['marks'];
}

export const createRowMarks = (marks: Census['marks']): RowMarks => {
  const counted = Object.entries(marks)
    .filter(([name]) => NAMES.has(name.split(':')[0]!))
    .map(([name, value]) => ({ name, value, rows: 0 }));
  return {
    note: (row) => {
      for (const mark of counted) if (row <= mark.value) mark.rows++;
    },
    moved: (all) => ({ ...all, ...Object.fromEntries(counted.map(({ name, rows }) => [name, rows])) }),
  };
};

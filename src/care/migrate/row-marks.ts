/** Marks that count rows, on their way to a store that numbers its rows anew, from 1 and without gaps. */

import type { Census } from '../../model/census.ts';

/** What they are called, before a colon if there is one: results/on-page.ts and run/reread.ts set them. */
const NAMES: ReadonlySet<string> = new Set(['handled', 'reread']);

export interface RowMarks {
  /** A row that moves, with the number that it has among those of its store or of its member. */
  note(row: number, member?: string): void;
  /** All marks as they are to be in the other store. */
  moved(marks: Census['marks']): Census['marks'];
}

/** Whose rows are counted, where a crawl has several members. */
export interface Numbering {
  /** All members; marks of the first have no name behind them. */
  readonly members: readonly string[];
  /** Whether each member has rows with numbers of their own, where the crawl is and where it goes. */
  readonly isFromByMember: boolean;
  readonly isToByMember: boolean;
}

export const createRowMarks = (marks: Census['marks'], numbering: Numbering | null = null): RowMarks => {
  const counted = Object.entries(marks)
    .filter(([name]) => NAMES.has(name.split(':')[0]!))
    .map(([name, value]) => ({ name, value, rows: 0, owner: ownerOf(name, numbering) }));
  let rows = 0;
  const byMember = new Map<string, number>();
  return {
    note: (row, member = '') => {
      rows++;
      byMember.set(member, (byMember.get(member) ?? 0) + 1);
      for (const mark of counted) {
        const isCounted = !numbering?.isFromByMember || mark.owner === member;
        if (!isCounted || row > mark.value) continue;
        mark.rows = numbering?.isToByMember ? (byMember.get(mark.owner) ?? 0) : rows;
      }
    },
    moved: (all) => ({ ...all, ...Object.fromEntries(counted.map(({ name, rows: n }) => [name, n])) }),
  };
};

const ownerOf = (name: string, numbering: Numbering | null): string =>
  numbering?.members.find((member) => name.endsWith(`:${member}`)) ?? numbering?.members[0] ?? '';

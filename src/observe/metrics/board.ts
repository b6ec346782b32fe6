/** The numbers of all threads of a crawl, by the name of the thread. */

import { clearGauges, newCells } from './cells.ts';
import type { ThreadCells } from './combine.ts';
import type { Role } from './table.ts';

export interface Board {
  /** The memory of the thread of this name; one that is started again gets that of the one before it. */
  cellsOf(name: string, role: Role): SharedArrayBuffer;
  /** This thread is gone: what it had under way is no more. */
  ended(name: string): void;
  threads(): readonly ThreadCells[];
}

export const createBoard = (): Board => {
  const threads = new Map<string, ThreadCells>();
  return {
    cellsOf: (name, role) => {
      let thread = threads.get(name);
      if (!thread) threads.set(name, (thread = { name, role, cells: newCells() }));
      return thread.cells;
    },
    ended: (name) => {
      const thread = threads.get(name);
      if (thread) clearGauges(thread.cells);
    },
    threads: () => [...threads.values()],
  };
};

/** Numbers that several threads wrote, put together. */

import type { Board } from './board.ts';
import { readSeries, type Series } from './cells.ts';
import { metricOf, type MetricName } from './table.ts';

export type Totals = Readonly<Record<string, number>>;

const EVERY = (): boolean => true;

/** What each thread that sets the metric has, its series added up. */
export const totalsOf = (board: Board, name: MetricName, isCounted: (series: Series) => boolean = EVERY): Totals => {
  const { by } = metricOf(name);
  return Object.fromEntries(
    board
      .threads()
      .filter(({ role }) => by.includes(role))
      .map((thread) => [
        thread.name,
        readSeries(thread.cells, name)
          .filter(isCounted)
          .reduce((sum, { cells }) => sum + cells[0]!, 0),
      ]),
  );
};

export const sumOf = (board: Board, name: MetricName, isCounted?: (series: Series) => boolean): number =>
  Object.values(totalsOf(board, name, isCounted)).reduce((total, one) => total + one, 0);

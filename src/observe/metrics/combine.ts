/** From the numbers of all threads to the series that are shown: added up, the largest, or one for each. */

import { readSeries, type LabelValues, type Series } from './cells.ts';
import { METRIC_NAMES, metricOf, type MetricName, type Role } from './table.ts';

export interface ThreadCells {
  readonly name: string;
  readonly role: Role;
  readonly cells: SharedArrayBuffer;
}

/** Series of one metric, as they are shown. */
export type Family = readonly [MetricName, readonly Series[]];

/** What nobody writes into memory, found when somebody asked. A metric that is not in it is not shown. */
export type Asked = Partial<Readonly<Record<MetricName, readonly Series[]>>>;

/** One number, as a series. */
export const only = (value: number, labels: LabelValues = {}): Series => ({ labels, cells: [value] });

export const combineAll = (threads: readonly ThreadCells[], asked: Asked): Family[] =>
  METRIC_NAMES.flatMap((name): Family[] => {
    const series = metricOf(name).by === 'asked' ? asked[name] : combine(name, threads);
    return series && series.length > 0 ? [[name, series]] : [];
  });

const combine = (name: MetricName, threads: readonly ThreadCells[]): Series[] => {
  const { combine: how, by } = metricOf(name);
  const those = threads.filter(({ role }) => by.includes(role));
  switch (how) {
    case 'thread':
      return those.flatMap((thread) =>
        readSeries(thread.cells, name).map(({ labels, cells }) => ({
          labels: { ...labels, thread: thread.name },
          cells,
        })),
      );
    case 'sum':
      return merge(name, those, (a, b) => a + b);
    case 'maximum':
      return merge(name, those, Math.max);
    default:
      return how satisfies never;
  }
};

const merge = (name: MetricName, threads: readonly ThreadCells[], two: (a: number, b: number) => number): Series[] => {
  const [first, ...others] = threads.map((thread) => readSeries(thread.cells, name));
  return (first ?? []).map(({ labels, cells }, i) => ({
    labels,
    cells: cells.map((cell, at) => others.reduce((so, other) => two(so, other[i]!.cells[at]!), cell)),
  }));
};

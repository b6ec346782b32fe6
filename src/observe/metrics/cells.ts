/**
 * The numbers of one thread in shared memory, laid out from the table: the thread writes, whoever is asked reads.
 *
 * A cell has one writer, so nothing is locked and nothing is sent. A thread that is started again gets the memory of
 * the one before it: its counters go on from there.
 */

import { METRIC_NAMES, metricOf, type MetricName } from './table.ts';

/** Cells of one series: a number; of a histogram one per bucket, one for what is above the last, and the sum. */
interface Block {
  readonly at: number;
  /** The labels with the values that they can have, in the order of the table. */
  readonly labels: readonly (readonly [string, readonly string[]])[];
  readonly cellsPerSeries: number;
  readonly seriesCount: number;
  readonly buckets: readonly number[];
}

const BLOCKS = new Map<MetricName, Block>();
let cellsTotal = 0;
for (const name of METRIC_NAMES) {
  const { by, labels = {}, buckets = [], type } = metricOf(name);
  if (by === 'asked') continue;
  const seriesCount = Object.values(labels).reduce((product, values) => product * values.length, 1);
  const cellsPerSeries = type === 'histogram' ? buckets.length + 2 : 1;
  BLOCKS.set(name, { at: cellsTotal, labels: Object.entries(labels), cellsPerSeries, seriesCount, buckets });
  cellsTotal += seriesCount * cellsPerSeries;
}

const blockOf = (name: MetricName): Block => {
  const block = BLOCKS.get(name);
  if (!block) throw new Error(`the metric ${name} is not in the memory of threads`);
  return block;
};

export const newCells = (): SharedArrayBuffer => new SharedArrayBuffer(8 * cellsTotal);

export type LabelValues = Readonly<Record<string, string>>;

/** Where a series lies: looked up once, before it is needed often. */
export const cellOf = (name: MetricName, values: LabelValues = {}): number => {
  const { at, labels, cellsPerSeries } = blockOf(name);
  let nth = 0;
  for (const [label, known] of labels) {
    const i = known.indexOf(values[label] ?? '');
    if (i < 0) throw new Error(`the metric ${name} has no ${label} "${values[label] ?? ''}"`);
    nth = nth * known.length + i;
  }
  return at + nth * cellsPerSeries;
};

/** The cells of a metric by the values of one of its labels; the others are given. */
export const cellsBy = (
  name: MetricName,
  label: string,
  values: LabelValues = {},
): Readonly<Record<string, number>> => {
  const known = blockOf(name).labels.find(([one]) => one === label)?.[1] ?? [];
  return Object.fromEntries(known.map((value) => [value, cellOf(name, { ...values, [label]: value })]));
};

export interface Meter {
  add(cell: number, by?: number): void;
  set(cell: number, value: number): void;
}

export interface Distribution {
  observe(value: number): void;
}

export const openMeter = (shared: SharedArrayBuffer): Meter => {
  const cells = new Float64Array(shared);
  return {
    add: (cell, by = 1) => void (cells[cell]! += by),
    set: (cell, value) => void (cells[cell] = value),
  };
};

/** One series of a histogram, to write. */
export const openDistribution = (
  shared: SharedArrayBuffer,
  name: MetricName,
  values: LabelValues = {},
): Distribution => {
  const cells = new Float64Array(shared);
  const { buckets } = blockOf(name);
  const at = cellOf(name, values);
  const sumAt = at + buckets.length + 1;
  return {
    observe: (value) => {
      let bucket = 0;
      while (bucket < buckets.length && value > buckets[bucket]!) bucket++;
      cells[at + bucket]!++;
      cells[sumAt]! += value;
    },
  };
};

/** A gauge says what is now, and a dead thread is no more. Counters stay, and gauges that last. */
export const clearGauges = (shared: SharedArrayBuffer): void => {
  const cells = new Float64Array(shared);
  for (const [name, { at, seriesCount }] of BLOCKS)
    if (metricOf(name).type === 'gauge' && !metricOf(name).lasts) cells.fill(0, at, at + seriesCount);
};

/** One series as it was read: a number, or the cells of a histogram. */
export interface Series {
  readonly labels: LabelValues;
  readonly cells: readonly number[];
}

export const readSeries = (shared: SharedArrayBuffer, name: MetricName): Series[] => {
  const { at, labels, cellsPerSeries, seriesCount } = blockOf(name);
  const cells = new Float64Array(shared);
  return Array.from({ length: seriesCount }, (_, nth) => {
    const from = at + nth * cellsPerSeries;
    return { labels: labelsOf(labels, nth), cells: [...cells.subarray(from, from + cellsPerSeries)] };
  });
};

const labelsOf = (labels: Block['labels'], nth: number): LabelValues => {
  const values: [string, string][] = [];
  let rest = nth;
  for (const [label, known] of labels.toReversed()) {
    values.unshift([label, known[rest % known.length]!]);
    rest = Math.floor(rest / known.length);
  }
  return Object.fromEntries(values);
};

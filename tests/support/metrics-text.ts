/** Reads the text that Prometheus would read, strictly: a line that is no metric fails. */

import assert from 'node:assert/strict';

export interface Point {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-z_]+)="((?:[^"\\]|\\.)*)"(?:,|$)/y;

export const readMetrics = (text: string): Point[] =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, labels = '', value] = LINE.exec(line) ?? assert.fail(`not a metric: ${line}`);
      return { name: name!, labels: readLabels(labels), value: Number(value!.replace('Inf', 'Infinity')) };
    });

const readLabels = (text: string): Record<string, string> => {
  const labels: Record<string, string> = {};
  for (LABEL.lastIndex = 0; LABEL.lastIndex < text.length; ) {
    const [, label, value] = LABEL.exec(text) ?? assert.fail(`not labels: ${text}`);
    labels[label!] = value!.replace(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char));
  }
  return labels;
};

/** The sum of all series of this name that have these labels; null when there is none. */
export const sumOf = (
  points: readonly Point[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | null => {
  const found = points.filter(
    (point) => point.name === name && Object.entries(labels).every(([label, value]) => point.labels[label] === value),
  );
  return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0);
};

/** The sums of a metric by one of its labels, without those that are 0. */
export const sumsBy = (points: readonly Point[], name: string, label: string): Record<string, number> => {
  const sums: Record<string, number> = {};
  for (const point of points) {
    if (point.name === name && point.value !== 0)
      sums[point.labels[label]!] = (sums[point.labels[label]!] ?? 0) + point.value;
  }
  return sums;
};

/** Metrics as Prometheus reads them: its text format, version 0.0.4. */

import type { LabelValues, Series } from './cells.ts';
import type { Family } from './combine.ts';
import { fullName, metricOf } from './table.ts';

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** With `whose` on every sample: the crawl and the member that the numbers are of. */
export const writeMetrics = (families: readonly Family[], whose: LabelValues = {}): string =>
  families.map((family) => writeFamily(family, whose)).join('');

const writeFamily = ([name, series]: Family, whose: LabelValues): string => {
  const { help, type, buckets = [] } = metricOf(name);
  const full = fullName(name);
  const lines = series.flatMap(({ labels: own, cells }) => {
    const labels = { ...own, ...whose };
    return type === 'histogram' ? histogramLines(full, { labels, cells }, buckets) : [line(full, labels, cells[0]!)];
  });
  return `# HELP ${full} ${escapeHelp(help)}\n# TYPE ${full} ${type}\n${lines.join('')}`;
};

/**
 * Cells count each bucket by itself; in the text each holds those below it, too. The last is all, so it is the count.
 */
const histogramLines = (full: string, { labels, cells }: Series, buckets: readonly number[]): string[] => {
  let count = 0;
  const lines = [...buckets, Infinity].map((end, i) =>
    line(`${full}_bucket`, { ...labels, le: numeral(end) }, (count += cells[i]!)),
  );
  return [...lines, line(`${full}_sum`, labels, cells[buckets.length + 1]!), line(`${full}_count`, labels, count)];
};

const line = (full: string, labels: LabelValues, value: number): string => {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${full}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${numeral(value)}\n`;
};

const numeral = (value: number): string => (value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : String(value));

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
export const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');

/** Whether what an expression names is in the table of metrics. */

import { METRIC_NAMES, metricOf, PREFIX, type Metric } from '../../src/observe/metrics/table.ts';
import { namedIn, type Matcher } from './promql.ts';

/** What Prometheus adds to every series. */
const LABELS_OF_TARGETS = ['instance', 'job'];
/** What every sample of a crawl has. */
const LABELS_OF_CRAWLS = ['crawl', 'member'];
const HISTOGRAM_SUFFIX = /_(?:bucket|sum|count)$/;

/** Label to its values; null where any will do. */
type Labels = Readonly<Record<string, readonly string[] | null>>;

const labelsOf = ({ labels = {}, combine }: Metric): Labels => ({
  ...labels,
  ...(combine === 'thread' ? { thread: null } : {}),
  ...Object.fromEntries([...LABELS_OF_TARGETS, ...LABELS_OF_CRAWLS].map((label) => [label, null])),
});

/** The labels of a metric as it is in the text; undefined where there is none of that name. */
const labelsIn = (name: string): Labels | undefined => {
  if (name === 'up') return Object.fromEntries(LABELS_OF_TARGETS.map((label) => [label, null]));
  if (!name.startsWith(PREFIX)) return undefined;
  const bare = name.slice(PREFIX.length);
  const known = METRIC_NAMES.find(
    (one) => one === (metricOf(one).type === 'histogram' ? bare.replace(HISTOGRAM_SUFFIX, '') : bare),
  );
  if (!known) return undefined;
  const metric = metricOf(known);
  if (metric.type !== 'histogram') return labelsOf(metric);
  if (!HISTOGRAM_SUFFIX.test(bare)) return undefined; // there are only its parts
  return { ...labelsOf(metric), ...(bare.endsWith('_bucket') ? { le: null } : {}) };
};

/**
 * What is wrong with the names in an expression, in words; none, if all is well. `shown` are labels that a legend
 * wants.
 */
export const complaintsAbout = (expression: string, shown: readonly string[] = []): string[] => {
  const { metrics, grouping } = namedIn(expression);
  const known = metrics.map(({ name, matchers }) => ({ name, matchers, labels: labelsIn(name) }));
  const all = new Set(known.flatMap(({ labels = {} }) => Object.keys(labels)));
  const left = grouping.length > 0 ? grouping : all;
  return [
    ...(metrics.length === 0 ? ['names no metric'] : []),
    ...known.filter(({ labels }) => !labels).map(({ name }) => `there is no metric ${name}`),
    ...known.flatMap(({ name, matchers, labels }) =>
      labels ? matchers.flatMap((one) => wrongMatcher(name, one, labels)) : [],
    ),
    ...grouping.filter((label) => !all.has(label)).map((label) => `none of its metrics has the label ${label}`),
    ...shown
      .filter((label) => ![...left].includes(label))
      .map((label) => `its legend shows the label ${label}, which it does not have`),
  ];
};

const wrongMatcher = (name: string, { label, operator, value }: Matcher, labels: Labels): string[] => {
  if (!(label in labels)) return [`${name} has no label ${label}`];
  const values = labels[label];
  const isExact = operator === '=' || operator === '!=';
  return isExact && values && !values.includes(value) ? [`${name} has no ${label} "${value}"`] : [];
};

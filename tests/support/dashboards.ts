/** The dashboards of deploy/grafana, and the expressions in them. */

import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));

export interface Query {
  readonly expr: string;
  readonly legendFormat?: string;
}

interface Sourced {
  readonly datasource: { readonly uid: string };
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly (Query & Sourced)[];
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly links: readonly { readonly url: string }[];
  readonly annotations: { readonly list: readonly (Query & Sourced)[] };
  readonly templating: { readonly list: readonly ({ readonly query: string } & Sourced)[] };
  readonly panels: readonly Panel[];
}

export const dashboards = (): ReadonlyMap<string, Dashboard> =>
  new Map(
    globSync('grafana/dashboards/*.json', { cwd: DEPLOY })
      .toSorted()
      .map((file) => [basename(file), JSON.parse(readFileSync(join(DEPLOY, file), 'utf8')) as Dashboard]),
  );

/** Every expression with where it stands and the labels that its legend shows. */
export interface Placed {
  readonly where: string;
  readonly expression: string;
  readonly shown: readonly string[];
}

export const expressionsOf = (file: string, { panels, annotations, templating }: Dashboard): Placed[] => [
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat = '' }) => ({
      where: `${file}: ${title}`,
      expression: expr,
      shown: [...legendFormat.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, label]) => label!),
    })),
  ),
  ...annotations.list.map(({ expr }) => ({ where: `${file}: its marks`, expression: expr, shown: [] })),
  ...templating.list.map(({ query }) => ({
    where: `${file}: its choice`,
    expression: /^label_values\((.*), \w+\)$/.exec(query)?.[1] ?? query,
    shown: [],
  })),
];

/** An expression as Grafana sends it: with its variables replaced. */
export const filledIn = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*').replaceAll('$crawl', '.+');

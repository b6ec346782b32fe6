/** Rows as JSON lines and as CSV. */

import { cell } from '../../lib/csv.ts';
import type { Column, Value } from './columns.ts';

export interface TextFormat {
  readonly head: <Row>(columns: readonly Column<Row>[]) => string;
  /** With its line end. */
  readonly line: <Row>(columns: readonly Column<Row>[], row: Row) => string;
}

export const jsonLines: TextFormat = {
  head: () => '',
  line: (columns, row) => `{${columns.map(({ name, kind, of }) => `"${name}":${jsonOf(kind, of(row))}`).join(',')}}\n`,
};

const jsonOf = (kind: Column<never>['kind'], value: Value): string => {
  if (value === null) return 'null';
  return kind === 'json' ? String(value) : JSON.stringify(kind === 'time' ? isoOf(value) : value);
};

/** RFC 4180: a head, and lines that end as in the mail of old. */
export const csv: TextFormat = {
  head: (columns) => `${columns.map(({ name }) => name).join(',')}\r\n`,
  line: (columns, row) => `${columns.map(({ kind, of }) => cellOf(kind, of(row))).join(',')}\r\n`,
};

const cellOf = (kind: Column<never>['kind'], value: Value): string =>
  cell(typeof value === 'boolean' ? String(value) : kind === 'time' && value !== null ? isoOf(value) : value);

const isoOf = (value: Value): string => new Date(value as number).toISOString();

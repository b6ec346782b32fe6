/** The columns of an export, in one table: the writers and the reference page come from it. */

import { PAGE_COLUMN_NAMES, PAGE_COLUMNS, type ColumnKind, type PageRow } from '../../model/page.ts';

export const COLUMN_KINDS = {
  text: { parquet: 'VARCHAR', says: 'a text; empty when there is none' },
  json: { parquet: 'VARCHAR', says: 'a value as JSON text; in JSON lines, the value itself' },
  time: { parquet: 'TIMESTAMP', says: 'in UTC, to the millisecond; in JSON lines and CSV as in ISO 8601' },
  int32: { parquet: 'INTEGER', says: 'a whole number' },
  int64: { parquet: 'BIGINT', says: 'a whole number' },
  double: { parquet: 'DOUBLE', says: 'a number' },
  boolean: { parquet: 'BOOLEAN', says: 'true or false' },
} as const satisfies Readonly<Record<ColumnKind, object>>;

/** A time is in milliseconds. */
export type Value = string | number | boolean | null;

export interface Column<Row> {
  readonly name: string;
  readonly kind: ColumnKind;
  /** Null when there is nothing to say; nothing at all in CSV. */
  readonly nullable?: true;
  readonly says: string;
  readonly of: (row: Row) => Value;
}

/** Every column of a page. */
export const PAGE_TABLE: readonly Column<PageRow>[] = PAGE_COLUMN_NAMES.map((name) => ({
  name,
  ...PAGE_COLUMNS[name],
  of: (page) => page[name],
}));

export interface LinkRow {
  readonly from: string;
  readonly to: string;
}

export const LINK_COLUMNS: readonly Column<LinkRow>[] = [
  { name: 'from', kind: 'text', says: 'the page that has the link', of: (link) => link.from },
  { name: 'to', kind: 'text', says: 'where it leads, in canonical form', of: (link) => link.to },
];

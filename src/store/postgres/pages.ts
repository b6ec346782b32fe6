/** Rows of settled pages in PostgreSQL: how they are declared, written and read back. */

import { PAGE_COLUMN_NAMES, PAGE_COLUMNS, type ColumnKind, type PageRow } from '../../model/page.ts';
import { keyOf } from './schema.ts';
import { jsonOf } from './values.ts';

const TYPES: Readonly<Record<ColumnKind, string>> = {
  text: 'text',
  json: 'text',
  time: 'float8',
  int32: 'int',
  int64: 'bigint',
  double: 'float8',
  boolean: 'boolean',
};

/** The columns of a page as an INSERT names them, as a CREATE TABLE declares them, and as `pages.sql` reads them. */
export const PAGE_SQL = {
  page_fields: PAGE_COLUMN_NAMES.join(', '),
  page_declared: PAGE_COLUMN_NAMES.map((name) => {
    const { kind, nullable } = PAGE_COLUMNS[name];
    return `${name} ${name === 'site' ? 'bigint' : TYPES[kind]}${nullable ? '' : ' NOT NULL'}`;
  }).join(', '),
  page_columns: PAGE_COLUMN_NAMES.map((name) => (name === 'site' ? 'k.name AS site' : `p.${name}`)).join(', '),
};

/** Pages as the function `keep_pages` takes them. */
export const pagesJson = (pages: readonly PageRow[]): string =>
  jsonOf(pages.map((page) => ({ ...page, site: String(keyOf(page.site)) })));

/** A row that `pages.sql` gives. */
export type FoundPage = Omit<PageRow, 'site'> & {
  readonly row: number;
  /** Null for a member or a site that is not there. */
  readonly member: string | null;
  readonly site: string | null;
};

export const toPage = ({ row: _row, member: _member, ...page }: FoundPage): PageRow =>
  ({ ...page, site: page.site ?? '' }) as PageRow;

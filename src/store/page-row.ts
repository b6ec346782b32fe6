/** Rows of settled pages in a database of SQLite: the embedded store's, and the one beside the archive of a member. */

import { PAGE_COLUMN_NAMES, PAGE_COLUMNS, type ColumnKind, type PageRow } from '../model/page.ts';
import { fingerprint } from '../url/fingerprint.ts';

/** 53 bits of a URL's fingerprint, which SQLite and JavaScript both hold as a plain number. */
export const urlKey = (url: string): number => Number(fingerprint(url) >> 11n);

/** The site is not among them: one store has it by number, the other by name. */
const NAMES = PAGE_COLUMN_NAMES.filter((name) => name !== 'site');

const TYPES: Readonly<Record<ColumnKind, string>> = {
  text: 'TEXT',
  json: 'TEXT',
  time: 'REAL',
  int32: 'INTEGER',
  int64: 'INTEGER',
  double: 'REAL',
  boolean: 'INTEGER',
};

/** The columns of a page as an INSERT and a SELECT name them, without the site. */
export const PAGE_FIELDS = ['url_key', ...NAMES].join(', ');

/** The columns of a page as a CREATE TABLE declares them, without the site. */
export const PAGE_DECLARED = [
  'url_key INTEGER NOT NULL',
  ...NAMES.map((name) => `${name} ${TYPES[PAGE_COLUMNS[name].kind]}${PAGE_COLUMNS[name].nullable ? '' : ' NOT NULL'}`),
].join(', ');

export const PAGE_MARKS = ['url_key', ...NAMES].map(() => '?').join(', ');

/** In the order of PAGE_FIELDS. */
export const pageValues = (row: PageRow): (string | number | null)[] => {
  const values: (string | number | null)[] = [urlKey(row.url)];
  for (const name of NAMES) {
    const value = row[name];
    values.push(typeof value === 'boolean' ? Number(value) : value);
  }
  return values;
};

/** Back from the values of PAGE_FIELDS. */
export const pageOfValues = (site: string, values: readonly unknown[]): PageRow =>
  pageFrom((name) => (name === 'site' ? site : values[PLACES[name]]));

/** Back from a row that has the name of the site as `site_name`. */
export const toPage = (row: Readonly<Record<string, unknown>>): PageRow =>
  pageFrom((name) => row[name === 'site' ? 'site_name' : name]);

/** Where in PAGE_FIELDS each column is: the key comes first. */
const PLACES = Object.fromEntries(NAMES.map((name, i) => [name, i + 1])) as Record<keyof PageRow, number>;

const pageFrom = (fieldOf: (name: keyof PageRow) => unknown): PageRow => {
  const page: Record<string, unknown> = {};
  for (const name of PAGE_COLUMN_NAMES) {
    const value = fieldOf(name);
    page[name] = PAGE_COLUMNS[name].kind === 'boolean' ? value === 1 : value;
  }
  return page as unknown as PageRow;
};

/** The columns of an export, in one table: the writers and the reference page come from it. */

import type { PlacedPage } from '../../model/settlement.ts';

export const COLUMN_KINDS = {
  text: { parquet: 'VARCHAR', says: 'a text; empty when there is none' },
  json: { parquet: 'VARCHAR', says: 'a value as JSON text; in JSON lines, the value itself' },
  time: { parquet: 'TIMESTAMP', says: 'in UTC, to the millisecond; in JSON lines and CSV as in ISO 8601' },
  int32: { parquet: 'INTEGER', says: 'a whole number' },
  int64: { parquet: 'BIGINT', says: 'a whole number' },
  double: { parquet: 'DOUBLE', says: 'a number' },
  boolean: { parquet: 'BOOLEAN', says: 'true or false' },
} as const;

export type ColumnKind = keyof typeof COLUMN_KINDS;

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

/** Names and kinds are a promise: programs are written against them. New columns come at the end. */
export const PAGE_COLUMNS: readonly Column<PlacedPage>[] = [
  { name: 'url', kind: 'text', says: 'its address in canonical form', of: (page) => page.url },
  { name: 'site', kind: 'text', says: 'the site it belongs to', of: (page) => page.site },
  { name: 'outcome', kind: 'text', says: 'what became of it ([outcomes](outcomes.md))', of: (page) => page.outcome },
  {
    name: 'status',
    kind: 'int32',
    nullable: true,
    says: 'HTTP status; null when no server answered',
    of: (page) => page.status,
  },
  { name: 'time', kind: 'time', says: 'when its call left; when it was settled, if none did', of: (page) => page.at },
  { name: 'duration_ms', kind: 'double', says: 'how long the call took', of: (page) => page.durationMs },
  { name: 'content_type', kind: 'text', says: 'as the server wrote it', of: (page) => page.contentType },
  { name: 'bytes', kind: 'int64', says: 'length of the body as it came', of: (page) => page.bytes },
  { name: 'title', kind: 'text', says: 'title of the page', of: (page) => page.title },
  { name: 'language', kind: 'text', says: 'language that the page names', of: (page) => page.language },
  { name: 'redirect', kind: 'text', says: 'where a redirect leads', of: (page) => page.redirect },
  { name: 'digest', kind: 'text', says: '`sha1:` and base 32, of the body as it came', of: (page) => page.digest },
  {
    name: 'truncated',
    kind: 'text',
    says: 'why the body is not whole, as in WARC-Truncated',
    of: (page) => page.truncated,
  },
  { name: 'noindex', kind: 'boolean', says: 'whether the page asks not to be indexed', of: (page) => page.noindex },
  { name: 'depth', kind: 'int32', says: 'links followed from a seed', of: (page) => page.depth },
  { name: 'via', kind: 'text', says: 'the page it was found on; empty for a seed', of: (page) => page.via },
  { name: 'tries', kind: 'int32', says: 'how often it was tried', of: (page) => page.tries },
  { name: 'robots', kind: 'text', says: 'the robots rule that decided, or why none did', of: (page) => page.robots },
  {
    name: 'detail',
    kind: 'text',
    says: 'the address dialled; for a failure, what the system said',
    of: (page) => page.detail,
  },
  {
    name: 'extracted',
    kind: 'json',
    nullable: true,
    says: 'what `extract` of the --hooks module returned',
    of: (page) => (page.extracted === '' ? null : page.extracted),
  },
  {
    name: 'warc_file',
    kind: 'text',
    nullable: true,
    says: 'archive file with its records; null when nothing was archived',
    of: (page) => page.place?.file ?? null,
  },
  {
    name: 'warc_offset',
    kind: 'int64',
    nullable: true,
    says: 'where its first record begins',
    of: (page) => page.place?.offset ?? null,
  },
  {
    name: 'warc_length',
    kind: 'int64',
    nullable: true,
    says: 'bytes of its first record',
    of: (page) => page.place?.length ?? null,
  },
  {
    name: 'warc_group_length',
    kind: 'int64',
    nullable: true,
    says: 'bytes of all its records',
    of: (page) => page.place?.groupLength ?? null,
  },
];

export interface LinkRow {
  readonly from: string;
  readonly to: string;
}

export const LINK_COLUMNS: readonly Column<LinkRow>[] = [
  { name: 'from', kind: 'text', says: 'the page that has the link', of: (link) => link.from },
  { name: 'to', kind: 'text', says: 'where it leads, in canonical form', of: (link) => link.to },
];

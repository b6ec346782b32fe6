/** A settled link as a row, and the table of its columns: stores, exports, listings and the library share both. */

import type { CanonicalUrl } from './link.ts';
import type { TlsVerdict } from './failure.ts';
import type { OutcomeName } from './outcome.ts';

/** What is known of a settled link. */
export interface Page {
  /** The address in canonical form. */
  readonly url: CanonicalUrl;
  /** The site that the address belongs to. */
  readonly site: string;
  /** What became of the link. */
  readonly outcome: OutcomeName;
  /** The HTTP status; null when no server answered. */
  readonly status: number | null;
  /** When the request was sent, in milliseconds since 1970; when the link was settled, if none was. */
  readonly time: number;
  /** How long the request took, in milliseconds. */
  readonly duration_ms: number;
  /** The Content-Type as the server wrote it. */
  readonly content_type: string;
  /** Bytes of the body as it came. */
  readonly bytes: number;
  readonly title: string;
  /** The language that the page names. */
  readonly language: string;
  /** Where a redirect leads. */
  readonly redirect: string;
  /** `sha1:` and base 32, of the body as it came; empty when there is none. */
  readonly digest: string;
  /** Why the body is not whole, as in WARC-Truncated. */
  readonly truncated: string;
  /** Whether the page asks not to be indexed. */
  readonly noindex: boolean;
  /** Links followed from a seed. */
  readonly depth: number;
  /** The page that the link was found on; empty for a seed. */
  readonly via: string;
  /** How often the link was tried. */
  readonly tries: number;
  /** The robots rule that decided, or why none did. */
  readonly robots: string;
  /** The address that was connected to; for a failure, what the system said. */
  readonly detail: string;
  /** What `extract` of the --hooks module returned, as JSON; null when nothing. */
  readonly extracted: string | null;
  /** Whether the server's certificate was verified; empty without TLS, and when no server answered. */
  readonly tls: TlsVerdict | '';
  /** The encoding that the page was read in, in the words of the Encoding Standard; empty when it was not read. */
  readonly charset: string;
  /** Whether nothing named that encoding: UTF-8 where the bytes keep to it, or else what their letters look like. */
  readonly charset_guessed: boolean;
}

/** Where the records of a page lie in the archive: the response first, what belongs to it right after. */
export interface WarcPlace {
  readonly warc_file: string;
  readonly warc_offset: number;
  /** Bytes of the first record. */
  readonly warc_length: number;
  /** Bytes of all records of the page, the first included. */
  readonly warc_group_length: number;
}

/** Nothing of the page was archived. */
export type NoPlace = { readonly [K in keyof WarcPlace]: null };

export const NO_PLACE: NoPlace = { warc_file: null, warc_offset: null, warc_length: null, warc_group_length: null };

/** A settled link with the place of its records. */
export type PageRow = Page & (WarcPlace | NoPlace);

/** A row whose records are in the archive. */
export type ArchivedRow = Page & WarcPlace;

export const isArchived = (row: PageRow): row is ArchivedRow => row.warc_file !== null;

export type ColumnKind = 'text' | 'json' | 'time' | 'int32' | 'int64' | 'double' | 'boolean';

export interface PageColumn {
  readonly kind: ColumnKind;
  /** May be null, when there is nothing to say. */
  readonly nullable?: true;
  readonly says: string;
}

/** Names and kinds are a promise: programs are written against them. New columns come at the end. */
export const PAGE_COLUMNS: Readonly<Record<keyof PageRow, PageColumn>> = {
  url: { kind: 'text', says: 'its address in canonical form' },
  site: { kind: 'text', says: 'the site it belongs to' },
  outcome: { kind: 'text', says: 'what became of it ([outcomes](outcomes.md))' },
  status: { kind: 'int32', nullable: true, says: 'HTTP status; null when no server answered' },
  time: { kind: 'time', says: 'when its request was sent; when it was settled, if none was' },
  duration_ms: { kind: 'double', says: 'how long the request took' },
  content_type: { kind: 'text', says: 'as the server wrote it' },
  bytes: { kind: 'int64', says: 'length of the body as it came' },
  title: { kind: 'text', says: 'title of the page' },
  language: { kind: 'text', says: 'language that the page names' },
  redirect: { kind: 'text', says: 'where a redirect leads' },
  digest: { kind: 'text', says: '`sha1:` and base 32, of the body as it came' },
  truncated: { kind: 'text', says: 'why the body is not whole, as in WARC-Truncated' },
  noindex: { kind: 'boolean', says: 'whether the page asks not to be indexed' },
  depth: { kind: 'int32', says: 'links followed from a seed' },
  via: { kind: 'text', says: 'the page it was found on; empty for a seed' },
  tries: { kind: 'int32', says: 'how often it was tried' },
  robots: { kind: 'text', says: 'the robots rule that decided, or why none did' },
  detail: { kind: 'text', says: 'the address that was connected to; for a failure, what the system said' },
  extracted: { kind: 'json', nullable: true, says: 'what `extract` of the --hooks module returned' },
  warc_file: {
    kind: 'text',
    nullable: true,
    says: 'archive file with its records; null when nothing was archived',
  },
  warc_offset: { kind: 'int64', nullable: true, says: 'where its first record begins' },
  warc_length: { kind: 'int64', nullable: true, says: 'bytes of its first record' },
  warc_group_length: { kind: 'int64', nullable: true, says: 'bytes of all its records' },
  tls: { kind: 'text', says: '`unverified`, or `verified` with --verify-tls; empty for http, and without an answer' },
  charset: { kind: 'text', says: 'encoding it was read in, such as `windows-1251`; empty when it was not read' },
  charset_guessed: { kind: 'boolean', says: 'whether nothing named that encoding: not its header, not the page' },
};

/** The names of all columns, in the order of the table. */
export const PAGE_COLUMN_NAMES = Object.keys(PAGE_COLUMNS) as readonly (keyof PageRow)[];

/** What the verbs of one open store share: the server, who they are, and hints of what is due. */

import type { Archive, StoreFault } from '../../frontier/store.ts';
import type { DueHints } from './due-hints.ts';

export interface Book {
  readonly member: string;
  /** Counts the openings of this member; calls of an earlier one are refused. */
  readonly run: number;
  readonly shards: number;
  readonly archive: Archive;
  readonly dueHints: DueHints;
  /** Calls a function of the crawl. `onLost` when it is not known whether a call happened, before it is made again. */
  call<Row>(verb: Verb, values: readonly Value[], onLost?: () => void): Promise<Row[]>;
  /** The time handed in; null for the server's own. */
  at(): number | null;
  /** The server's time as far as it is known here; good for hints. */
  roughly(): number;
  /** What time it was on the server a moment ago. */
  heard(serverMs: number): void;
  /** The number of the last batch of settlements. */
  batch: number;
  /** Why no more can be settled: it is not known how the last batch ended. */
  broken: StoreFault | null;
}

/** Functions of the crawl that are called from here. */
export type Verb =
  | 'admit'
  | 'claim'
  | 'settle'
  | 'fence'
  | 'free_held'
  | 'retry_parked'
  | 'release_held'
  | 'mark'
  | 'census'
  | 'enter'
  | 'moment';

export type Value = string | number | bigint | boolean | null;

/** Numbers and truth values as PostgreSQL writes an array; the client's own way quotes each. */
export const arrayOf = (values: readonly (number | bigint | boolean | null)[]): string =>
  `{${values.map((value) => value ?? 'NULL').join(',')}}`;

/** PostgreSQL's texts cannot hold the character 0, which a page may well have in its title. */
export const textOf = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text);

const TO_ESCAPE = /[\\"]/g;

export const textsOf = (texts: readonly (string | null)[]): string =>
  `{${texts.map((text) => (text === null ? 'NULL' : `"${textOf(text).replace(TO_ESCAPE, '\\$&')}"`)).join(',')}}`;

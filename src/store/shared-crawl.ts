/** A crawl in a shared store, opened to look at it, check it, or move it: what every such store gives. */

import type { Reader } from '../frontier/store.ts';
import type { ArchiveEnd, Census } from '../model/census.ts';
import type { Link } from '../model/link.ts';
import type { RobotsRecord } from '../model/robots.ts';
import type { PlacedPage } from '../model/settlement.ts';
import type { Pace } from '../model/visit.ts';

export interface SharedPlace {
  /** With its password, if it has one. */
  readonly url: string;
  /** The name of the crawl in that store. */
  readonly crawl: string;
  readonly shards: number;
  /** For people: the server is gone, is back, is slow. */
  readonly say: (message: string) => void;
}

/** It takes no lease and has no archive. */
export interface SharedCrawl {
  /** What the crawl keeps for those who join it; null when there is no such note, or no such crawl. */
  note(name: string): Promise<string | null>;
  /** Writes a note unless it is there, and gives what is there then. Makes the crawl if it is new. */
  keepNote(name: string, text: string): Promise<string>;
  /** Reads for people; page rows that lie beside an archive are read from there. */
  reader(rowsPath: string): Reader;
  /**
   * Looks at every link: is each in exactly one state, do lines, counters and the set of known URLs agree? Nobody may
   * work on the crawl meanwhile.
   */
  survey(rows: MemberRows, onProgress: (linksDone: number) => void): Promise<SharedSurvey>;
  /** The whole crawl in pieces, to move it; no member may be at work. */
  pieces(rows: MemberRows): AsyncIterable<Piece>;
  /**
   * Begins to fill a crawl from pieces: what an earlier try left is removed. Throws a StoreFault when a whole crawl is
   * there.
   */
  beginMove(): Promise<void>;
  /** In the order that `pieces` gives them. */
  take(pieces: readonly Piece[], rows: MemberRows): Promise<void>;
  /** The crawl is whole from here on. */
  endMove(rows: MemberRows): Promise<void>;
  close(): Promise<void>;
}

/** Bytes of the archive that belong to no page: their settlement was refused, and others lie behind them already. */
export interface DeadRecords {
  readonly file: string;
  readonly offset: number;
  readonly bytes: number;
}

export interface MemberRows {
  readonly member: string;
  readonly rowsPath: string;
}

export interface SharedSurvey {
  readonly links: number;
  readonly census: Census;
  /** What is wrong, a sentence each, up to WRONG_NAMED_MAX of them. */
  readonly wrong: readonly string[];
  readonly wrongTotal: number;
  /** Settled pages of this member with a place, in the order of its archive. */
  readonly placed: AsyncIterable<PlacedPage> | Iterable<PlacedPage>;
  /** Where the settled part of this member's archive ends. */
  readonly end: ArchiveEnd;
  /**
   * Records before that end that belong to no page, as the next start will list them: the process was killed in the
   * middle of a batch.
   */
  readonly dead?: readonly DeadRecords[];
}

export const WRONG_NAMED_MAX = 50;

/**
 * A crawl on its way from one store to another. A site comes before its line and its pages; no link is leased. The set
 * of known URLs is not among the pieces: it is the URLs of all lines and pages.
 */
export type Piece =
  | {
      readonly kind: 'site';
      readonly site: string;
      readonly state: 'open' | 'parked' | 'held';
      readonly pages: number;
      readonly pace: Pace;
    }
  /** Links of one site in the order of its line; the pieces of one line follow each other in that order. */
  | {
      readonly kind: 'line';
      readonly site: string;
      readonly links: readonly { readonly link: Link; readonly tries: number }[];
    }
  | { readonly kind: 'robots'; readonly site: string; readonly records: readonly RobotsRecord[] }
  /** In the order they were settled. */
  | { readonly kind: 'pages'; readonly pages: readonly PlacedPage[] }
  /** Counters that rows do not tell. Comes last. */
  | {
      readonly kind: 'tally';
      readonly forgotten: number;
      readonly archivedBytes: number;
      readonly archive: ArchiveEnd;
      readonly marks: Readonly<Record<string, number>>;
      readonly notes: Readonly<Record<string, string>>;
    };

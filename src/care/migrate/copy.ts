/** Carries the pieces of a crawl over, counts them, and sees that all came. */

import { setImmediate } from 'node:timers/promises';
import { StoreFault } from '../../contract/fault.ts';
import { settledTotal } from '../../model/census.ts';
import { writeCount } from '../../lib/units.ts';
import type { Piece } from '../../contract/walk.ts';
import type { Source } from './source.ts';

export interface MoveProgress {
  readonly phase: 'copying' | 'finishing';
  readonly links: number;
  readonly linksTotal: number;
  readonly pages: number;
  readonly pagesTotal: number;
}

export interface CopyOptions {
  readonly source: Source;
  readonly take: (pieces: readonly Piece[]) => Promise<void>;
  /** The time of the target less that of the source. */
  readonly shiftMs: number;
  /** What those who join must know. */
  readonly notes: Readonly<Record<string, string>>;
  readonly onProgress: (progress: MoveProgress) => void;
  readonly stop?: AbortSignal;
}

/** What is handed over at a time, in links: some megabytes, and one transaction of a server. */
const WEIGHT_AT_ONCE = 10_000;
/**
 * A page, or the rules of an origin, weighs as much as so many links; with the largest extracted values, 60 MiB are
 * handed over.
 */
const ROW_WEIGHT = 10;
/** Rules can be long: so many characters of them weigh as much as a link. */
const LINK_CHARS = 500;

/** False when it was stopped. Throws a StoreFault when not all of the crawl came. */
export const copyPieces = async ({ source, take, shiftMs, notes, onProgress, stop }: CopyOptions): Promise<boolean> => {
  const { census } = source;
  const linksTotal = census.waiting + census.parked + census.held;
  const pagesTotal = settledTotal(census);
  const came = { sites: 0, links: 0, pages: 0 };
  const tell = (): void =>
    onProgress({ phase: 'copying', links: came.links, linksTotal, pages: came.pages, pagesTotal });
  let batch: Piece[] = [];
  let weight = 0;
  const handOver = async (): Promise<void> => {
    await take(batch);
    batch = [];
    weight = 0;
    tell();
    await setImmediate(); // a store on this machine answers at once: signals and the terminal get their turn
  };
  tell();
  for await (const piece of source.pieces()) {
    if (stop?.aborted) return false;
    if (piece.kind === 'tally') checkAll(came, { sites: census.sites.known, links: linksTotal, pages: pagesTotal });
    weight += count(piece, came);
    batch.push(adapted(piece, shiftMs, notes));
    if (weight >= WEIGHT_AT_ONCE) await handOver();
  }
  await handOver();
  return !stop?.aborted;
};

type Came = Record<'sites' | 'links' | 'pages', number>;

/** Gives what a piece weighs. */
const count = (piece: Piece, came: Came): number => {
  switch (piece.kind) {
    case 'site':
      came.sites++;
      return 1;
    case 'queue':
      came.links += piece.links.length;
      return piece.links.length;
    case 'pages':
      came.pages += piece.pages.length;
      return piece.pages.length * ROW_WEIGHT;
    case 'robots':
      return piece.records.reduce((sum, { rules }) => sum + ROW_WEIGHT + rules.length / LINK_CHARS, 0);
    case 'tally':
      return 1;
    default:
      return piece satisfies never;
  }
};

const checkAll = (came: Came, known: Came): void => {
  const wrong = (['sites', 'links', 'pages'] as const).find((what) => came[what] !== known[what]);
  if (wrong === undefined) return;
  throw new StoreFault(
    `the crawl counts ${writeCount(known[wrong])} ${wrong}, but ${writeCount(came[wrong])} came out of its store; it is where it was`,
    'check it by "gossamer verify"',
  );
};

/**
 * What is a moment of the source's clock becomes one of the target's, so that no site is early; notes are those of the
 * new place.
 */
const adapted = (piece: Piece, shiftMs: number, notes: CopyOptions['notes']): Piece => {
  switch (piece.kind) {
    case 'site':
      return shiftMs === 0 ? piece : { ...piece, pace: { ...piece.pace, dueAt: piece.pace.dueAt + shiftMs } };
    case 'robots':
      return shiftMs === 0
        ? piece
        : {
            ...piece,
            records: piece.records.map((one) => ({
              ...one,
              fetchedAt: one.fetchedAt + shiftMs,
              expiresAt: one.expiresAt + shiftMs,
            })),
          };
    case 'tally':
      return { ...piece, notes: { ...piece.notes, ...notes } };
    case 'queue':
    case 'pages':
      return piece;
    default:
      return piece satisfies never;
  }
};

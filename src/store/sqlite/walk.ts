/** Everything that lies in the database, each thing once and in little memory. */

import { basename } from 'node:path';
import type { Found, StoredPage, WalkPart } from '../../contract/walk.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import type { Waiting } from '../../model/waiting.ts';
import { storeFault } from './fault.ts';
import { readEntries } from './journal.ts';
import { allNotes } from './notes.ts';
import type { QueueEnds } from './queue.ts';
import { createMet, walkQueue, type Met } from './queue-walk.ts';
import { PAGES_SELECT, readPage, type StoredRow } from './read-pages.ts';
import { rulesMissing } from '../rules-missing.ts';
import { eachRobots, wholeRobots } from './robots.ts';
import type { Connection } from './schema.ts';
import { isLogWhole, seenLog } from './seen-log.ts';
import { checkSelf, fatal, isCorrupt } from './self.ts';
import { readSite, SITES_SQL, type SiteRow } from './site-row.ts';
import { eachRow } from './statements.ts';
import { readTally } from './tally.ts';

/** Links of one piece: about 100 KB, so that a queue of any length is never in memory as a whole. */
const LINKS_AT_ONCE = 500;
/** With the largest extracted values, 6 MiB. */
const PAGES_AT_ONCE = 100;
/** With the largest rules, 10 MiB. */
const ROBOTS_AT_ONCE = 20;

/** Damage is told where `self` is asked for, and thrown as a StoreFault where it is not. */
export async function* walk(
  open: () => Connection,
  path: string,
  parts: readonly WalkPart[],
): AsyncGenerator<Found, void, undefined> {
  let connection: Connection | undefined;
  try {
    connection = open();
    yield* foundIn(connection, basename(path), parts);
  } catch (error) {
    if (!parts.includes('self') || !isCorrupt(error)) throw storeFault(error);
    yield fatal(`${basename(path)} cannot be read: ${(error as Error).message}`);
  } finally {
    connection?.db.close();
  }
}

/** What is met in a database that is open, called `file`. Ends where nothing can be trusted any more. */
export function* foundIn(connection: Connection, file: string, parts: readonly WalkPart[]): Generator<Found> {
  let isFatal = false;
  for (const part of parts) {
    for (const found of PARTS[part](connection, file)) {
      yield found;
      isFatal ||= found.kind === 'wrong' && found.isFatal === true;
    }
    if (isFatal) return;
  }
}

const PARTS: Readonly<Record<WalkPart, (connection: Connection, file: string) => Iterable<Found>>> = {
  self: checkSelf,
  seen: seenPieces,
  pages: ({ db }) =>
    inPieces(eachRow<StoredRow>(db, `${PAGES_SELECT} ORDER BY page.id`), PAGES_AT_ONCE, (rows) => ({
      kind: 'pages',
      pages: rows.map((row): StoredPage => ({ ...readPage(row), row: row[0], mine: true })),
    })),
  sites: sitePieces,
  robots: robotsPieces,
  tally: tallyPiece,
};

function* inPieces<T>(items: Iterable<T>, atOnce: number, pieceOf: (some: readonly T[]) => Found): Generator<Found> {
  let some: T[] = [];
  for (const item of items) {
    if (some.push(item) < atOnce) continue;
    yield pieceOf(some);
    some = [];
  }
  if (some.length > 0) yield pieceOf(some);
}

function* robotsPieces(connection: Connection): Generator<Found> {
  let records: RobotsRecord[] = [];
  for (const record of eachRobots(connection)) {
    const whole = wholeRobots(connection, record);
    if (whole === null) yield rulesMissing(record.origin);
    else if (records.push(whole) >= ROBOTS_AT_ONCE) {
      yield { kind: 'robots', records };
      records = [];
    }
  }
  if (records.length > 0) yield { kind: 'robots', records };
}

function* seenPieces({ db, sql }: Connection, file: string): Generator<Found> {
  if (!isLogWhole(sql)) return yield fatal(`${file}: the log of known URLs cannot be read`);
  for (const { prints } of seenLog(db)) yield { kind: 'seen', prints };
}

function* sitePieces(connection: Connection): Generator<Found> {
  const met = createMet();
  for (const row of eachRow<SiteRow>(connection.db, `${SITES_SQL} ORDER BY id`)) {
    const { found, queue, head_at } = readSite(row);
    yield found;
    yield* queuePieces(connection, { site: found.site, queue, head_at }, met);
  }
}

function* queuePieces(connection: Connection, ends: QueueEnds & { readonly site: string }, met: Met): Generator<Found> {
  const { site } = ends;
  let links: Waiting[] = [];
  let broken: string | null = null;
  for (const block of walkQueue(connection, ends, met)) {
    if (typeof block === 'string') broken = block;
    else links.push(...block.links);
    if (links.length < LINKS_AT_ONCE) continue;
    yield { kind: 'queue', site, links };
    links = [];
  }
  if (links.length > 0) yield { kind: 'queue', site, links };
  if (broken !== null) yield { kind: 'broken', site, says: broken };
}

function* tallyPiece(connection: Connection): Generator<Found> {
  const { forgotten, archivedBytes, archive, marks } = readTally(connection.sql);
  yield {
    kind: 'tally',
    forgotten,
    archivedBytes,
    archive,
    marks,
    notes: allNotes(connection),
    journal: readEntries(connection.sql, 0, Number.MAX_SAFE_INTEGER),
    elsewhere: [],
    dead: [],
  };
}

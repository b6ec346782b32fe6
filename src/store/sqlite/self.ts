/** What only the database can see to be wrong with itself: damage of the file, its log and its keys, stray blocks. */

import type { DatabaseSync } from 'node:sqlite';
import { StoreFault } from '../../contract/fault.ts';
import type { Found } from '../../contract/walk.ts';
import { urlKey } from '../page-row.ts';
import { blockNumbers, createMet, type Met } from './queue-walk.ts';
import type { Connection } from './schema.ts';
import { isLogWhole } from './seen-log.ts';
import { eachRow } from './statements.ts';
import { readTally } from './tally.ts';

type Wrong = Extract<Found, { kind: 'wrong' }>;

/** Damaged places of the database that are named; one is enough to know that a copy is needed. */
const INTEGRITY_LINES_MAX = 50;
/** What SQLite says of a file whose content is wrong: SQLITE_CORRUPT and SQLITE_NOTADB. */
const CORRUPT_CODES: readonly number[] = [11, 26];

export const isCorrupt = (error: unknown): boolean =>
  CORRUPT_CODES.includes(((error as { errcode?: number }).errcode ?? 0) & 0xff);

export const fatal = (says: string): Wrong => ({ kind: 'wrong', says, isFatal: true });

/** Says nothing of rows where the first of it is fatal. */
export function* checkSelf(connection: Connection, file: string): Generator<Wrong> {
  const fatalities = integrityOf(connection.db);
  if (fatalities.length === 0) {
    if (!hasCounters(connection)) fatalities.push('its counters are missing or cannot be read');
    if (!isLogWhole(connection.sql)) fatalities.push('the log of known URLs cannot be read');
  }
  for (const says of fatalities) yield fatal(`${file}: ${says}`);
  if (fatalities.length > 0) return;
  yield* wrongPages(connection);
  yield* strays(connection);
}

/** What is wrong inside the database file; empty when it is sound. */
const integrityOf = (db: DatabaseSync): string[] => {
  const lines: string[] = [];
  try {
    // One row at a time: damage that ends the check must not cost what it has said before.
    for (const [text] of eachRow<[string]>(db, `PRAGMA integrity_check(${INTEGRITY_LINES_MAX})`))
      lines.push(...text.split('\n').filter((line) => line !== 'ok' && !line.startsWith('***')));
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    if (lines.length === 0) lines.push((error as Error).message);
  }
  if (lines.length === 0) return [];
  const trees = treesOf(db);
  return lines
    .slice(0, INTEGRITY_LINES_MAX)
    .map((line) => line.replace(/\bTree (\d+)\b/, (whole, root: string) => trees.get(Number(root)) ?? whole));
};

/** SQLite names a damaged tree by its first page; a person knows the tables. */
const treesOf = (db: DatabaseSync): Map<number, string> => {
  try {
    const rows = eachRow<[string, string, number]>(
      db,
      'SELECT type, name, rootpage FROM sqlite_schema WHERE rootpage > 0',
    );
    return new Map([...rows].map(([type, name, root]) => [root, `${type} ${name}:`]));
  } catch {
    return new Map(); // the page that lists the tables is damaged too
  }
};

/** A crawl that has begun has counters. */
const hasCounters = ({ sql }: Connection): boolean => {
  try {
    readTally(sql);
  } catch (error) {
    if (error instanceof StoreFault) return false;
    throw error;
  }
  return (
    sql("SELECT 1 FROM meta WHERE name = 'tally'").get() !== undefined ||
    sql('SELECT 1 FROM site UNION ALL SELECT 1 FROM page LIMIT 1').get() === undefined
  );
};

function* wrongPages({ db }: Connection): Generator<Wrong> {
  const orphans = 'SELECT url, site FROM page WHERE site NOT IN (SELECT id FROM site) ORDER BY id';
  for (const [url, site] of eachRow<[string, number]>(db, orphans))
    yield { kind: 'wrong', says: `the page ${url} belongs to site ${site}, which is not there` };
  for (const { url } of wrongKeys(db))
    yield { kind: 'wrong', says: `the row of the page ${url} has the key of another URL`, repair: 'page-keys' };
}

/** Rows of pages that have the key of another URL. */
export function* wrongKeys(db: DatabaseSync): Generator<{ readonly row: number; readonly url: string }> {
  for (const [row, key, url] of eachRow<[number, number, string]>(db, 'SELECT id, url_key, url FROM page ORDER BY id'))
    if (key !== urlKey(url)) yield { row, url };
}

/** Blocks and packs that are in no queue. */
function* strays(connection: Connection): Generator<Wrong> {
  const met = metIn(connection);
  for (const id of strayIn(connection, 'block', met))
    yield { kind: 'wrong', says: `block ${id} of waiting links is in no queue`, repair: 'stray-blocks' };
  for (const id of strayIn(connection, 'pack', met))
    yield { kind: 'wrong', says: `pack ${id} of block numbers is in no queue`, repair: 'stray-blocks' };
}

/** What the queues of all sites but these have, each as far as it is whole. */
export const metIn = (connection: Connection, except: ReadonlySet<string> = new Set()): Met => {
  const met = createMet();
  for (const [site, queue] of eachRow<[string, string]>(connection.db, 'SELECT name, queue FROM site ORDER BY id'))
    if (!except.has(site)) for (const _ of blockNumbers(connection, queue, met));
  return met;
};

export function* strayIn({ db }: Connection, table: 'block' | 'pack', { blocks, packs }: Met): Generator<number> {
  const met = table === 'block' ? blocks : packs;
  for (const [id] of eachRow<[number]>(db, `SELECT id FROM ${table} ORDER BY id`)) if (!met.has(id)) yield id;
}

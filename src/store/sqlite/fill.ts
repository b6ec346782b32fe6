/** Fills a new database with a crawl that comes in pieces from another store, or with another number of shards. */

import { closeSync, fsyncSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StoreFault } from '../../contract/fault.ts';
import type { Filling } from '../../contract/stored-crawl.ts';
import type { FoundSite, Piece } from '../../contract/walk.ts';
import { anchorNow, createClock } from '../../lib/clock.ts';
import type { Census } from '../../model/census.ts';
import type { PageRow } from '../../model/page.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { isSideQueue } from '../../url/side-queue.ts';
import { shardOf } from '../../url/shard.ts';
import { removeDatabase } from '../files.ts';
import { SITE_STATE } from '../site-state.ts';
import { censusOf } from './census.ts';
import { storeFault } from './fault.ts';
import { writeEntry } from './journal.ts';
import { writeNote } from './notes.ts';
import { putLast, type QueueEnds } from './queue.ts';
import { writeRobots } from './robots.ts';
import { createTables, PAGE_INDEX, SET_VERSION, type Connection } from './schema.ts';
import { logPrints } from './seen-log.ts';
import { writePage } from './settle.ts';
import { preparing, sqlFile } from './statements.ts';
import { emptyTally, writeTally, type Tally } from './tally.ts';

/** Links, pages and sites of one transaction, and fingerprints of one row of the log. */
const ROWS_PER_TRANSACTION = 20_000;
/** Names of sites are looked up for every page: the index of a million of them stays in memory. */
const CACHE_KIB = 64 * 1024;
const ADD_SITE_SQL = sqlFile('add-site');

/** The site whose links come now; its row is written when those of another come. */
interface OpenSite extends QueueEnds {
  readonly name: string;
  readonly id: number;
  readonly state: number;
  waiting: number;
}

interface Intake extends Connection {
  readonly shards: number;
  readonly tally: Tally;
  prints: bigint[];
  rows: number;
  site: OpenSite | null;
}

export interface SqliteFilling extends Filling {
  /** What has come so far. */
  census(): Census;
}

/** What lies at the path is removed. A database that is not whole has no version, so that nobody takes it for one. */
export const fill = (path: string, shards: number): SqliteFilling => {
  removeDatabase(path);
  const intake = begin(path, shards);
  const close = (): void => {
    if (intake.db.isOpen) intake.db.close();
  };
  const faulty = async (work: () => void): Promise<void> => {
    try {
      work();
    } catch (error) {
      close();
      throw storeFault(error);
    }
  };
  return {
    take: (pieces) => faulty(() => pieces.forEach((piece) => takeOne(intake, piece))),
    end: () =>
      faulty(() => {
        end(intake, path);
        close();
        sync(path);
      }),
    census: () => censusOf(intake, createClock(anchorNow(intake.tally.moment)).now()),
    close: async () => close(),
  };
};

const begin = (path: string, shards: number): Intake => {
  const db = new DatabaseSync(path);
  // A file that is not whole is thrown away whatever happens: no journal, no checkpoint, no sync before the end.
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -${CACHE_KIB}; BEGIN IMMEDIATE`);
  createTables(db, shards);
  const tally = { ...emptyTally(), changes: 1, moment: createClock().now() };
  return { db, sql: preparing(db), shards, tally, prints: [], rows: 0, site: null };
};

const takeOne = (intake: Intake, piece: Piece): void => {
  switch (piece.kind) {
    case 'site':
      addSite(intake, piece);
      break;
    case 'queue':
      takeQueue(intake, piece);
      break;
    case 'robots':
      for (const record of piece.records) writeRobots(intake, record);
      intake.rows += piece.records.length;
      break;
    case 'pages':
      for (const page of piece.pages) takePage(intake, page);
      break;
    case 'tally': {
      const { forgotten, archivedBytes, archive, marks, notes, journal } = piece;
      Object.assign(intake.tally, { forgotten, archivedBytes, archive, marks: { ...marks } });
      for (const [name, text] of Object.entries(notes)) writeNote(intake.sql, name, text);
      for (const entry of journal) writeEntry(intake.sql, entry, entry.at);
      break;
    }
    default:
      piece satisfies never;
  }
  if (intake.rows >= ROWS_PER_TRANSACTION) commit(intake);
};

const addSite = (intake: Intake, { site, state, pages, pace }: FoundSite): void => {
  const { sql, tally, shards } = intake;
  const setAside = state === 'parked' || state === 'held' ? state : 'idle'; // until links come
  const { dueAt, delayMs, crawlDelayMs, responseMs, failures } = pace;
  const shard = shardOf(site, shards);
  sql(ADD_SITE_SQL).run(site, shard, SITE_STATE[setAside], pages, dueAt, delayMs, crawlDelayMs, responseMs, failures);
  if (!isSideQueue(site)) tally.sites++;
  if (setAside === 'parked') tally.sitesParked++;
  if (setAside === 'held' && !isSideQueue(site)) tally.sitesHeld++;
  intake.rows++;
};

const takeQueue = (intake: Intake, { site: name, links }: Extract<Piece, { kind: 'queue' }>): void => {
  const { tally } = intake;
  if (intake.site?.name !== name) {
    writeQueue(intake);
    intake.site = siteNamed(intake, name);
  }
  const { site } = intake;
  putLast(intake, site!, links);
  site!.waiting += links.length;
  if (site!.state === SITE_STATE.parked) tally.parked += links.length;
  else if (site!.state === SITE_STATE.held) tally.held += links.length;
  else tally.waiting += links.length;
  for (const { link } of links) intake.prints.push(fingerprint(link.url));
  intake.rows += links.length;
};

type SiteRow = readonly [id: number, state: number, waiting: number, queue: string, headAt: number];

const siteNamed = ({ sql }: Intake, name: string): OpenSite => {
  const row = sql('SELECT id, state, waiting, queue, head_at FROM site WHERE name = ?', 'arrays').get(name);
  if (!row) throw new StoreFault(`links or pages of "${name}" came, but not the site`, 'check it by "gossamer verify"');
  const [id, state, waiting, queue, head_at] = row as unknown as SiteRow;
  return { name, id, state, waiting, queue, head_at };
};

const writeQueue = (intake: Intake): void => {
  if (!intake.site) return;
  const { id, state, waiting, queue, head_at } = intake.site;
  intake.site = null;
  const written = state === SITE_STATE.idle ? SITE_STATE.waiting : state;
  const text = 'UPDATE site SET state = ?, waiting = ?, queue = ?, head_at = ? WHERE id = ?';
  intake.sql(text).run(written, waiting, queue, head_at, id);
};

const takePage = (intake: Intake, page: PageRow): void => {
  writePage(intake, siteNamed(intake, page.site).id, page);
  intake.prints.push(fingerprint(page.url));
  intake.rows++;
};

const commit = (intake: Intake): void => {
  if (intake.prints.length > 0) logPrints(intake.sql, intake.prints);
  intake.db.exec('COMMIT; BEGIN IMMEDIATE');
  intake.prints = [];
  intake.rows = 0;
};

const end = (intake: Intake, path: string): void => {
  const { db, sql, tally } = intake;
  writeQueue(intake);
  commit(intake);
  writeTally(sql, tally);
  db.exec(`${PAGE_INDEX}; COMMIT`);
  sync(path); // nothing was on the way; the version must not be there before the rest
  db.exec(`${SET_VERSION}; PRAGMA journal_mode = WAL`);
};

const sync = (path: string): void => {
  const fd = openSync(path, 'r+');
  fsyncSync(fd);
  closeSync(fd);
};

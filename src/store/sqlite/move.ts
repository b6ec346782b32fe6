/**
 * Fills a new database with a crawl that comes in pieces from another store, or from one with another number of shards.
 */

import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { StoreFault } from '../../frontier/store.ts';
import type { PlacedPage } from '../../model/settlement.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { shardOf } from '../../url/shard.ts';
import type { Piece } from '../shared-crawl.ts';
import { preparing, type Book } from './book.ts';
import { storeFault } from './fault.ts';
import { appendToLine, type LineEnds } from './line.ts';
import { openDatabase, SITE_HELD, SITE_IDLE, SITE_PARKED, SITE_WAITING } from './schema.ts';
import { writePage, writeRobots } from './settle.ts';
import { emptyTally, type Tally } from './tally.ts';

export interface SqliteMoveOptions {
  readonly path: string;
  readonly shards: number;
  /** The time now: a clock of this crawl never starts before it. */
  readonly now: number;
}

/** As a shared store has it (store/shared.ts), in a file that is worth nothing until it is whole. */
export interface SqliteMove {
  beginMove(): void;
  take(pieces: readonly Piece[]): void;
  /** Afterwards the file is whole, on disk and closed. */
  endMove(): void;
  /** Gives up what is not whole. */
  close(): void;
}

/** Links, pages and sites of one transaction, and fingerprints of one row of the log. */
const ROWS_PER_TRANSACTION = 20_000;
/** Names of sites are looked up for every page: the index of a million of them stays in memory. */
const CACHE_KIB = 64 * 1024;

/** A site whose line may still grow; its row is written when another one comes. */
interface OpenSite extends LineEnds {
  /** Null before it has a row. */
  readonly id: number | null;
  readonly piece: Pick<Extract<Piece, { kind: 'site' }>, 'site' | 'state' | 'pages' | 'pace'>;
  waiting: number;
}

interface Filling {
  readonly db: DatabaseSync;
  readonly sql: Book['sql'];
  readonly tally: Tally;
  readonly shards: number;
  /** How the index of pages is made, at the end and in one go: row by row it would be read from all over the disk. */
  readonly pageIndex: string;
  prints: bigint[];
  rows: number;
  site: OpenSite | null;
}

/** Files that SQLite has beside a database. */
export const COMPANIONS = ['-wal', '-shm', '-journal'] as const;

export const createSqliteMove = ({ path, shards, now }: SqliteMoveOptions): SqliteMove => {
  let filling: Filling | null = null;
  const close = (): void => {
    filling?.db.close();
    filling = null;
  };
  const faulty = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      close();
      throw storeFault(error);
    }
  };
  return {
    close,
    beginMove: () =>
      faulty(() => {
        for (const ending of ['', ...COMPANIONS]) rmSync(path + ending, { force: true });
        filling = begin(path, shards);
        filling.tally.moment = now;
      }),
    take: (pieces) =>
      faulty(() => {
        for (const piece of pieces) takeOne(opened(filling), piece);
      }),
    endMove: () =>
      faulty(() => {
        end(opened(filling));
        close();
        const fd = openSync(path, 'r+');
        fsyncSync(fd); // nothing was synced on the way
        closeSync(fd);
      }),
  };
};

const opened = (filling: Filling | null): Filling => {
  if (!filling) throw new StoreFault('the move was not begun', 'run it again');
  return filling;
};

const begin = (path: string, shards: number): Filling => {
  const db = openDatabase(path, shards);
  // A file that is not whole is thrown away whatever happens: no journal, no checkpoint, no sync before the end.
  db.exec(
    `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -${CACHE_KIB}; PRAGMA locking_mode = EXCLUSIVE`,
  );
  const { sql: pageIndex } = db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'page_of_site'").get() as {
    sql: string;
  };
  db.exec('DROP INDEX page_of_site; BEGIN IMMEDIATE');
  return {
    db,
    sql: preparing(db),
    tally: { ...emptyTally(), changes: 1 },
    shards,
    pageIndex,
    prints: [],
    rows: 0,
    site: null,
  };
};

const takeOne = (filling: Filling, piece: Piece): void => {
  switch (piece.kind) {
    case 'site':
      writeSite(filling);
      filling.site = { id: null, piece, line: '', head_at: 0, waiting: 0 };
      break;
    case 'line':
      takeLine(filling, piece);
      break;
    case 'robots':
      for (const record of piece.records) writeRobots(filling, record);
      filling.rows += piece.records.length;
      break;
    case 'pages':
      writeSite(filling);
      for (const page of piece.pages) takePage(filling, page);
      break;
    case 'tally': {
      const { forgotten, archivedBytes, archive, marks } = piece;
      Object.assign(filling.tally, { forgotten, archivedBytes, archive, marks: { ...marks } });
      break;
    }
    default:
      piece satisfies never;
  }
  if (filling.rows >= ROWS_PER_TRANSACTION) commit(filling);
};

const takeLine = (filling: Filling, { site: name, links }: Extract<Piece, { kind: 'line' }>): void => {
  if (filling.site?.piece.site !== name) {
    writeSite(filling);
    filling.site = openSite(filling, name);
  }
  const { site } = filling;
  appendToLine(filling, site!, links);
  site!.waiting += links.length;
  for (const { link } of links) filling.prints.push(fingerprint(link.url));
  filling.rows += links.length;
};

type SiteRow = readonly [
  id: number,
  state: number,
  waiting: number,
  pages: number,
  dueAt: number,
  delayMs: number,
  crawlDelayMs: number,
  responseMs: number,
  failures: number,
  line: string,
  headAt: number,
];

/** A site that has a row already, as where all sites come before all lines. */
const openSite = ({ sql, tally }: Filling, name: string): OpenSite => {
  const row = sql(
    `SELECT id, state, waiting, pages, due_at, delay_ms, crawl_delay_ms, response_ms, failures, line, head_at
    FROM site WHERE name = ?`,
    'arrays',
  ).get(name) as unknown as SiteRow | undefined;
  if (!row) throw unknownSite(name);
  const [id, written, waiting, pages, dueAt, delayMs, crawlDelayMs, responseMs, failures, line, head_at] = row;
  const state = written === SITE_PARKED ? 'parked' : written === SITE_HELD ? 'held' : 'open';
  tally[COUNTER_OF[state]] -= waiting; // counted again when it is written
  return {
    id,
    piece: { site: name, state, pages, pace: { dueAt, delayMs, crawlDelayMs, responseMs, failures } },
    line,
    head_at,
    waiting,
  };
};

const unknownSite = (name: string): StoreFault =>
  new StoreFault(`links or pages of "${name}" came, but not the site`, 'check the crawl by "gossamer verify"');

const COUNTER_OF = { open: 'waiting', parked: 'parked', held: 'held' } as const;

/** Writes the row of the site at hand, if there is one. */
const writeSite = (filling: Filling): void => {
  const { site, sql, tally } = filling;
  if (!site) return;
  filling.site = null;
  const {
    piece: { site: name, state, pages, pace },
    waiting,
    line,
    head_at,
  } = site;
  tally[COUNTER_OF[state]] += waiting;
  const written =
    state === 'parked' ? SITE_PARKED : state === 'held' ? SITE_HELD : waiting > 0 ? SITE_WAITING : SITE_IDLE;
  if (site.id !== null) {
    sql('UPDATE site SET state = ?, waiting = ?, line = ?, head_at = ? WHERE id = ?').run(
      written,
      waiting,
      line,
      head_at,
      site.id,
    );
    return;
  }
  sql(`INSERT INTO site (name, shard, state, waiting, pages, due_at, delay_ms, crawl_delay_ms, response_ms, failures, line, head_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`).run(
    name,
    shardOf(name, filling.shards),
    written,
    waiting,
    pages,
    pace.dueAt,
    pace.delayMs,
    pace.crawlDelayMs,
    pace.responseMs,
    pace.failures,
    line,
    head_at,
  );
  tally.sites++;
  if (state === 'parked') tally.sitesParked++;
  if (state === 'held') tally.sitesHeld++;
  filling.rows++;
};

const takePage = (filling: Filling, { place, ...page }: PlacedPage): void => {
  const row = filling.sql('SELECT id FROM site WHERE name = ?', 'arrays').get(page.site) as unknown as
    | readonly [number]
    | undefined;
  if (!row) throw unknownSite(page.site);
  writePage(filling, row[0], { page, place });
  filling.prints.push(fingerprint(page.url));
  filling.rows++;
};

const commit = (filling: Filling): void => {
  const { db, prints, sql } = filling;
  if (prints.length > 0)
    sql('INSERT INTO seen (fingerprints) VALUES (?)').run(new Uint8Array(BigUint64Array.from(prints).buffer));
  db.exec('COMMIT; BEGIN IMMEDIATE');
  filling.prints = [];
  filling.rows = 0;
};

const end = (filling: Filling): void => {
  const { db, sql, tally, pageIndex } = filling;
  writeSite(filling);
  commit(filling);
  sql("INSERT OR REPLACE INTO meta (name, value) VALUES ('tally', ?)").run(JSON.stringify(tally));
  db.exec(`${pageIndex}; COMMIT; PRAGMA journal_mode = WAL`);
};

/** The embedded store: one SQLite database, written by the one thread that opens it. */

import type { DatabaseSync } from 'node:sqlite';
import { StoreFault, type Archive, type Store } from '../../frontier/store.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ArchiveEnd, Census } from '../../model/census.ts';
import { rowsOf, storeOver, type StoreCall } from '../call.ts';
import { admit } from './admit.ts';
import { inTransaction, openBook, readTally, type Book } from './book.ts';
import { censusOf } from './census.ts';
import { claim } from './claim.ts';
import { storeFault } from './fault.ts';
import { openDatabase, SCHEMA_VERSION, shardsIn, versionOf } from './schema.ts';
import { settle } from './settle.ts';
import { loadSeen, SNAPSHOT_FROM, writeSnapshot } from './snapshot.ts';
import { steer } from './steer.ts';
import { layoutFault } from '../layouts.ts';

export interface SqliteStoreOptions {
  readonly path: string;
  /** Time, never before the last moment that the store recorded. */
  readonly clock: (notBeforeMs: number) => Clock;
  /** The archive, cut to where its settled part ends. */
  readonly archive: (settled: ArchiveEnd) => Archive;
  /** How many shards a new crawl gets; one that is there must have as many. */
  readonly shards?: number;
  /** See `SNAPSHOT_FROM`. */
  readonly snapshotFrom?: number;
  /** See `CHECKPOINT_ROWS`. */
  readonly checkpointRows?: number;
}

/** In milliseconds. */
export type OnTime = (what: StoreCall['verb'] | 'commit', tookMs: number) => void;

export interface SqliteStore extends Store {
  readonly clock: Clock;
  /** Runs the calls in order in one transaction; `onTime` is told how long each took, and their commit. */
  run(calls: readonly StoreCall[], onTime?: OnTime): unknown[];
  /** Moves the log into the database, as happens by itself from time to time. */
  checkpoint(): void;
  /** The store's memory per known URL, for those who watch it. */
  seenBytes(): number;
}

/** About 20 MiB of log between two checkpoints: long enough to be rare, short enough to be quick. */
const CHECKPOINT_ROWS = 5_000;

/** Opening frees every lease: nothing outlives the process in an embedded store. */
export const openSqliteStore = (options: SqliteStoreOptions): SqliteStore => {
  const { book, replayed } = open(options);
  let closed = false;
  const checkpointRows = options.checkpointRows ?? CHECKPOINT_ROWS;
  let rowsInWal = 0;
  /**
   * Records before the rows that point to them, on disk too: what a checkpoint writes is never ahead of the archive.
   */
  const checkpoint = (): void => {
    book.archive.sync();
    book.sql('PRAGMA wal_checkpoint(PASSIVE)').get();
    rowsInWal = 0;
  };
  const run = (calls: readonly StoreCall[], onTime?: OnTime): unknown[] => {
    if (closed) throw new StoreFault('the store is closed', 'open the crawl again');
    const work = (): unknown[] =>
      calls.map((call) => {
        const begun = performance.now();
        const result = perform(book, call);
        onTime?.(call.verb, performance.now() - begun);
        return result;
      });
    if (calls.every((call) => call.verb === 'census')) return work();
    try {
      const begun = performance.now();
      if (rowsInWal >= checkpointRows) checkpoint(); // before the work: if it fails, nothing was done
      let workMs = 0;
      const results = inTransaction(book, () => {
        const workBegun = performance.now();
        const answers = work();
        workMs = performance.now() - workBegun;
        return answers;
      });
      onTime?.('commit', performance.now() - begun - workMs);
      rowsInWal += calls.reduce((sum, call) => sum + rowsOf(call), 1);
      return results;
    } catch (error) {
      throw storeFault(error);
    }
  };
  const one = async <T>(call: StoreCall): Promise<T> => run([call])[0] as T;
  run([{ verb: 'steer', orders: [{ kind: 'free', holder: null, counted: true }] }]);
  return {
    clock: book.clock,
    run,
    checkpoint,
    seenBytes: () => book.seen.bytes,
    ...storeOver(one, async () => {
      if (closed) return;
      closed = true;
      try {
        book.archive.close();
        writeSnapshot(book.db, options.path, {
          seen: book.seen,
          replayed,
          from: options.snapshotFrom ?? SNAPSHOT_FROM,
        });
      } finally {
        book.db.close();
      }
    }),
  };
};

const perform = (book: Book, call: StoreCall): unknown => {
  switch (call.verb) {
    case 'admit':
      return admit(book, call.links, call.siteWaitingMax);
    case 'claim':
      return claim(book, call.ask);
    case 'settle':
      return settle(book, call.settlements);
    case 'steer':
      return steer(book, call.orders);
    case 'census':
      return censusOf(book.sql, { tally: book.tally, shards: book.shards, now: book.clock.now() }) satisfies Census;
    default:
      return call satisfies never;
  }
};

const open = (options: SqliteStoreOptions): { book: Book; replayed: number } => {
  let db: DatabaseSync | undefined;
  try {
    db = openDatabase(options.path, options.shards);
    const version = versionOf(db);
    if (version !== SCHEMA_VERSION) {
      const what = `the store "${options.path}"`;
      throw layoutFault({ kind: 'crawl.db', what, found: version, known: SCHEMA_VERSION });
    }
    const shards = shardsIn(db);
    if (options.shards !== undefined && shards !== options.shards) {
      throw new StoreFault(
        `the store "${options.path}" has ${shards} shards, but crawl.json says ${options.shards}`,
        'restore crawl.json from a copy; "gossamer migrate" changes the number',
      );
    }
    const { moment, archive } = readTally(db);
    const { seen, replayed } = loadSeen(db, options.path);
    return {
      book: openBook({ db, shards, clock: options.clock(moment), archive: options.archive(archive), seen }),
      replayed,
    };
  } catch (error) {
    db?.close();
    throw storeFault(error);
  }
};

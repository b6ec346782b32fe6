/** The embedded store: one SQLite database, written by the one thread that opens it. */

import { plural } from '../../lib/units.ts';
import type { Archive } from '../../archive/archive.ts';
import { StoreFault } from '../../contract/fault.ts';
import type { Beat } from '../../contract/journal.ts';
import { anchorNow, createClock, type Anchor, type Clock } from '../../lib/clock.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import { isRead, rowsOf, storeOver, type StoreCall } from '../call.ts';
import { CRAWL_DB, pathOf } from '../files.ts';
import type { OnTime, OpenedStore, StoreOptions } from '../options.ts';
import { admit } from './admit.ts';
import { censusOf } from './census.ts';
import { claim } from './claim.ts';
import { storeFault } from './fault.ts';
import { lastEntry, readEntries } from './journal.ts';
import { readRules } from './robots.ts';
import { openDatabase, shardsIn } from './schema.ts';
import { inTransaction, type Session } from './session.ts';
import { settle } from './settle.ts';
import { loadSeen, SNAPSHOT_FROM, writeSnapshot } from './snapshot.ts';
import { steer } from './steer.ts';
import { readTally } from './tally.ts';

export interface SqliteOptions {
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

export interface SqliteStore extends OpenedStore {
  together(calls: readonly StoreCall[], onTime?: OnTime): unknown[];
  /** Moves the log into the database, as happens by itself from time to time. */
  checkpoint(): void;
  /** The store's memory per known URL, for those who watch it. */
  seenBytes(): number;
}

/** About 20 MiB of log between two checkpoints: long enough to be rare, short enough to be quick. */
const CHECKPOINT_ROWS = 5_000;

export const openSqliteStore = async (options: StoreOptions): Promise<OpenedStore> => {
  const { shards, archive, clock } = options;
  const path = pathOf(options, CRAWL_DB);
  if (clock) return openSqlite({ path, shards, archive, clock });
  let anchor: Anchor | undefined;
  const anchored = (notBeforeMs: number): Clock => createClock((anchor = anchorNow(notBeforeMs)));
  const store = openSqlite({ path, shards, archive, clock: anchored });
  return { ...store, anchor: anchor! };
};

/** Opening frees every lease: nothing outlives the process in an embedded store. */
export const openSqlite = (options: SqliteOptions): SqliteStore => {
  const { session, replayed } = open(options);
  const { checkpointRows = CHECKPOINT_ROWS, snapshotFrom: from = SNAPSHOT_FROM } = options;
  let closed = false;
  let rowsInWal = 0;
  /**
   * Records before the rows that point to them, on disk too: what a checkpoint writes is never ahead of the archive.
   */
  const checkpoint = (): void => {
    session.archive.sync();
    session.sql('PRAGMA wal_checkpoint(PASSIVE)').get();
    rowsInWal = 0;
  };
  const together = (calls: readonly StoreCall[], onTime?: OnTime): unknown[] => {
    if (closed) throw new StoreFault('the store is closed', 'open the crawl again');
    const work = (): unknown[] =>
      calls.map((call) => {
        const begun = performance.now();
        const result = perform(session, call);
        onTime?.(call.verb, performance.now() - begun);
        return result;
      });
    if (calls.every(isRead)) return work();
    try {
      const begun = performance.now();
      if (rowsInWal >= checkpointRows) checkpoint(); // before the work: if it fails, nothing was done
      let workMs = 0;
      const results = inTransaction(session, () => {
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
  const one = async <T>(call: StoreCall): Promise<T> => together([call])[0] as T;
  together([{ verb: 'steer', changes: [{ kind: 'free', holder: null, counted: true }] }]);
  return {
    together,
    checkpoint,
    time: async () => session.clock.now(),
    seenBytes: () => session.seen.bytes,
    ...storeOver(one, async () => {
      if (closed) return;
      closed = true;
      try {
        session.archive.close();
        writeSnapshot(session.db, options.path, { seen: session.seen, replayed, from });
      } finally {
        session.db.close();
      }
    }),
  };
};

const perform = (session: Session, call: StoreCall): unknown => {
  switch (call.verb) {
    case 'admit':
      return admit(session, call.links, call.siteWaitingMax);
    case 'claim':
      return claim(session, call.ask);
    case 'settle':
      return settle(session, call.settlements);
    case 'steer':
      return steer(session, call.changes);
    case 'census':
      return censusOf(session, session.clock.now());
    case 'beat':
      return { entry: lastEntry(session.sql), term: 0 } satisfies Beat;
    case 'journal':
      return readEntries(session.sql, call.after);
    case 'rules':
      return readRules(session, call.digest);
    default:
      return call satisfies never;
  }
};

const open = ({ path, shards: wanted, clock, archive }: SqliteOptions): { session: Session; replayed: number } => {
  let db: Session['db'] | undefined;
  try {
    const connection = openDatabase(path, wanted);
    db = connection.db;
    const shards = shardsIn(db);
    if (wanted !== undefined && shards !== wanted) {
      throw new StoreFault(
        `the store "${path}" has ${plural(Number(shards), 'shard')}, but crawl.json says ${wanted}`,
        'restore crawl.json from a copy; "gossamer migrate" changes the number',
      );
    }
    const tally = readTally(connection.sql);
    const { seen, replayed } = loadSeen(db, path);
    const session: Session = {
      ...connection,
      shards,
      clock: clock(tally.moment),
      archive: archive(tally.archive),
      seen,
      provisional: new Set(),
      tally,
      notBefore: new Float64Array(shards).fill(-Infinity),
      turn: 0,
    };
    return { session, replayed };
  } catch (error) {
    db?.close();
    throw storeFault(error);
  }
};

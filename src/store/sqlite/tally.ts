/** The counters of a crawl: changed in memory during a transaction, written with it, restored if it fails. */

import { StoreFault } from '../../contract/fault.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import { ANSWERED_OUTCOMES, type OutcomeName } from '../../model/outcome.ts';
import type { Sql } from './statements.ts';

export interface Tally {
  waiting: number;
  leased: number;
  parked: number;
  held: number;
  settled: Partial<Record<OutcomeName, number>>;
  forgotten: number;
  pages: number;
  sites: number;
  sitesParked: number;
  sitesHeld: number;
  changes: number;
  /** The number of the last lease given; leases are never numbered twice. */
  lease: number;
  /** The last moment this store recorded: a clock never starts before it. */
  moment: number;
  archive: ArchiveEnd;
  archivedBytes: number;
  marks: Record<string, number>;
}

export const emptyTally = (): Tally => ({
  waiting: 0,
  leased: 0,
  parked: 0,
  held: 0,
  settled: {},
  forgotten: 0,
  pages: 0,
  sites: 0,
  sitesParked: 0,
  sitesHeld: 0,
  changes: 0,
  lease: 0,
  moment: 0,
  archive: { file: '', bytes: 0 },
  archivedBytes: 0,
  marks: {},
});

export const countSettled = (tally: Tally, outcome: OutcomeName): void => {
  tally.settled[outcome] = (tally.settled[outcome] ?? 0) + 1;
  if (outcome in ANSWERED_OUTCOMES) tally.pages++;
};

/** To be put back if the transaction fails. */
export const copyTally = (tally: Tally): Tally => ({
  ...tally,
  settled: { ...tally.settled },
  marks: { ...tally.marks },
});

/** The counters as they were last written; empty ones before that. Throws a StoreFault when they cannot be read. */
export const readTally = (sql: Sql): Tally => {
  const row = sql("SELECT value FROM meta WHERE name = 'tally'").get() as { value: string } | undefined;
  try {
    return row ? { ...emptyTally(), ...(JSON.parse(row.value) as Tally) } : emptyTally();
  } catch (error) {
    throw new StoreFault('the counters of the crawl cannot be read', 'check the crawl by "gossamer verify"', error);
  }
};

export const writeTally = (sql: Sql, tally: Tally): void =>
  void sql("INSERT OR REPLACE INTO meta (name, value) VALUES ('tally', ?)").run(JSON.stringify(tally));

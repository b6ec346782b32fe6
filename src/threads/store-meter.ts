/** Counts what the store did, where it was done: in the store thread, for the thread that asked for it. */

import type { Admitted, Settled } from '../contract/store.ts';
import type { Census } from '../model/census.ts';
import {
  cellOf,
  cellsBy,
  openDistribution,
  openMeter,
  type Distribution,
  type Meter,
} from '../observe/metrics/cells.ts';
import type { TimedVerb } from '../observe/metrics/table.ts';
import { isShared, kindOf, type StoreKind } from '../store/address.ts';
import type { StoreCall } from '../store/call.ts';

/**
 * The numbers of one client of the store. Their only writer is the store thread, also when the client has died and
 * another follows it.
 */
export interface ClientMeter {
  /** A verb was performed, and nothing takes it back any more. */
  note(call: StoreCall, result: unknown): void;
  /** Links that the store gave up when it freed the leases of this client. */
  gaveUp(links: number): void;
}

const PAGES = cellsBy('pages_total', 'outcome');
const ADMITTED = cellOf('links_admitted_total');
const SEEN = cellOf('links_seen_total');
const FORGOTTEN = cellOf('links_forgotten_total');

export const openClientMeter = (cells: SharedArrayBuffer): ClientMeter => {
  const meter = openMeter(cells);
  return {
    note: (call, result) => {
      if (call.verb === 'settle') notePages(meter, call.settlements, result as Settled);
      else if (call.verb === 'admit') noteLinks(meter, result as Admitted);
    },
    gaveUp: (links) => meter.add(PAGES['gave-up']!, links),
  };
};

/** What was refused is no page: it will be one when it is fetched again. */
const notePages = (
  meter: Meter,
  settlements: (StoreCall & { verb: 'settle' })['settlements'],
  { refusedAt }: Settled,
): void => {
  settlements.forEach(({ fate, page }, i) => {
    if (fate === 'settled' && page && !refusedAt?.includes(i)) meter.add(PAGES[page.outcome]!);
  });
};

const noteLinks = (meter: Meter, { admitted, seen, forgotten }: Admitted): void => {
  meter.add(ADMITTED, admitted);
  meter.add(SEEN, seen);
  meter.add(FORGOTTEN, forgotten);
};

/** Whether it may settle links that no visit settles. */
export const mayGiveUp = (call: StoreCall): boolean =>
  call.verb === 'steer' && call.changes.some(({ kind }) => kind === 'free');

export const givenUpIn = ({ settled }: Census): number => settled['gave-up'] ?? 0;

/** The thread whose leases are freed by it, if it frees any; the main thread asks for that. */
export const freedHolder = (call: StoreCall): string | null =>
  (call.verb === 'steer' ? call.changes.find((change) => change.kind === 'free')?.holder : null) ?? null;

export type StoreTimes = (verb: TimedVerb, tookMs: number) => void;

/** The verbs of the store are timed in the numbers of the store thread. */
export const openStoreTimes = (cells: SharedArrayBuffer, store: StoreKind): StoreTimes => {
  const times = new Map<TimedVerb, Distribution>();
  return (verb, tookMs) => {
    let time = times.get(verb);
    if (!time) times.set(verb, (time = openDistribution(cells, 'store_verb_seconds', { store, verb })));
    time.observe(tookMs / 1_000);
  };
};

/** How often connections are counted. */
const CONNECTIONS_MS = 500;

/**
 * For a store that is open. In the store thread every socket is one to the store: no other thread's are among its
 * resources.
 */
export const watchConnections = (cells: SharedArrayBuffer, url: string): void => {
  const meter = openMeter(cells);
  const cell = cellOf('store_connections', { store: kindOf(url) });
  if (!isShared(url)) return meter.set(cell, 1);
  const look = (): void =>
    meter.set(
      cell,
      process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap' || kind === 'PipeWrap').length,
    );
  look();
  setInterval(look, CONNECTIONS_MS).unref();
};

/** How a run ended, and why. */

import type { ArchiveEnd, Census } from '../model/census.ts';
import type { Snapshot } from '../observe/snapshot.ts';
import type { Fault } from '../threads/fault.ts';
import type { ParkedSeeds } from './parked-seeds.ts';

export type EndReason =
  | 'finished'
  | 'max-pages'
  | 'max-duration'
  /** Somebody asked for it: in order, or at once. */
  | 'stopped'
  | 'halted'
  /** The disk is full, or less than --disk-reserve is free. */
  | 'disk'
  | 'fault';

export interface RunEnd {
  readonly reason: EndReason;
  readonly census: Census | null;
  readonly fault: Fault | null;
  readonly snapshot: Snapshot;
  readonly archive: ArchiveEnd | null;
  /** Seeds that a finished crawl could not reach; null when there are none. */
  readonly parkedSeeds: ParkedSeeds | null;
  /** What came of reading archived pages again, because the scope became wider; null when that was not due. */
  readonly reread: { readonly read: number; readonly found: number } | null;
}

/** After these, the work on settled pages is done to its end; after all others, the next run goes on with it. */
export const DRAINED: ReadonlySet<EndReason> = new Set(['finished', 'max-pages']);

/** A reason gives way to a heavier one. */
export const weightOf = (reason: EndReason): number =>
  reason === 'halted' ? 2 : reason === 'fault' || reason === 'disk' ? 1 : 0;

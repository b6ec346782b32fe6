/**
 * Links that this process sent to a shared store lately, to be sent again if the store forgot them.
 *
 * A store that goes back in time forgets admissions that it had answered; the pages that they were found on may be
 * settled in another part of it, which remembers. To admit a link twice does no harm.
 */

import type { Link } from '../../model/link.ts';

/** A replica that lags by more than this is no longer one to fail over to; see docs/how-to/share-a-crawl.md. */
const KEPT_MS = 60_000;
/** Links at the most, some hundred bytes each: the oldest are forgotten first. */
const KEPT_MAX = 250_000;

export interface AdmittedLately {
  note(links: readonly Link[], siteWaitingMax: number | null): void;
  /** All that are remembered, in the order in which they were sent, some at a time. */
  batches(): readonly { readonly links: readonly Link[]; readonly siteWaitingMax: number | null }[];
  /** Whether everything of so long ago is still here. */
  reaches(agoMs: number): boolean;
}

export const createAdmittedLately = (now: () => number, keptMax = KEPT_MAX): AdmittedLately => {
  const begunAt = now();
  let kept: { readonly at: number; readonly links: readonly Link[]; readonly siteWaitingMax: number | null }[] = [];
  let count = 0;
  /** What was dropped for want of room was sent before this moment. */
  let droppedAt = -Infinity;
  const drop = (isDropped: (at: number) => boolean): void => {
    let gone = 0;
    while (gone < kept.length && isDropped(kept[gone]!.at)) {
      count -= kept[gone]!.links.length;
      droppedAt = kept[gone]!.at;
      gone++;
    }
    if (gone > 0) kept = kept.slice(gone);
  };
  return {
    note: (links, siteWaitingMax) => {
      const at = now();
      kept.push({ at, links, siteWaitingMax });
      count += links.length;
      drop((sentAt) => count > keptMax || sentAt < at - KEPT_MS);
    },
    batches: () => kept,
    reaches: (agoMs) => now() - agoMs >= Math.max(begunAt, droppedAt),
  };
};

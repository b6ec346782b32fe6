/** The one loop of a fetch thread: claims a batch of visits for all its free slots. */

import type { Clock } from '../lib/clock.ts';
import { createGate } from '../lib/gate.ts';
import type { Visit } from '../model/visit.ts';
import type { Ask, Claimed } from '../contract/store.ts';

/** Between two claims, so that visits that end close together are replaced by one claim. */
const CLAIM_GAP_MS = 10;
/** Visits of one claim, some tens of milliseconds of a store's time: the first of them need not wait for the last. */
const VISITS_MAX = 500;
/** How long the loop sleeps at the most when nothing is due: another thread may have admitted links. */
const IDLE_MS = 250;
/** Slots open over this time, so that a crawl does not start with a storm of connections. */
const RAMP_MS = 5_000;
const RAMP_SLOTS_FIRST = 10;

/** What a claim gives. */
export type Given = Pick<Claimed, 'visits' | 'nextDueAt'>;

export interface ClaimLoopParts {
  readonly clock: Clock;
  readonly slots: number;
  readonly claim: (ask: Pick<Ask, 'visits'>) => Promise<Given>;
  /** One visit, to its settlement. */
  readonly visit: (visit: Visit) => Promise<unknown>;
  /** No new visits once this is aborted; those under way end. */
  readonly stop: AbortSignal;
  /** Told how long nothing was claimed because every slot had a visit. */
  readonly onFull?: (ms: number) => void;
}

export interface LoopGauges {
  visits: number;
  /** Visits the loop has room for at this moment. */
  slots: number;
}

/** Resolves when it was stopped and the last visit has ended; rejects with the first error of a visit or a claim. */
export const runClaimLoop = async (
  parts: ClaimLoopParts,
  gauges: LoopGauges = { visits: 0, slots: 0 },
): Promise<void> => {
  const { clock, stop } = parts;
  const startedAt = clock.now();
  const freed = createGate();
  const halt = new AbortController();
  const onStop = (): void => halt.abort();
  if (stop.aborted) halt.abort();
  stop.addEventListener('abort', onStop, { once: true });
  let hasEnded = false; // a visit, since the last claim
  let fault: { error: unknown } | null = null;

  const start = (visit: Visit): void => {
    gauges.visits++;
    parts
      .visit(visit)
      .catch((error: unknown) => {
        fault ??= { error };
        halt.abort();
      })
      .finally(() => {
        gauges.visits--;
        hasEnded = true;
        freed.open();
      });
  };

  try {
    while (!halt.signal.aborted) {
      gauges.slots = slotsOpen(parts.slots, clock.now() - startedAt);
      const free = gauges.slots - gauges.visits;
      const wanted = Math.min(free, VISITS_MAX);
      hasEnded = false;
      const { visits, nextDueAt } = free > 0 ? await parts.claim({ visits: wanted }) : NOTHING;
      for (const visit of visits) start(visit);
      if (visits.length < wanted || free <= 0) {
        // Nothing more can be claimed before a visit ends (and with it a slot is free, or its site due), or time
        // passes.
        const since = clock.now();
        await Promise.race([
          freed.passed(),
          clock.sleep(Math.min(IDLE_MS, (nextDueAt ?? Infinity) - since), halt.signal),
        ]);
        if (free <= 0) parts.onFull?.(clock.now() - since);
      }
      // When the last visit under way has ended there is no other to wait for: one site of one's own, with no delay, is
      // visited back to back.
      if (gauges.visits > 0 || !hasEnded) await clock.sleep(CLAIM_GAP_MS, halt.signal);
    }
  } finally {
    while (gauges.visits > 0) await freed.passed();
    stop.removeEventListener('abort', onStop);
  }
  if (fault) throw (fault as { error: unknown }).error;
};

const NOTHING: Given = { visits: [], nextDueAt: null };

const slotsOpen = (slots: number, sinceStartMs: number): number =>
  Math.min(slots, RAMP_SLOTS_FIRST + Math.floor((slots * sinceStartMs) / RAMP_MS));

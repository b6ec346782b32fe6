/** Time that jumps from event to event: a day passes in seconds, and the same way every time. */

import type { Clock } from '../../src/lib/clock.ts';
import { createGate } from '../../src/lib/gate.ts';

export interface VirtualClock extends Clock {
  /**
   * Runs events in the order of their moments until the work is done. Says so when nothing is left to wait for, or
   * there is no end.
   */
  drive(
    work: Promise<unknown>,
    eventsMax: number,
    hopeless: () => boolean,
  ): Promise<'done' | 'stands still' | 'has no end'>;
  /** Time stands still until this work, which is done outside of the simulation, has ended. */
  standFor<T>(work: Promise<T>): Promise<T>;
  /** Events so far: a moment that a fault can be tied to. */
  events(): number;
  /** Called before every event. */
  onEvent: (() => void) | null;
}

interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

const START_MS = Date.UTC(2026, 0, 1);

export const createVirtualClock = (startMs = START_MS): VirtualClock => {
  let now = startMs;
  let count = 0;
  let order = 0;
  const heap: Event[] = [];
  /** Real work under way. */
  let outside = 0;
  const back = createGate();
  const clock: VirtualClock = {
    now: () => now,
    events: () => count,
    onEvent: null,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const wake = (): void => {
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        push(heap, { at: now + Math.max(0, ms), order: order++, run: wake });
        signal?.addEventListener('abort', wake, { once: true });
      }),
    standFor: async (work) => {
      outside++;
      try {
        return await work;
      } finally {
        outside--;
        back.open();
      }
    },
    drive: async (work, eventsMax, hopeless) => {
      let over = false;
      const end = (): void => void (over = true);
      work.then(end, end);
      for (;;) {
        await settled();
        while (outside > 0) {
          await back.passed();
          await settled();
        }
        if (over) return 'done';
        const event = pop(heap);
        if (!event) return 'stands still';
        if (count >= eventsMax || (count % 1_000 === 0 && hopeless())) return 'has no end';
        now = Math.max(now, event.at);
        count++;
        clock.onEvent?.();
        event.run();
      }
    },
  };
  return clock;
};

/** All promises that can resolve have done so when the event loop turns. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const before = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

const push = (heap: Event[], event: Event): void => {
  let i = heap.push(event) - 1;
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if (!before(event, heap[parent]!)) break;
    heap[i] = heap[parent]!;
    i = parent;
  }
  heap[i] = event;
};

const pop = (heap: Event[]): Event | undefined => {
  const top = heap[0];
  const last = heap.pop();
  if (!top || !last || heap.length === 0) return top;
  let i = 0;
  for (;;) {
    let child = 2 * i + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
    if (!before(heap[child]!, last)) break;
    heap[i] = heap[child]!;
    i = child;
  }
  heap[i] = last;
  return top;
};

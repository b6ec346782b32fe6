/**
 * What the bodies in flight may hold together, and which of them may go on.
 *
 * Bodies are counted by the memory they take, from their first byte until they are forgotten.
 * Above PAUSE_SHARE of the budget all are paused but the oldest one under way, which goes on so
 * that there is progress; it is paused too while finished bodies that nobody has forgotten yet
 * fill WAITING_SHARE. So the bodies never hold more than the budget + the largest body + one read
 * per socket. (Buffers that were outgrown and not yet collected come on top.) A paused body does
 * not hang: its request ends when its total time is over.
 */

import { READ_BYTES_MAX } from './span.ts';

/** A body under way that can be made to wait. */
export interface Flow {
  paused: boolean;
  pause(): void;
  resume(): void;
}

export interface BodyMemory {
  readonly budgetBytes: number;
  /** All that is held: bodies under way and finished ones. */
  heldBytes: number;
  finishedBytes: number;
  /** Bodies under way, the oldest first. */
  readonly flows: Set<Flow>;
  pausedFlows: number;
}

// Together they are the whole budget: what is under way may fill the first, what then finishes the second.
const PAUSE_SHARE = 2 / 3;
const WAITING_SHARE = 1 / 3;

export const createBodyMemory = (budgetBytes: number): BodyMemory => ({
  budgetBytes,
  heldBytes: 0,
  finishedBytes: 0,
  flows: new Set(),
  pausedFlows: 0,
});

/** What is left before bodies are paused; never negative. */
export const roomBytes = (memory: BodyMemory): number =>
  Math.max(0, memory.budgetBytes * PAUSE_SHARE - memory.heldBytes);

/** A body has read: it is paused when there is no room for more. */
export const pauseIfFull = (memory: BodyMemory, flow: Flow): void => {
  if (memory.heldBytes <= memory.budgetBytes * PAUSE_SHARE || flow.paused) return;
  if (memory.flows.values().next().value === flow && oldestGoesOn(memory)) return;
  memory.pausedFlows++;
  flow.paused = true;
  flow.pause();
};

/** A body is no longer under way; what it holds is finished bytes from now on. */
export const finishFlow = (memory: BodyMemory, flow: Flow, bytes: number): void => {
  memory.finishedBytes += bytes;
  memory.flows.delete(flow);
  if (flow.paused) goOn(memory, flow); // its connection may be kept, and must then read again
  relieve(memory);
};

const goOn = (memory: BodyMemory, flow: Flow): void => {
  memory.pausedFlows--;
  flow.paused = false;
  flow.resume();
};

/** Bytes of finished bodies were forgotten. */
export const freeFinished = (memory: BodyMemory, bytes: number): void => {
  memory.finishedBytes -= bytes;
  memory.heldBytes -= bytes;
  relieve(memory);
};

const oldestGoesOn = (memory: BodyMemory): boolean => memory.finishedBytes <= memory.budgetBytes * WAITING_SHARE;

/** Let as many go on as there is room for one read each, the oldest first. */
const relieve = (memory: BodyMemory): void => {
  if (memory.pausedFlows === 0) return;
  let room = roomBytes(memory);
  let mayGoOn = room > 0 || oldestGoesOn(memory);
  for (const flow of memory.flows) {
    if (!mayGoOn) return;
    if (flow.paused) goOn(memory, flow);
    room -= READ_BYTES_MAX;
    mayGoOn = room > 0;
  }
};

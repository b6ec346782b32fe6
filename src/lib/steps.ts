/** Work that is done piece by piece: a generator that yields wherever something else may come between. */

import { setImmediate } from 'node:timers/promises';

/** Does all of it now. */
export const finished = <T>(steps: Generator<void, T>): T => {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
};

/** Gives the event loop a turn after each piece. */
export const finishedInTurns = async <T>(steps: Generator<void, T>): Promise<T> => {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await setImmediate();
  }
};

/** Tells a shared store that this process lives, every second, and notes for all threads that it was heard. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../contract/store.ts';
import { BEAT_MS } from '../model/pulse.ts';
import type { Pulse } from '../visit/pulse.ts';

/**
 * Resolves when the first beat was answered, and goes on until the signal is aborted. The store waits while its server
 * is gone; a beat that fails for good ends the beating, and `onFault` is told.
 */
export const startBeating = async (
  store: Pick<Store, 'beat'>,
  pulse: Pick<Pulse, 'sending'>,
  { stop, onFault }: { readonly stop: AbortSignal; readonly onFault: (error: unknown) => void },
): Promise<void> => {
  const beat = async (): Promise<void> => {
    const heard = pulse.sending();
    heard(await store.beat());
  };
  const goOn = async (): Promise<void> => {
    while (!stop.aborted) {
      const begun = performance.now();
      await beat();
      await sleep(Math.max(0, BEAT_MS - (performance.now() - begun)), null, { signal: stop, ref: false }).catch(
        () => {},
      );
    }
  };
  await beat();
  void goOn().catch((error: unknown) => {
    if (!stop.aborted) onFault(error);
  });
};

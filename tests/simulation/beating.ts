/** The pulse of a simulated process: beats by the virtual clock, and a look of its own at whether they are heeded. */

import type { Store } from '../../src/contract/store.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { BEAT_MS, SILENT_AFTER_MS } from '../../src/model/pulse.ts';
import { createSharedPulse, openPulse, type Pulse } from '../../src/visit/pulse.ts';

export interface Beating {
  readonly pulse: Pulse;
  /** Resolves when the first beat was answered. Never ends by itself; rejects when a beat fails. */
  begin(onFault: (error: unknown) => void): Promise<void>;
  /** For how long the store has not been heard when a request leaves; null when that is not too long. */
  silence(): number | null;
}

/** A clock and a store whose promises are never kept for the dead. */
export const createBeating = (store: Pick<Store, 'beat'>, clock: Clock): Beating => {
  const pulse = openPulse(createSharedPulse(), { monotonic: clock.now, wall: clock.now });
  /** Kept apart from what is tested. */
  let heardAt = -Infinity;
  const beat = async (): Promise<void> => {
    const sentAt = clock.now();
    const heard = pulse.sending();
    heard(await store.beat());
    heardAt = sentAt;
  };
  const goOn = async (): Promise<void> => {
    for (;;) {
      const begun = clock.now();
      await beat();
      await clock.sleep(Math.max(0, BEAT_MS - (clock.now() - begun)));
    }
  };
  return {
    pulse,
    begin: async (onFault) => {
      await beat();
      void goOn().catch(onFault);
    },
    silence: () => (clock.now() - heardAt < SILENT_AFTER_MS ? null : clock.now() - heardAt),
  };
};

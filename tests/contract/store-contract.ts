/** The contract of `src/contract/store.ts` as tests: the same behaviours for every store. */

import { admitContract } from './store-admit.ts';
import { claimContract } from './store-claim.ts';
import { crashContract } from './store-crash.ts';
import { journalContract } from './store-journal.ts';
import { leaseContract } from './store-leases.ts';
import { moveContract } from './store-move.ts';
import { randomContract } from './store-random.ts';
import { rulesContract } from './store-rules.ts';
import { behaviourOf } from './store-scene.ts';
import type { OpenStore } from './store-scene.ts';
import { settleContract } from './store-settle.ts';
import { steerContract } from './store-steer.ts';

export type { OpenedStore, OpenOptions, OpenStore } from './store-scene.ts';

/** Registers all behaviours for one kind of store, under its name. Leases run out on stores that processes share. */
export const storeContract = (name: string, open: OpenStore, { leasesRunOut = false, isServer = false } = {}): void => {
  const it = behaviourOf(name, open);
  admitContract(it);
  claimContract(it);
  settleContract(it);
  rulesContract(it);
  moveContract(it);
  steerContract(it);
  crashContract(it);
  journalContract(it);
  if (leasesRunOut) leaseContract(it);
  randomContract(it, isServer);
};

/** All that the visits of one fetch thread share, around a store. */

import type { Clock } from '../lib/clock.ts';
import { createGroup } from '../lib/group.ts';
import type { Link } from '../model/link.ts';
import type { ScopeRefusal } from '../model/outcome.ts';
import type { Settlement } from '../model/settlement.ts';
import type { Scope } from '../url/scope.ts';
import type { VisitParts } from './parts.ts';
import { createRecentlyAdmitted } from './recent.ts';
import { createRouter } from './router.ts';
import type { Store } from './store.ts';

export interface CrewOptions extends Pick<VisitParts, 'rules' | 'fetch' | 'forget' | 'parse' | 'readText'> {
  readonly clock: Clock;
  readonly scope: Scope;
  readonly store: Pick<Store, 'admit' | 'settle'>;
}

export interface Crew {
  readonly parts: VisitParts;
  /** Links that were not wanted, by reason. */
  readonly refused: Readonly<Partial<Record<ScopeRefusal, number>>>;
}

/** What many visits admit or settle at the same time goes to the store together. */
export const createCrew = ({ store, ...given }: CrewOptions): Crew => {
  const recent = createRecentlyAdmitted();
  const router = createRouter({ scope: given.scope, recent });
  const links = createGroup<Link>(async (batch) => {
    await store.admit(batch);
    recent.note(batch); // only now: what the store has not answered for is not known
  });
  const settlements = createGroup<Settlement>(async (batch) => void (await store.settle(batch)));
  const parts: VisitParts = {
    ...given,
    router,
    admit: (batch) => links.add(batch),
    settle: (settlement) => settlements.add([settlement]),
  };
  return { parts, refused: router.refused };
};

/** All that the visits of one fetch thread share, around a store. */

import type { Clock } from '../lib/clock.ts';
import { createGroup } from '../lib/group.ts';
import type { AcceptLinks } from '../model/hooks.ts';
import type { Link } from '../model/link.ts';
import type { Refused } from '../model/outcome.ts';
import type { Settlement } from '../model/settlement.ts';
import type { Scope } from '../url/scope.ts';
import type { VisitParts } from './parts.ts';
import { createRecentlyAdmitted } from './recent.ts';
import { createRouter } from './router.ts';
import { createRulesCache } from './rules-cache.ts';
import type { Store } from '../contract/store.ts';

export interface CrewOptions extends Pick<VisitParts, 'rules' | 'fetch' | 'forget' | 'parse' | 'readRobots' | 'pulse'> {
  readonly clock: Clock;
  readonly scope: Scope;
  readonly store: Pick<Store, 'admit' | 'settle' | 'rules'>;
  readonly siteWaitingMax: number | null;
  readonly accept?: AcceptLinks | null;
  readonly homes?: VisitParts['homes'];
}

/** What may be another for visits that begin later. */
export type CrewChange = Pick<CrewOptions, 'scope' | 'siteWaitingMax' | 'rules' | 'fetch' | 'readRobots' | 'homes'>;

export interface Crew {
  readonly parts: VisitParts;
  /** The parts for visits under other settings; those under way keep theirs. */
  under(change: CrewChange): VisitParts;
  /** Links that were not wanted, by reason. */
  readonly refused: Refused;
  /** The store may have forgotten links that it had answered: none is taken for known any more. */
  forgetKnown(): void;
}

/**
 * Links admitted at a time: a sitemap lists up to 50,000, and other visits wait for the same store; above all claims,
 * for which slots stand empty.
 */
export const ADMITTED_MAX = 2_000;
/** Settlements at a time, for the same reason: 20 to 50 ms of a store's time. */
export const SETTLED_MAX = 250;

/** What many visits admit or settle at the same time goes to the store together. */
export const createCrew = ({ store, accept = null, homes = null, ...given }: CrewOptions): Crew => {
  const recent = createRecentlyAdmitted();
  const { clock, scope } = given;
  const router = createRouter({ clock, scope, recent, accept });
  let waitingMax = given.siteWaitingMax;
  const links = createGroup<Link>(async (batch) => {
    const { full } = await store.admit(batch, waitingMax);
    // Only now, and not what was forgotten: this table must never know of a link that the store does not have.
    recent.note(full.length === 0 ? batch : batch.filter((link) => !full.includes(link.site)));
  }, ADMITTED_MAX);
  const settlements = createGroup<Settlement>(async (batch) => void (await store.settle(batch)), SETTLED_MAX);
  const parts: VisitParts = {
    ...given,
    homes,
    router,
    longRules: createRulesCache((digest, site) => store.rules(digest, site)),
    admit: async (all) => {
      for (let at = 0; at < all.length; at += ADMITTED_MAX) await links.add(all.slice(at, at + ADMITTED_MAX));
    },
    settle: (settlement) => settlements.add([settlement]),
  };
  const under = ({ siteWaitingMax, homes: at = null, ...change }: CrewChange): VisitParts => {
    waitingMax = siteWaitingMax;
    const { refused } = router;
    return {
      ...parts,
      ...change,
      homes: at,
      router: createRouter({ clock, scope: change.scope, recent, accept, refused }),
    };
  };
  return { parts, under, refused: router.refused, forgetKnown: recent.clear };
};

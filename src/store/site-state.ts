/** The states of a site as stores write them: a number, the same in every store. */

import type { SiteState } from '../contract/views.ts';

/** The due index of a store has just the sites that wait. */
export const SITE_STATE = {
  waiting: 0,
  leased: 1,
  parked: 2,
  held: 3,
  idle: 4,
} as const satisfies Readonly<Record<SiteState, number>>;

const NAMES = Object.keys(SITE_STATE) as readonly SiteState[];

/** Null for a number that no state has. */
export const siteStateOf = (written: number): SiteState | null => NAMES[written] ?? null;

/** Is there nothing left to do? */

import type { Census } from '../model/census.ts';

/**
 * Nothing waiting and nothing leased, in two censuses in a row between which nothing happened: where
 * processes share a store, another may be about to admit what it found.
 */
export const isFinished = (before: Census | null, now: Census): boolean =>
  isEmpty(now) && before !== null && isEmpty(before) && before.changes === now.changes;

const isEmpty = ({ waiting, leased }: Census): boolean => waiting === 0 && leased === 0;

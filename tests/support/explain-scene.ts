/** What the tests of explanations share: reasons that were seen, and a visit that is settled. */

import assert from 'node:assert/strict';
import type { Explanation } from '../../src/results/explain.ts';
import type { ReasonName } from '../../src/results/explain/reasons.ts';
import type { Page } from '../../src/model/page.ts';
import type { Settlement } from '../../src/model/settlement.ts';
import { claimOne, pageOf, settlementOf } from '../contract/store-scene.ts';
import type { ReadingScene } from './reading-scene.ts';

/** Every reason that was asserted so far. */
export const explained = new Set<string>();

export const assertReason = (explanation: Explanation, reason: ReasonName, answer: RegExp): Explanation => {
  assert.equal(explanation.reason, reason, explanation.answer);
  assert.match(explanation.answer, answer);
  explained.add(reason);
  return explanation;
};

/** Visits the only site that is due, and settles it so. */
export const settleNext = async (
  { store }: ReadingScene,
  changes: Partial<Settlement> = {},
  page: Partial<Page> = {},
): Promise<void> => {
  const visit = await claimOne(store);
  await store.settle([settlementOf(visit, { page: changes.fate ? null : pageOf(visit, page), ...changes })]);
};

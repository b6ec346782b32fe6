/** Tests that the promises hold in simulated crawls with a fault, one for every fault. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTS, type Verdict } from './plan.ts';
import { simulate } from './run.ts';

/** `npm run simulate -- --runs 200` takes more. */
const SEEDS = [1_001, 1_002, 1_003];

/** `always`: the fault strikes again and again, and not once. */
export const promisesHold = (always: boolean): void => {
  for (const fault of FAULTS) {
    if (fault === 'none' && always) continue;
    const when =
      fault === 'none' ? 'when nothing goes wrong' : `with ${fault}${always ? ', again and again' : ', once'}`;
    test(`all promises hold ${when}`, async (t) => {
      const verdicts: Verdict[] = [];
      for (const seed of SEEDS) {
        const verdict = await simulate({ seed, fault, always });
        assert.deepEqual(verdict.broken, [], `replay with: npm run simulate -- --seed ${seed} --fault ${fault}`);
        verdicts.push(verdict);
      }
      const sum = (pick: (one: Verdict) => number): number => verdicts.reduce((total, one) => total + pick(one), 0);
      assert.ok(fault === 'none' || sum((one) => one.faults) > 0, 'the fault never struck');
      t.diagnostic(
        `${SEEDS.length} seeds, ${sum((one) => one.faults)} faults, ${sum((one) => one.requests)} requests, ${sum((one) => one.lives)} processes`,
      );
    });
  }
};

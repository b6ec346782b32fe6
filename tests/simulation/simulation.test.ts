/** The promises hold in simulated crawls, whatever goes wrong: each fault once, and from then on always. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTS, simulate, type Verdict } from './run.ts';

const SEEDS = [1, 2, 3, 4, 5, 6];

for (const fault of FAULTS) {
  for (const always of fault === 'none' ? [false] : [false, true]) {
    test(`all promises hold ${fault === 'none' ? 'when nothing goes wrong' : `with ${fault}${always ? ', again and again' : ', once'}`}`, async (t) => {
      const verdicts: Verdict[] = [];
      for (const seed of SEEDS) {
        const verdict = await simulate({ seed: seed + 1_000, fault, always });
        assert.deepEqual(
          verdict.broken,
          [],
          `replay with: npm run simulate -- --seed ${seed + 1_000} --fault ${fault}`,
        );
        verdicts.push(verdict);
      }
      const sum = (pick: (one: Verdict) => number): number => verdicts.reduce((total, one) => total + pick(one), 0);
      assert.ok(fault === 'none' || sum((one) => one.faults) > 0, 'the fault never struck');
      t.diagnostic(
        `${SEEDS.length} seeds, ${sum((one) => one.faults)} faults, ${sum((one) => one.calls)} calls, ${sum((one) => one.lives)} processes`,
      );
    });
  }
}

test('one seed gives one run', async () => {
  const plan = { seed: 77, fault: 'process-dies', always: true } as const;
  assert.deepEqual(await simulate(plan), await simulate(plan));
});

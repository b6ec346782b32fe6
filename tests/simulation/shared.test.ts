/**
 * The promises hold on a real Redis and a real PostgreSQL, whatever goes wrong: each fault once, and from then on
 * always.
 */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SHARED_FAULTS, type Verdict } from './plan.ts';
import { simulate } from './run.ts';
import { SHARED_KINDS, startShared, type SharedKind, type SharedServer } from './shared-place.ts';

/**
 * Two processes, struck once, and again and again; and one, in Redis with its waiting links in files, again and again.
 * `npm run simulate -- --store redis --runs 200` takes more.
 */
const SEEDS = [
  { seed: 2_002, always: false },
  { seed: 2_003, always: true },
  { seed: 2_004, always: true },
];

const servers = new Map<SharedKind, SharedServer>();
before(async () => {
  for (const kind of SHARED_KINDS) servers.set(kind, await startShared[kind]());
});
after(async () => {
  for (const server of servers.values()) await server.remove();
});

for (const kind of SHARED_KINDS) {
  for (const fault of SHARED_FAULTS) {
    test(`${kind}: all promises hold ${fault === 'none' ? 'when nothing goes wrong' : `with ${fault}, once, and again and again`}`, async (t) => {
      const verdicts: Verdict[] = [];
      for (const plan of SEEDS) {
        const verdict = await simulate({ ...plan, fault }, servers.get(kind)!);
        assert.deepEqual(
          verdict.broken,
          [],
          `replay with: npm run simulate -- --seed ${plan.seed} --fault ${fault} --store ${kind}`,
        );
        verdicts.push(verdict);
      }
      const sum = (pick: (one: Verdict) => number): number => verdicts.reduce((total, one) => total + pick(one), 0);
      assert.ok(fault === 'none' || sum((one) => one.faults) > 0, 'the fault never struck');
      t.diagnostic(
        `${sum((one) => one.faults)} faults, ${sum((one) => one.requests)} requests, ${sum((one) => one.lives)} processes`,
      );
    });
  }
}

/** The promises hold in simulated crawls, whatever goes wrong once. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { promisesHold } from './all-promises.ts';
import { simulate } from './run.ts';

promisesHold(false);

test('one seed gives one run', async () => {
  const plan = { seed: 77, fault: 'process-dies', always: true } as const;
  assert.deepEqual(await simulate(plan), await simulate(plan));
});

/** `npm run simulate`: runs seeds, prints figures, and for a broken promise the seed that shows it. */

import { parseArgs } from 'node:util';
import { writeCount, writeDuration } from '../../src/lib/units.ts';
import { FAULTS, planOf, SHARED_FAULTS, type FaultName, type RunPlan, type Verdict } from './plan.ts';
import { simulate } from './run.ts';
import { SHARED_KINDS, startShared } from './shared-place.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string' },
    seconds: { type: 'string' },
    fault: { type: 'string' },
    /** redis or postgres, on a server of its own; without it, the stores that need none. */
    store: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});
const first = Number(values.seed);
const runs = values.runs === undefined ? (values.seconds === undefined ? 1 : Infinity) : Number(values.runs);
const untilMs = performance.now() + (values.seconds === undefined ? Infinity : Number(values.seconds) * 1_000);
const kind = SHARED_KINDS.find((one) => one === values.store);
if (values.store !== undefined && !kind) throw new Error(`--store is one of ${SHARED_KINDS.join(', ')}`);
const faults: readonly FaultName[] = kind ? SHARED_FAULTS : FAULTS;
if (values.fault !== undefined && !SHARED_FAULTS.includes(values.fault as FaultName))
  throw new Error(`--fault is one of ${SHARED_FAULTS.join(', ')}`);
if (values.fault === 'connection-lost' && !kind)
  throw new Error(`--fault connection-lost goes with --store ${SHARED_KINDS.join(' or ')}`);
const server = kind ? await startShared[kind]() : null;
const flags = `${values.fault === undefined ? '' : ` --fault ${values.fault}`}${kind ? ` --store ${kind}` : ''}`;

const verdicts: Verdict[] = [];
for (let seed = first; seed < first + runs && performance.now() < untilMs; seed++) {
  const plan: RunPlan = {
    ...planOf(seed, faults),
    ...(values.fault === undefined ? {} : { fault: values.fault as FaultName }),
  };
  const verdict = await simulate(plan, server);
  verdicts.push(verdict);
  const { broken, ...figures } = verdict;
  if (values.verbose || runs === 1 || broken.length > 0) console.log(JSON.stringify(figures));
  for (const text of broken) console.log(`  ${text}`);
  if (broken.length > 0) {
    console.log(`replay with: npm run simulate -- --seed ${seed}${flags}`);
    process.exitCode = 1;
    break;
  }
}
await server?.remove();
const sum = (pick: (verdict: Verdict) => number): number => verdicts.reduce((total, one) => total + pick(one), 0);
console.log(
  `${writeCount(verdicts.length)} runs, ${writeCount(sum((one) => one.faults))} faults, ${writeCount(sum((one) => one.lives))} processes, ` +
    `${writeCount(sum((one) => one.requests))} requests, ${writeCount(sum((one) => one.gaps))} gaps checked, ${writeCount(sum((one) => one.pages))} pages, ` +
    `${writeDuration(sum((one) => one.simulatedMs))} simulated; ${verdicts.filter((one) => one.broken.length > 0).length} with a broken promise`,
);

/** Every planted bug is caught; so what the simulation finds nothing wrong with is worth something. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MUTANTS, type Mutant } from './mutants.ts';

/** Seeds within which each is caught. */
const SEEDS_MAX = 40;
const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

interface Ran {
  readonly code: number;
  readonly out: string;
}

const run = async ({ name, fault, store }: Mutant, first: number, runs: number): Promise<Ran> => {
  const child = spawn(
    process.execPath,
    [
      '--import',
      path('./plant.ts'),
      path('./simulate.ts'),
      '--seed',
      String(first),
      '--runs',
      String(runs),
      ...(fault ? ['--fault', fault] : []),
      ...(store ? ['--store', store] : []),
    ],
    {
      env: { ...process.env, GOSSAMER_MUTANT: name, NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let out = '';
  child.stdout.on('data', (text: Buffer) => (out += text.toString()));
  child.stderr.on('data', (text: Buffer) => (out += text.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, out };
};

/** The seed that is known to catch it, and all of them if it does not any more. */
const runSeeds = async (mutant: Mutant): Promise<Ran> => {
  const known = mutant.seed === undefined ? null : await run(mutant, mutant.seed, 1);
  return known?.code === 1 ? known : run(mutant, 1, SEEDS_MAX);
};

for (const mutant of MUTANTS) {
  test(`caught within ${SEEDS_MAX} seeds: ${mutant.name}`, async (t) => {
    const { code, out } = await runSeeds(mutant);
    assert.doesNotMatch(out, /does not fit|was not planted/, out);
    assert.equal(code, 1, `it was not caught:\n${out.slice(0, 3_000)}`);
    const seed = /replay with: .*--seed (\d+)/.exec(out)?.[1];
    assert.ok(seed !== undefined, `it broke the simulation itself:\n${out.slice(0, 3_000)}`);
    // A store that cannot even be opened breaks every promise: then nothing was caught.
    assert.doesNotMatch(out, /the crawl failed: (?!Error: \d+ processes ended)/, out.slice(0, 3_000));
    t.diagnostic(
      `seed ${seed}: ${
        out
          .split('\n')
          .find((line) => line.startsWith('  '))
          ?.trim() ?? ''
      }`,
    );
  });
}

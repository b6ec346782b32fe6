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

const run = async ({ name, fault, store }: Mutant): Promise<{ code: number; out: string }> => {
  const child = spawn(
    process.execPath,
    [
      '--import',
      path('./plant.ts'),
      path('./simulate.ts'),
      '--seed',
      '1',
      '--runs',
      String(SEEDS_MAX),
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

for (const mutant of MUTANTS) {
  test(`caught within ${SEEDS_MAX} seeds: ${mutant.name}`, async (t) => {
    const { code, out } = await run(mutant);
    assert.doesNotMatch(out, /does not fit|was not planted/, out);
    assert.equal(code, 1, `it was not caught:\n${out.slice(0, 3_000)}`);
    const seed = /replay with: .*--seed (\d+)/.exec(out)?.[1];
    assert.ok(seed !== undefined, `it broke the simulation itself:\n${out.slice(0, 3_000)}`);
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

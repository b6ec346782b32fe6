/** The test command: types first, then every test file. Arguments name files instead of all. */

import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = process.argv.slice(2);

const run = (title: string, args: readonly string[]): void => {
  console.log(`\n== ${title}`);
  // The binary and its threads are started a thousand times: what was compiled is remembered from one to the next.
  const env = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'), ...process.env };
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env });
  if (status !== 0) process.exit(status ?? 1);
};

const tests = (pattern: string): string[] => globSync(pattern, { cwd: root }).toSorted();

if (files.length > 0) {
  run('tests', ['--import', './tests/support/open-handles.ts', '--test', ...files]);
} else {
  run('types', ['node_modules/typescript/bin/tsc', '--noEmit']);
  run('tests of the rooms, and the simulation', [
    '--import',
    './tests/support/open-handles.ts',
    '--test',
    '--test-concurrency=2',
    ...tests('tests/{,simulation/}*.test.ts'),
  ]);
  // Two at a time: each starts crawls and servers of its own, which wait for delays and time-outs as much as they work.
  run('tests of the binary', [
    '--import',
    './tests/support/open-handles.ts',
    '--test',
    '--test-concurrency=2',
    ...tests('tests/e2e/*.test.ts'),
  ]);
}

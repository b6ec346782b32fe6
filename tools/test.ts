/**
 * The test commands: every stage runs, whatever the others say, and the last lines name everything that failed.
 *
 * `npm test` runs all. `npm test -- fetch store-redis tests/url.test.ts` runs the tests of these rooms and files.
 * `npm run check` is the quick loop: types, lint, and the tests that start no server and no binary.
 * `npm run test:long` runs all, then hundreds of simulated crawls and of kills: hours.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Tested } from './test-results.ts';
import { allTests, quickTests, testsNamed } from './test-files.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'gossamer-tests-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

/** What the summary says went wrong. */
const failures: string[] = [];
const startedAt = performance.now();
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;

const run = (title: string, args: readonly string[]): boolean => {
  console.log(`\n== ${title}`);
  const began = performance.now();
  // The binary and its threads are started a thousand times: what was compiled is remembered from one to the next.
  const env = {
    NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'),
    ...process.env,
    // No test reads what a developer set for crawls of their own.
    XDG_CONFIG_HOME: join(home, 'config'),
    GOSSAMER_EMAIL: '',
  };
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env });
  console.log(`== ${title}: ${status === 0 ? 'passed' : 'failed'} after ${seconds(performance.now() - began)}`);
  return status === 0;
};

const stage = (title: string, args: readonly string[]): void => {
  if (!run(title, args)) failures.push(title);
};

/** Two files at a time: they wait for servers, delays and timeouts as much as they work. */
const tests = (title: string, files: readonly string[]): void => {
  const results = join(home, `results-${all.length}.jsonl`);
  const passed = run(title, [
    ...['--import', './tests/support/open-handles.ts', '--test', '--test-concurrency=2'],
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...['--test-reporter=./tools/test-results.ts', `--test-reporter-destination=${results}`],
    ...files,
  ]);
  const tested = readResults(results);
  all.push(...tested);
  const failed = tested.filter(({ ok }) => !ok);
  for (const { file, name } of failed) failures.push(`${file}: ${name}`);
  if (!passed && failed.length === 0) failures.push(`${title}: a file ended with an error outside of its tests`);
};

const all: Tested[] = [];
const readResults = (path: string): Tested[] => {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Tested);
  } catch {
    return [];
  }
};

const SLOWEST = 15;
const SLOW_MS = 2_000;

const summary = (): void => {
  const failed = all.filter(({ ok }) => !ok).length;
  const slow = all.filter(({ ms }) => ms >= SLOW_MS).toSorted((a, b) => b.ms - a.ms);
  if (slow.length > 0) console.log(`\n== the slowest of ${all.length} tests`);
  for (const { ms, name, file } of slow.slice(0, SLOWEST)) console.log(`${seconds(ms).padStart(7)}  ${file}: ${name}`);
  console.log(
    `\n== ${failures.length === 0 ? 'all passed' : 'failed'} after ${seconds(performance.now() - startedAt)}`,
  );
  for (const failure of failures) console.log(`failed: ${failure}`);
  console.log(`${all.length - failed} passed, ${failed} failed`);
};

const types = (): void => stage('types', ['node_modules/typescript/bin/tsc', '--noEmit']);
const lint = (): void =>
  stage('format and lint', ['node_modules/@biomejs/biome/bin/biome', 'ci', '--error-on-warnings']);

/** What takes longer than it is worth for every change. */
const LONG: readonly (readonly [string, readonly string[]])[] = [
  ['200 simulated crawls', ['tests/simulation/simulate.ts', '--runs', '200']],
  ['60 simulated crawls on Redis', ['tests/simulation/simulate.ts', '--runs', '60', '--store', 'redis']],
  ['60 simulated crawls on PostgreSQL', ['tests/simulation/simulate.ts', '--runs', '60', '--store', 'postgres']],
  ['200 kills', ['tests/e2e/crash-harness.ts', '--kills', '200']],
  ['100 kills on Redis', ['tests/e2e/crash-shared.ts', '--store', 'redis', '--kills', '100', '--server-kills', '20']],
  [
    '100 kills on PostgreSQL',
    ['tests/e2e/crash-shared.ts', '--store', 'postgres', '--kills', '100', '--server-kills', '20'],
  ],
];

const words = process.argv.slice(2);
const [command] = words;
try {
  if (command === 'check') {
    types();
    lint();
    tests('tests without servers', quickTests(root));
  } else if (command !== undefined && command !== 'long') {
    tests('tests', testsNamed(root, words));
  } else {
    types();
    lint();
    const { rooms, binary } = allTests(root);
    tests('tests of the rooms, and the simulation', rooms);
    tests('tests of the binary', binary);
    if (command === 'long') for (const [title, args] of LONG) stage(title, args);
  }
} catch (error) {
  failures.push((error as Error).message);
}
summary();
process.exitCode = failures.length === 0 ? 0 : 1;

/** `npm run suites -- <folder>`: runs public suites that lie in the folder. Exit code 1: something failed. */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { encodings, tokenizer, trees } from './suites/html5lib.ts';
import { llhttp } from './suites/llhttp.ts';
import { googleRobots } from './suites/robots.ts';
import type { Suite } from './suites/suite.ts';
import { legacyEncodings } from './suites/wpt-encoding.ts';
import { hosts, urls } from './suites/wpt-url.ts';

const SUITES: readonly Suite[] = [tokenizer, trees, encodings, urls, hosts, legacyEncodings, googleRobots, llhttp];
const SHOWN_MAX = 10;

const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0 || !statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
  console.error('name a folder with checkouts of public suites: npm run suites -- <folder>');
  process.exit(2);
}

const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
  .toSorted();

/** True when none failed. */
const run = (suite: Suite, mine: readonly string[]): boolean => {
  let passed = 0;
  const failures: string[] = [];
  const leftOut = new Map<string, number>();
  for (const file of mine) {
    for (const { name, verdict } of suite.cases(file, readFileSync(join(folder, file)))) {
      if (verdict.kind === 'passed') passed++;
      else if (verdict.kind === 'failed') failures.push(`${name}: ${verdict.says}`);
      else leftOut.set(verdict.why, (leftOut.get(verdict.why) ?? 0) + 1);
    }
  }
  const out = [...leftOut.values()].reduce((sum, count) => sum + count, 0);
  console.log(`${suite.name}: ${passed} passed, ${failures.length} failed, ${out} left out`);
  for (const failure of failures.slice(0, SHOWN_MAX)) console.log(`  failed: ${failure}`);
  if (failures.length > SHOWN_MAX) console.log(`  and ${failures.length - SHOWN_MAX} more`);
  for (const [why, count] of leftOut) console.log(`  left out: ${count}: ${why}`);
  return failures.length === 0;
};

let isGood = true;
for (const suite of SUITES) {
  const mine = files.filter(suite.isMine);
  if (mine.length === 0) console.log(`${suite.name}: missing; get it from ${suite.from}`);
  else isGood = run(suite, mine) && isGood;
}
process.exitCode = isGood ? 0 : 1;

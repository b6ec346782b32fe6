/**
 * `npm run bench -- --against DIR`: this checkout against another one, which has been installed with `npm install`.
 *
 * Old and new crawl the same web in turn, each first every other round; the median of the ratios of the rounds is the
 * answer. "Within 3 %" in an issue or a pull request means this figure.
 */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Comparison } from './thread-counts.ts';
import { type CrawlUsed, crawlWorld, endWorld, fixed, median, perPage, startWorld } from './whole-crawl.ts';
import { WORKLOADS } from './workloads.ts';

/** With fewer, one disturbed round may decide. */
const ROUNDS_LEAST = 7;

export const compareCheckouts = async ({
  against,
  workloads,
  sites,
  plan,
  rounds,
}: Comparison & { readonly against: string }): Promise<void> => {
  const program = join(resolve(against), 'bin/gossamer.js');
  if (!existsSync(program) || !existsSync(join(resolve(against), 'node_modules')))
    throw new Error(`${against} is no checkout that can run: clone one there and run npm install in it`);
  const turns = Math.max(ROUNDS_LEAST, rounds);
  console.log('| workload | that, CPU ms / page | this | this / that, of each round | median |');
  console.log('| --- | --- | --- | --- | --- |');
  for (const workload of workloads) {
    const world = await startWorld(workload, sites);
    const old: CrawlUsed[] = [];
    const now: CrawlUsed[] = [];
    const runOld = async (): Promise<unknown> => old.push(await crawlWorld(world, { ...plan, program }));
    const runNow = async (): Promise<unknown> => now.push(await crawlWorld(world, plan));
    for (let round = 0; round < turns; round++) {
      for (const run of round % 2 === 0 ? [runOld, runNow] : [runNow, runOld]) await run();
      console.error(
        `${workload}: round ${round + 1} of ${turns}, ${fixed(perPage(old.at(-1)!))} and ${fixed(perPage(now.at(-1)!))} ms`,
      );
    }
    const ratios = now.map((used, round) => perPage(used) / perPage(old[round]!));
    const each = ratios.map((ratio) => fixed(ratio, 3)).join(', ');
    console.log(
      `| ${workload} | ${fixed(median(old.map(perPage)), 3)} | ${fixed(median(now.map(perPage)), 3)} | ${each} | **${fixed(median(ratios), 3)}** |`,
    );
    await endWorld(world);
  }
  console.log(`\n${workloads.map((name) => `${name}: ${WORKLOADS[name].about}`).join('\n')}`);
};

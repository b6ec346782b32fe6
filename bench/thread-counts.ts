/** `npm run bench -- --threads 1+0,1+1`: the same crawl with other numbers of fetch and parse threads, in turn. */

import {
  type CrawlPlan,
  crawlWorld,
  endWorld,
  fixed,
  mebibytes,
  median,
  pagesPerSecond,
  perPage,
  startWorld,
  type Used,
} from './whole-crawl.ts';
import type { WorkloadName } from './workloads.ts';

export interface Comparison {
  readonly workloads: readonly WorkloadName[];
  readonly sites: number;
  readonly plan: CrawlPlan;
  readonly rounds: number;
}

export const compareThreads = async (counts: readonly string[], comparison: Comparison): Promise<void> => {
  const { workloads, sites, plan, rounds } = comparison;
  console.log('| workload | fetchers + parsers | CPU ms / page | pages / s | peak memory MiB |');
  console.log('| --- | --- | --- | --- | --- |');
  for (const workload of workloads) {
    const world = await startWorld(workload, sites);
    const used = new Map<string, Used[]>(counts.map((count) => [count, []]));
    for (let round = 0; round < rounds; round++) {
      for (const count of counts) {
        const [fetchers, parsers] = count.split('+') as [string, string];
        const flags = [...plan.flags, '--fetchers', fetchers, '--parsers', parsers];
        used.get(count)!.push(await crawlWorld(world, { ...plan, flags }));
      }
    }
    for (const [count, runs] of used) {
      const cells = [
        workload,
        count.replace('+', ' + '),
        fixed(median(runs.map(perPage))),
        fixed(median(runs.map(pagesPerSecond)), 0),
        mebibytes(median(runs.map((one) => one.peakBytes))),
      ];
      console.log(`| ${cells.join(' | ')} |`);
    }
    await endWorld(world);
  }
};

/**
 * `npm run bench`: what a page costs, against the floor, on the small web of this machine, by thread and by kind.
 *
 * CPU is user + system of the whole process, all threads. Runs alternate, and the ratio of each pair is what counts:
 * the machine may be shared. The words below measure something else; each is a file of its own.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { allPages } from '../src/results/all-pages.ts';
import { openToRead } from '../src/folder/read.ts';
import { compareCheckouts } from './against.ts';
import { kindsLine, measureKinds, perfMissing } from './kinds.ts';
import { compareThreads } from './thread-counts.ts';
import {
  BENCH_SITES,
  compileCache,
  CRAWL_SLOTS,
  crawlArgs,
  crawlDir,
  type CrawlUsed,
  crawlWorld,
  endWorld,
  fixed,
  measured,
  mebibytes,
  median,
  pagesPerSecond,
  path,
  perPage,
  startWorld,
  type Used,
  type World,
} from './whole-crawl.ts';
import { readWorkloads, WORKLOADS, type WorkloadName } from './workloads.ts';

/** `npm run bench -- peers`, and so on. */
const WORDS = ['claims', 'growth', 'observe', 'peers', 'stores'];
const word = process.argv[2];
if (word !== undefined && WORDS.includes(word)) {
  await import(`./${word}.ts`);
  process.exit(0);
}
const { values } = parseArgs({
  options: {
    workloads: { type: 'string', default: 'A,B,C' },
    pages: { type: 'string', default: '12000' },
    sites: { type: 'string', default: String(BENCH_SITES) },
    rounds: { type: 'string', default: '3' },
    flags: { type: 'string', default: '' },
    threads: { type: 'string', default: '' },
    against: { type: 'string' },
    kinds: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const pages = Number(values.pages);
const rounds = Number(values.rounds);
const sites = Number(values.sites);
const flags = values.flags.split(' ').filter(Boolean);
const workloads = readWorkloads(values.workloads);
const home = mkdtempSync(join(tmpdir(), 'gossamer-bench-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

console.log(
  `${pages} pages on ${sites} sites, ${CRAWL_SLOTS} concurrent visits, ${availableParallelism()} cores, Node ${process.version}\n`,
);
if (values.against !== undefined) {
  await compareCheckouts({ against: values.against, workloads, sites, plan: { home, pages, flags }, rounds });
  process.exit(0);
}
if (values.threads !== '') {
  await compareThreads(values.threads.split(','), { workloads, sites, plan: { home, pages, flags }, rounds });
  process.exit(0);
}

/** The addresses that a crawl fetched, for the floor to fetch again. */
const listPages = async (): Promise<string> => {
  const { crawl } = await openToRead(crawlDir(home));
  const urls: string[] = [];
  for await (const page of allPages(crawl, { outcome: 'fetched' })) urls.push(page.url);
  await crawl.close();
  const list = join(home, 'urls.txt');
  writeFileSync(list, urls.join('\n'));
  return list;
};

const floor = async (world: World, list: string, mode: 'links' | 'records'): Promise<Used> => {
  const used = await measured(home, [path('./floor.ts'), list, String(CRAWL_SLOTS), mode, ...world.connectTo]);
  const { pages: fetched, wallMs } = JSON.parse(used.out) as { pages: number; wallMs: number };
  return { ...used, pages: fetched, wallMs };
};

interface Round {
  readonly crawl: CrawlUsed;
  readonly floor: Used;
  readonly records: Used;
}

const TITLES = { floor: 'the floor', records: 'the floor, with archive records', crawl: 'the whole crawl' } as const;

const rowOf = (workload: WorkloadName, what: keyof Round, all: readonly Round[]): string => {
  const used = all.map((round) => round[what]);
  const ratio = median(all.map((round) => perPage(round[what]) / perPage(round.floor)));
  const cells = [
    workload,
    TITLES[what],
    fixed(median(used.map(perPage))),
    fixed(ratio),
    fixed(median(used.map(pagesPerSecond)), 0),
    mebibytes(median(used.map((one) => one.peakBytes))),
  ];
  return `| ${cells.join(' | ')} |`;
};

const threadsLine = ({ threads, pages: fetched }: Used): string =>
  [...threads]
    .map(([name, ms]) => [name, ms / fetched] as const)
    .filter(([, ms]) => ms >= 0.01)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, ms]) => `${name} ${fixed(ms)}`)
    .join(', ');

/** Code that is compiled for the first time under a profiler is not what a crawl spends its time on. */
const WARM_UP_PAGES = 200;

const kindsOf = async (world: World, perPageMs: number): Promise<string> => {
  const crawl = (many: number) =>
    measureKinds({
      home,
      args: crawlArgs(world, { home, pages: many, flags }),
      env: { ...process.env, ...compileCache(home) },
    });
  await crawl(WARM_UP_PAGES);
  const { kinds, rooms } = await crawl(pages);
  const all = kinds.map(({ kind, share }) => `${kind} ${fixed(share * perPageMs)} (${fixed(share * 100, 0)} %)`);
  return `${all.join(', ')}\n  JavaScript by room: ${kindsLine(rooms)}`;
};

const noPerf = values.kinds ? perfMissing() : 'not asked for';
const details: string[] = [];
console.log('| workload | what | CPU ms / page | ratio to the floor | pages / s | peak memory MiB |');
console.log('| --- | --- | --- | --- | --- | --- |');
for (const workload of workloads) {
  const world = await startWorld(workload, sites);
  const all: Round[] = [];
  for (let round = 1; round <= rounds; round++) {
    console.error(`${workload}: round ${round} of ${rounds}`);
    const crawl = await crawlWorld(world, { home, pages, flags });
    const list = await listPages();
    all.push({ crawl, floor: await floor(world, list, 'links'), records: await floor(world, list, 'records') });
  }
  for (const what of ['floor', 'records', 'crawl'] as const) console.log(rowOf(workload, what, all));
  const last = all.at(-1)!.crawl;
  details.push(
    `${workload}: ${WORKLOADS[workload].about}. ${fixed(last.known / last.pages, 0)} new links a page; the small web took ${fixed(last.webCpuMs / last.pages)} ms of CPU a page beside it.`,
    `  by thread, ms a page: ${threadsLine(last)}`,
    `  by kind, ms a page: ${noPerf ?? (await kindsOf(world, median(all.map((round) => perPage(round.crawl)))))}`,
  );
  await endWorld(world);
}
console.log(`\nMedians of ${rounds} rounds.\n\n${details.join('\n')}`);

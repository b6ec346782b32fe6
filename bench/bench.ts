/**
 * `npm run bench`: what a page costs, against the floor, on the small web of this machine.
 *
 * CPU is user + system of the whole process, all threads. Runs alternate, and the ratio of each pair
 * is what counts: the machine may be shared. `-- --threads 1+0,1+1` compares thread counts (fetchers + parsers) instead.
 */

import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openSqliteReader } from '../src/store/sqlite/reader.ts';
import { threadCpu } from './threads.ts';

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '20000' },
    sites: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '3' },
    schemes: { type: 'string', default: 'http,https' },
    flags: { type: 'string', default: '' },
    threads: { type: 'string', default: '' },
  },
});
const PAGES = Number(values.pages);
const ROUNDS = Number(values.rounds);
const SLOTS = 100;
const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), 'gossamer-bench-'));
process.on('exit', () => rmSync(temporary, { recursive: true, force: true }));

interface Used {
  readonly cpuMs: number;
  readonly peakBytes: number;
  readonly wallMs: number;
  readonly pages: number;
  readonly threads: ReadonlyMap<string, number>;
}

interface World {
  readonly connectTo: readonly string[];
  readonly seeds: readonly string[];
  readonly process: ChildProcess;
}

const startWorld = async (scheme: string): Promise<World> => {
  const child = fork(path('./world.ts'), [scheme, values.sites, String(PAGES * 4)]);
  const [message] = (await once(child, 'message')) as [Omit<World, 'process'>];
  return { ...message, process: child };
};

const measured = async (args: readonly string[]): Promise<Used & { out: string }> => {
  const usage = join(temporary, 'usage.json');
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--import', path('./usage.ts'), ...args], {
    env: { ...process.env, GOSSAMER_USAGE: usage }, stdio: ['ignore', 'pipe', 'inherit'],
  });
  const threads = threadCpu(child.pid!);
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  const [code] = (await once(child, 'close')) as [number];
  const wallMs = performance.now() - startedAt;
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${out}`);
  return { ...(JSON.parse(readFileSync(usage, 'utf8')) as { cpuMs: number; peakBytes: number }), wallMs, pages: 0, threads: threads(), out };
};

const crawl = async (world: World, list: string, more: readonly string[] = []): Promise<Used> => {
  const dir = join(temporary, 'crawl');
  rmSync(dir, { recursive: true, force: true });
  const seedFile = join(temporary, 'seeds.txt');
  writeFileSync(seedFile, world.seeds.join('\n'));
  const used = await measured([path('../bin/gossamer.js'), 'crawl', seedFile, '--email', 'bench@example.org', '--dir', dir, '--delay', '0',
    '--max-pages', String(PAGES), '--concurrency', String(SLOTS), '--json', ...world.connectTo.flatMap((rule) => ['--connect-to', rule]),
    ...values.flags.split(' ').filter(Boolean), ...more]);
  const reader = openSqliteReader(join(dir, 'crawl.db'));
  const urls: string[] = [];
  for (const page of reader.pages({ outcome: 'fetched' })) urls.push(page.url);
  reader.close();
  writeFileSync(list, urls.join('\n'));
  const { elapsedMs } = JSON.parse(used.out.trim().split('\n').at(-1)!) as { elapsedMs: number };
  return { ...used, pages: urls.length, wallMs: elapsedMs };
};

const floor = async (world: World, list: string, mode: 'links' | 'records'): Promise<Used> => {
  const used = await measured([path('./floor.ts'), list, String(SLOTS), mode, ...world.connectTo]);
  const { pages, wallMs } = JSON.parse(used.out) as { pages: number; wallMs: number };
  return { ...used, pages, wallMs };
};

const perPage = (used: Used): number => used.cpuMs / used.pages;
const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
const fixed = (n: number, digits = 2): string => n.toFixed(digits);

console.log(`${PAGES} pages of 60 KB on ${values.sites} sites, ${SLOTS} concurrent visits, ${availableParallelism()} cores, Node ${process.version}, ${ROUNDS} rounds; medians\n`);
/** Every count in turn, as often as there are rounds. */
const compareThreads = async (counts: readonly string[]): Promise<void> => {
  const world = await startWorld('http');
  const used = new Map<string, Used[]>(counts.map((count) => [count, []]));
  for (let i = 0; i < ROUNDS; i++) {
    for (const count of counts) {
      const [fetchers, parsers] = count.split('+') as [string, string];
      used.get(count)!.push(await crawl(world, join(temporary, 'urls.txt'), ['--fetchers', fetchers, '--parsers', parsers]));
    }
  }
  console.log('| fetchers + parsers | CPU ms / page | pages / s | peak memory MiB |\n| --- | --- | --- | --- |');
  for (const [count, runs] of used) {
    console.log(`| ${count.replace('+', ' + ')} | ${fixed(median(runs.map(perPage)))} | ${fixed(median(runs.map((one) => (one.pages * 1000) / one.wallMs)), 0)} | ` +
      `${fixed(median(runs.map((one) => one.peakBytes)) / 1024 ** 2, 0)} |`);
  }
  world.process.disconnect();
  await once(world.process, 'exit');
};

if (values.threads !== '') {
  await compareThreads(values.threads.split(','));
  process.exit(0);
}
console.log('| scheme | what | CPU ms / page | ratio to the floor | pages / s | peak memory MiB |\n| --- | --- | --- | --- | --- | --- |');
const threadLines: string[] = [];
for (const scheme of values.schemes.split(',')) {
  const world = await startWorld(scheme);
  const list = join(temporary, 'urls.txt');
  const rounds: { crawl: Used; floor: Used; records: Used }[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const crawled = await crawl(world, list);
    rounds.push({ crawl: crawled, floor: await floor(world, list, 'links'), records: await floor(world, list, 'records') });
  }
  for (const what of ['floor', 'records', 'crawl'] as const) {
    const used = rounds.map((round) => round[what]);
    console.log(`| ${scheme} | ${{ floor: 'the floor', records: 'the floor, with archive records', crawl: 'the whole crawl' }[what]} | ${fixed(median(used.map(perPage)))} | ` +
      `${fixed(median(rounds.map((round) => perPage(round[what]) / perPage(round.floor))))} | ${fixed(median(used.map((one) => (one.pages * 1000) / one.wallMs)), 0)} | ${fixed(median(used.map((one) => one.peakBytes)) / 1024 ** 2, 0)} |`);
  }
  const last = rounds.at(-1)!.crawl;
  threadLines.push(`${scheme}, CPU ms per page by thread: ${[...last.threads].sort(([, a], [, b]) => b - a).filter(([, ms]) => ms / last.pages >= 0.01)
    .map(([name, ms]) => `${name} ${fixed(ms / last.pages)}`).join(', ')}`);
  world.process.disconnect();
  await once(world.process, 'exit');
}
console.log(`\n${threadLines.join('\n')}`);

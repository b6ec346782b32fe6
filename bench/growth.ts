/**
 * `npm run bench -- growth [--pages 300000] [--workload B]`: does a page cost the same from the first to the last?
 *
 * One crawl with everything on. Its CPU is read from the system, its pages and links from its own metrics; the table
 * has a row for every tenth of it.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../tests/support/free-port.ts';
import { readMetrics } from './scrape.ts';
import { cpuByThread } from './threads.ts';
import {
  BENCH_SITES,
  compileCache,
  CRAWL_SLOTS,
  crawlArgs,
  endWorld,
  fixed,
  mebibytes,
  startWorld,
} from './whole-crawl.ts';
import { readWorkloads, WORKLOADS } from './workloads.ts';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    pages: { type: 'string', default: '300000' },
    workload: { type: 'string', default: 'B' },
    sites: { type: 'string', default: String(BENCH_SITES) },
    flags: { type: 'string', default: '' },
  },
});
const pages = Number(values.pages);
const [workload] = readWorkloads(values.workload) as [keyof typeof WORKLOADS];
const LOOK_MS = 1_000;
const SLICES = 10;
const home = mkdtempSync(join(tmpdir(), 'gossamer-growth-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

interface Look {
  readonly pages: number;
  readonly known: number;
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly atMs: number;
}

console.log(
  `${workload}: ${WORKLOADS[workload].about}; ${pages} pages on ${values.sites} sites, ${CRAWL_SLOTS} concurrent visits, ${availableParallelism()} cores, Node ${process.version}\n`,
);
const world = await startWorld(workload, Number(values.sites));
const port = await freePort();
const flags = [...values.flags.split(' ').filter(Boolean), '--metrics', String(port)];
const crawl = spawn(process.execPath, crawlArgs(world, { home, pages, flags }), {
  env: { ...process.env, ...compileCache(home) },
  stdio: ['ignore', 'ignore', 'inherit'],
});
const ended = once(crawl, 'exit') as Promise<[number | null]>;

const looks: Look[] = [];
const look = async (): Promise<void> => {
  const metrics = readMetrics(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  looks.push({
    pages: metrics.sum('gossamer_pages_total', { outcome: 'fetched' }),
    known: metrics.sum('gossamer_links'),
    cpuMs: [...cpuByThread(crawl.pid!).values()].reduce((sum, ms) => sum + ms, 0),
    memoryBytes: metrics.sum('gossamer_resident_memory_bytes'),
    atMs: performance.now(),
  });
};
let told = 0;
const timer = setInterval(() => {
  look().catch(() => {}); // it is opening or ending
  const now = looks.at(-1)?.pages ?? 0;
  if (Math.floor((now * SLICES) / pages) === told) return;
  told = Math.floor((now * SLICES) / pages);
  console.error(`${now} of ${pages} pages`);
}, LOOK_MS);
const [code] = await ended;
clearInterval(timer);
await endWorld(world);
if (code !== 0) throw new Error(`the crawl ended with ${code}`);

console.log('| pages | known links | CPU ms / page | pages / s | memory MiB |\n| --- | --- | --- | --- | --- |');
const reached = (many: number): Look => looks.find((one) => one.pages >= many) ?? looks.at(-1)!;
const rows = Array.from({ length: SLICES }, (_, n) => {
  const [from, to] = [reached((n * pages) / SLICES), reached(((n + 1) * pages) / SLICES)];
  return {
    to,
    perPage: (to.cpuMs - from.cpuMs) / (to.pages - from.pages),
    seconds: (to.atMs - from.atMs) / 1_000,
    from,
  };
});
for (const { from, to, perPage, seconds } of rows)
  console.log(
    `| ${to.pages} | ${to.known} | ${fixed(perPage)} | ${fixed((to.pages - from.pages) / seconds, 0)} | ${mebibytes(to.memoryBytes)} |`,
  );
console.log(`\nThe last tenth costs ${fixed(rows.at(-1)!.perPage / rows[1]!.perPage)} of what the second does.`);

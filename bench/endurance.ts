/**
 * `node bench/endurance.ts [--minutes 30] [--write]`: a crawl at full speed, seen through its own metrics.
 *
 * The real binary crawls the small web with everything on; memory and descriptors must stay flat, and what the metrics
 * say of them must be what the system says. Ends with exit code 1 when a check fails. With --write the table and the
 * plots go into docs/endurance.md and docs/plots.
 */

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runBinary, startBinary } from '../tests/support/binary.ts';
import { freePort } from '../tests/support/free-port.ts';
import { writeFigures, writePlots } from './figures-page.ts';
import { median, thirds } from './load-samples.ts';
import type { Plot } from './plot.ts';
import { scrapeEvery, type Scraped } from './scrape.ts';
import { CRAWL_SLOTS, endWorld, startWorld } from './whole-crawl.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    sites: { type: 'string', default: '8000' },
    flags: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
});
const durationMs = Number(values.minutes) * 60_000;
const SCRAPE_MS = 5_000;
/** Slots open over 5 s; heaps find their size in the first minute. */
const RAMP_MS = Math.min(60_000, durationMs / 5);
/** Opening, ending, and a check of every record: a run that needs longer hangs, and is killed. */
const MORE_MS = 180_000;
const VERIFY_MS = 1_800_000;
/**
 * Medians of memory differ by chance, more in a short run. Known URLs take 12 bytes each, which grow with the crawl.
 */
const MEMORY_MORE = 1.1;
const DESCRIPTORS_MORE = 1.05;
const MIB = 1024 ** 2;

const home = mkdtempSync(join(tmpdir(), 'gossamer-endurance-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

interface Looked {
  readonly atMs: number;
  readonly metrics: Scraped;
}

/** What the system counts at the same time, from outside. */
const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

const crawl = async (): Promise<{
  looks: readonly Looked[];
  outside: readonly (readonly [number, number])[];
  end: Readonly<Record<string, unknown>>;
  verifyCode: number | null;
  auditSaid: string;
}> => {
  const world = await startWorld('A', Number(values.sites));
  try {
    const dir = join(home, 'crawl');
    const seedFile = join(home, 'seeds.txt');
    writeFileSync(seedFile, world.seeds.join('\n'));
    const port = await freePort();
    const run = startBinary(
      [
        'crawl',
        seedFile,
        '--dir',
        dir,
        '--email',
        'endurance@example.org',
        '--json',
        '--delay',
        '0',
        '--concurrency',
        String(CRAWL_SLOTS),
        '--max-duration',
        `${durationMs}ms`,
        '--metrics',
        String(port),
        ...world.connectTo.flatMap((rule) => ['--connect-to', rule]),
        ...values.flags.split(' ').filter(Boolean),
      ],
      { deadlineMs: durationMs + MORE_MS },
    );
    const scraping = scrapeEvery(port, SCRAPE_MS);
    const outside: [number, number][] = [];
    const startedAt = performance.now();
    const looking = setInterval(() => {
      try {
        outside.push([performance.now() - startedAt, descriptorsOf(run.pid)]);
      } catch {
        // it is ending
      }
    }, SCRAPE_MS);
    const telling = setInterval(() => {
      const last = scraping.scrapes.at(-1);
      if (last)
        console.error(
          `${Math.round(last.atMs / 1000)} s: ${last.metrics.sum('gossamer_pages_total').toLocaleString('en')} settled, ${Math.round(last.metrics.sum('gossamer_resident_memory_bytes') / MIB)} MiB, ${last.metrics.sum('gossamer_open_descriptors')} descriptors`,
        );
    }, 60_000);
    const { code, stdout, stderr } = await run.ended;
    scraping.stop();
    clearInterval(looking);
    clearInterval(telling);
    if (stderr !== '') console.error(stderr);
    if (code !== 0) throw new Error(`the crawl ended with ${code ?? 'a signal'}: ${stdout.slice(-2_000)}`);
    const verified = await runBinary(['verify', dir], { deadlineMs: VERIFY_MS });
    const audited = await runBinary(['audit', dir], { deadlineMs: VERIFY_MS });
    return {
      looks: scraping.scrapes,
      outside,
      verifyCode: verified.code,
      auditSaid: `${audited.stdout.trim().split('\n').at(-1) ?? ''} (exit code ${audited.code})`,
      end: JSON.parse(stdout.trim().split('\n').at(-1)!) as Readonly<Record<string, unknown>>,
    };
  } finally {
    await endWorld(world);
  }
};

const steady = (looks: readonly Looked[]): readonly Looked[] =>
  looks.filter(({ atMs }) => atMs > RAMP_MS && atMs < durationMs);
const whole = (n: number): string => Math.round(n).toLocaleString('en');

const { looks, outside, end, verifyCode, auditSaid } = await crawl();
const figures: readonly (readonly [what: string, pick: (metrics: Scraped) => number])[] = [
  ['resident memory, MiB', (metrics) => metrics.sum('gossamer_resident_memory_bytes') / MIB],
  ['JavaScript heaps of all threads, MiB', (metrics) => metrics.sum('gossamer_heap_bytes') / MIB],
  ['open descriptors', (metrics) => metrics.sum('gossamer_open_descriptors')],
  ['pages per second', (metrics) => metrics.sum('gossamer_pages_per_second')],
  ['visits that wait for a parser', (metrics) => metrics.sum('gossamer_visits_waiting_for_parser')],
];
const table = figures.map(([what, pick]) => {
  const { first, last } = thirds(steady(looks).map(({ metrics }) => pick(metrics)));
  return {
    what,
    first: median(first),
    last: median(last),
    most: Math.max(...steady(looks).map(({ metrics }) => pick(metrics))),
    mostFirst: Math.max(...first),
    mostLast: Math.max(...last),
  };
});
const [memory, , descriptors] = table as [(typeof table)[number], (typeof table)[number], (typeof table)[number]];
const checks = [
  {
    what: `memory is flat: median ${whole(memory.first)} MiB in the first third, ${whole(memory.last)} in the last`,
    holds: memory.last <= memory.first * MEMORY_MORE,
  },
  {
    what: `descriptors are flat: at most ${whole(descriptors.mostFirst)} in the first third, ${whole(descriptors.mostLast)} in the last`,
    holds: descriptors.mostLast <= descriptors.mostFirst * DESCRIPTORS_MORE,
  },
  { what: `gossamer verify is clean (exit code ${verifyCode})`, holds: verifyCode === 0 },
  { what: `gossamer audit: ${auditSaid}`, holds: /0 violations/.test(auditSaid) },
];
const head =
  `A crawl of the small web (text-heavy pages of 58 KB) at full speed for ${values.minutes} minutes, ${CRAWL_SLOTS} concurrent visits, everything on, metrics read every 5 s; ${availableParallelism()} cores, which the small web shares, Node ${process.version}. ` +
  `${whole(Number(end.pages))} pages were fetched.`;
const text = [
  head,
  '',
  '| what | first third, median | last third, median | most |',
  '| --- | --- | --- | --- |',
  ...table.map(({ what, first, last, most }) => `| ${what} | ${whole(first)} | ${whole(last)} | ${whole(most)} |`),
  '',
  ...checks.map(({ what, holds }) => `* ${holds ? 'ok' : '**failed**'}: ${what}`),
].join('\n');
console.log(text);

const minutes = (ms: number): number => ms / 60_000;
const series = (pick: (metrics: Scraped) => number): [number, number][] =>
  looks.filter(({ atMs }) => atMs < durationMs).map(({ atMs, metrics }) => [minutes(atMs), pick(metrics)]);
const PLOTS: Readonly<Record<string, Plot>> = {
  'endurance-memory': {
    title: 'Memory, from the metrics',
    xUnit: 'minutes',
    yUnit: 'MiB',
    series: [
      { name: 'resident', points: series((metrics) => metrics.sum('gossamer_resident_memory_bytes') / MIB) },
      { name: 'heaps', points: series((metrics) => metrics.sum('gossamer_heap_bytes') / MIB) },
    ],
  },
  'endurance-descriptors': {
    title: 'Open descriptors, from the metrics and from the system',
    xUnit: 'minutes',
    yUnit: 'count',
    series: [
      { name: 'by the metrics', points: series((metrics) => metrics.sum('gossamer_open_descriptors')) },
      { name: 'http', points: series((metrics) => metrics.sum('gossamer_open_descriptors', { kind: 'http' })) },
      {
        name: 'by the system',
        points: outside.filter(([atMs]) => atMs < durationMs).map(([atMs, n]) => [minutes(atMs), n]),
      },
    ],
  },
  'endurance-pages': {
    title: 'Pages per second',
    xUnit: 'minutes',
    yUnit: '1/s',
    series: [{ name: 'pages', points: series((metrics) => metrics.sum('gossamer_pages_per_second')) }],
  },
};

if (values.write) {
  writeFigures('endurance.md', text);
  writePlots(PLOTS);
}
process.exitCode = checks.every(({ holds }) => holds) ? 0 : 1;

/**
 * `npm run bench -- observe`: what it costs to see what a crawl does.
 *
 * One crawl with everything on (metrics, scraped every 5 s; ledger; log in a file) and with everything off, in
 * turn; the ratio of each pair is what counts. `--against DIR` adds another checkout of the program, such as one from
 * before there were metrics: some counting is never off.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../tests/support/free-port.ts';
import { scrapeEvery } from './scrape.ts';
import {
  BENCH_SITES,
  CRAWL_SLOTS,
  crawlWorld,
  endWorld,
  fixed,
  median,
  pagesPerSecond,
  path,
  perPage,
  startWorld,
  type Used,
  type World,
} from './whole-crawl.ts';

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    pages: { type: 'string', default: '20000' },
    sites: { type: 'string', default: String(BENCH_SITES) },
    rounds: { type: 'string', default: '5' },
    against: { type: 'string' },
    flags: { type: 'string', default: '' },
  },
});
const PAGES = Number(values.pages);
const ROUNDS = Number(values.rounds);
const SCRAPE_MS = 5_000;
const home = mkdtempSync(join(tmpdir(), 'gossamer-observe-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

interface Case {
  readonly name: string;
  readonly flags: readonly string[];
  readonly metrics: boolean;
  readonly program?: string;
}

const CASES: readonly Case[] = [
  { name: 'everything off', flags: ['--ledger', 'off'], metrics: false },
  { name: 'ledger on', flags: ['--ledger', 'on'], metrics: false },
  {
    name: 'ledger, metrics and log on',
    flags: ['--ledger', 'on', '--log-file', join(home, 'gossamer.log')],
    metrics: true,
  },
  ...(values.against === undefined
    ? []
    : [
        {
          name: 'the other checkout',
          flags: [],
          metrics: false,
          program: join(resolve(values.against), 'bin/gossamer.js'),
        },
      ]),
];

const measure = async (world: World, { flags, metrics, program = path('../bin/gossamer.js') }: Case): Promise<Used> => {
  const port = metrics ? await freePort() : null;
  const scraping = port === null ? null : scrapeEvery(port, SCRAPE_MS);
  try {
    const used = await crawlWorld(world, {
      home,
      pages: PAGES,
      program,
      flags: [
        ...values.flags.split(' ').filter(Boolean),
        ...flags,
        ...(port === null ? [] : ['--metrics', String(port)]),
      ],
    });
    if (scraping && scraping.scrapes.length === 0)
      throw new Error('the metrics were never read: the crawl is too short');
    return used;
  } finally {
    scraping?.stop();
  }
};

console.log(
  `${PAGES} pages (workload A) on ${values.sites} sites, ${CRAWL_SLOTS} concurrent visits, ${availableParallelism()} cores, Node ${process.version}, ${ROUNDS} rounds; medians\n`,
);
const world = await startWorld('A', Number(values.sites));
const used = new Map<string, Used[]>(CASES.map(({ name }) => [name, []]));
try {
  for (let round = 0; round < ROUNDS; round++) {
    // Each goes first in turn: what the machine does meanwhile must not always meet the same one.
    for (let at = 0; at < CASES.length; at++) {
      const one = CASES[(round + at) % CASES.length]!;
      used.get(one.name)!.push(await measure(world, one));
    }
    console.error(`round ${round + 1} of ${ROUNDS}`);
  }
} finally {
  await endWorld(world);
}
const off = used.get(CASES[0]!.name)!;
console.log('| what | CPU ms / page | against everything off, of each round | pages / s |\n| --- | --- | --- | --- |');
for (const [name, runs] of used) {
  const ratios = runs.map((run, round) => perPage(run) / perPage(off[round]!));
  console.log(
    `| ${name} | ${fixed(median(runs.map(perPage)), 3)} | ${fixed(median(ratios), 3)} (${ratios.map((one) => fixed(one, 3)).join(', ')}) | ${fixed(median(runs.map(pagesPerSecond)), 0)} |`,
  );
}

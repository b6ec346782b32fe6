/**
 * `npm run bench`: what a page costs, against the floor, on the small web of this machine.
 *
 * CPU is user + system of the whole process, all threads. Runs alternate, and the ratio of each pair
 * is what counts: the machine may be shared. `-- --threads 1+0,1+1` compares thread counts (fetchers + parsers)
 * instead, `-- stores` the stores (stores.ts), `-- claims` how long a claim takes on each (claims.ts), `-- observe` what
 * metrics, ledger and log cost (observe.ts).
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openSqliteReader } from '../src/store/sqlite/reader.ts';
import {
  CRAWL_SLOTS,
  crawlDir,
  crawlWorld,
  endWorld,
  fixed,
  measured,
  median,
  pagesPerSecond,
  path,
  perPage,
  startWorld,
  type Used,
  type World,
} from './whole-crawl.ts';

const word = process.argv[2];
if (word === 'stores' || word === 'claims' || word === 'observe') {
  await import(`./${word}.ts`);
  process.exit(0);
}
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
const temporary = mkdtempSync(join(tmpdir(), 'gossamer-bench-'));
process.on('exit', () => rmSync(temporary, { recursive: true, force: true }));

const crawl = async (world: World, list: string, more: readonly string[] = []): Promise<Used> => {
  const used = await crawlWorld(world, {
    home: temporary,
    pages: PAGES,
    flags: [...values.flags.split(' ').filter(Boolean), ...more],
  });
  const reader = openSqliteReader(join(crawlDir(temporary), 'crawl.db'));
  const urls: string[] = [];
  for (const page of reader.pages({ outcome: 'fetched' })) urls.push(page.url);
  reader.close();
  writeFileSync(list, urls.join('\n'));
  return used;
};

const floor = async (world: World, list: string, mode: 'links' | 'records'): Promise<Used> => {
  const used = await measured(temporary, [path('./floor.ts'), list, String(CRAWL_SLOTS), mode, ...world.connectTo]);
  const { pages, wallMs } = JSON.parse(used.out) as { pages: number; wallMs: number };
  return { ...used, pages, wallMs };
};

console.log(
  `${PAGES} pages of 60 KB on ${values.sites} sites, ${CRAWL_SLOTS} concurrent visits, ${availableParallelism()} cores, Node ${process.version}, ${ROUNDS} rounds; medians\n`,
);
/** Every count in turn, as often as there are rounds. */
const compareThreads = async (counts: readonly string[]): Promise<void> => {
  const world = await startWorld({ scheme: 'http', sites: values.sites, pages: PAGES });
  const used = new Map<string, Used[]>(counts.map((count) => [count, []]));
  for (let i = 0; i < ROUNDS; i++) {
    for (const count of counts) {
      const [fetchers, parsers] = count.split('+') as [string, string];
      used
        .get(count)!
        .push(await crawl(world, join(temporary, 'urls.txt'), ['--fetchers', fetchers, '--parsers', parsers]));
    }
  }
  console.log('| fetchers + parsers | CPU ms / page | pages / s | peak memory MiB |\n| --- | --- | --- | --- |');
  for (const [count, runs] of used) {
    console.log(
      `| ${count.replace('+', ' + ')} | ${fixed(median(runs.map(perPage)))} | ${fixed(median(runs.map(pagesPerSecond)), 0)} | ` +
        `${fixed(median(runs.map((one) => one.peakBytes)) / 1024 ** 2, 0)} |`,
    );
  }
  await endWorld(world);
};

if (values.threads !== '') {
  await compareThreads(values.threads.split(','));
  process.exit(0);
}
console.log(
  '| scheme | what | CPU ms / page | ratio to the floor | pages / s | peak memory MiB |\n| --- | --- | --- | --- | --- | --- |',
);
const threadLines: string[] = [];
for (const scheme of values.schemes.split(',')) {
  const world = await startWorld({ scheme, sites: values.sites, pages: PAGES });
  const list = join(temporary, 'urls.txt');
  const rounds: { crawl: Used; floor: Used; records: Used }[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const crawled = await crawl(world, list);
    rounds.push({
      crawl: crawled,
      floor: await floor(world, list, 'links'),
      records: await floor(world, list, 'records'),
    });
  }
  for (const what of ['floor', 'records', 'crawl'] as const) {
    const used = rounds.map((round) => round[what]);
    console.log(
      `| ${scheme} | ${{ floor: 'the floor', records: 'the floor, with archive records', crawl: 'the whole crawl' }[what]} | ${fixed(median(used.map(perPage)))} | ` +
        `${fixed(median(rounds.map((round) => perPage(round[what]) / perPage(round.floor))))} | ${fixed(median(used.map(pagesPerSecond)), 0)} | ${fixed(median(used.map((one) => one.peakBytes)) / 1024 ** 2, 0)} |`,
    );
  }
  const last = rounds.at(-1)!.crawl;
  threadLines.push(
    `${scheme}, CPU ms per page by thread: ${[...last.threads]
      .sort(([, a], [, b]) => b - a)
      .filter(([, ms]) => ms / last.pages >= 0.01)
      .map(([name, ms]) => `${name} ${fixed(ms / last.pages)}`)
      .join(', ')}`,
  );
  await endWorld(world);
}
console.log(`\n${threadLines.join('\n')}`);

/** A real crawl with the real binary on the small web, judged by what the small web saw. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeCount } from '../src/lib/units.ts';
import { demoPlan } from '../src/world/presets.ts';
import { serveWorld } from '../src/world/serve.ts';
import { createWorld } from '../src/world/world.ts';

const DELAY_MS = 150;
const DIR = './demo-crawl';
const GOSSAMER = fileURLToPath(new URL('../bin/gossamer.js', import.meta.url));

/** Only a folder that an earlier demo made is removed. */
if (existsSync(join(DIR, 'crawl.json'))) rmSync(DIR, { recursive: true });

const world = createWorld(demoPlan);
const served = await serveWorld(world);
const temporary = mkdtempSync(join(tmpdir(), 'gossamer-demo-'));
const seedFile = join(temporary, 'seeds.txt');
writeFileSync(
  seedFile,
  world
    .seeds()
    .map((seed) => `${seed}\n`)
    .join(''),
);

console.log(
  `A small web of ${writeCount(world.sites.length)} sites is served on this machine. Now it is crawled, as you would crawl the large one:\n`,
);
console.log(
  `  gossamer crawl ${relative('.', seedFile)} --email demo@example.org --dir ${DIR} --delay ${DELAY_MS}ms ...\n`,
);

const child = spawn(
  process.execPath,
  [
    GOSSAMER,
    'crawl',
    seedFile,
    '--email',
    'demo@example.org',
    '--dir',
    DIR,
    '--delay',
    `${DELAY_MS}ms`,
    '--timeout',
    '3s',
    '--trouble-delay',
    '500ms',
    '--park-after',
    '4',
    '--disk-reserve',
    '100MiB',
    ...served.connectTo.flatMap((rule) => ['--connect-to', rule]),
  ],
  { stdio: 'inherit' },
);
process.on('SIGINT', () => {}); // the crawl gets it too, stops in order, and then we end
const [code] = (await once(child, 'exit')) as [number | null];
rmSync(temporary, { recursive: true });
await served.close();

if (code !== 0) {
  console.log(`\nThe crawl ended with exit code ${code}.`);
  process.exit(code ?? 1);
}

const report = served.record.report({ delayMs: DELAY_MS });
const faults = {
  'reachable pages never fetched': report.missing.length,
  'pages fetched twice': report.twice.length,
  'visits too early': report.tooEarly.length,
  'visits that overlapped': report.overlaps.length,
  'forbidden pages fetched': report.forbidden.length,
  'pages asked for before robots.txt': report.beforeRobots.length,
  'pages that no right crawl finds': report.unexpected.length,
};
console.log(
  `\nWhat the small web saw: ${writeCount(report.requests)} requests to ${writeCount(report.sites)} sites, ${writeCount(report.pages)} different pages.`,
);
for (const [what, n] of Object.entries(faults)) console.log(`  ${n === 0 ? '✔' : '✘'} ${what}: ${n}`);
console.log(`\nLook at it yourself:
  npm run gossamer -- status ${DIR}
  npm run gossamer -- pages ${DIR} --limit 20
  npm run gossamer -- pages ${DIR} --outcome robots-denied --limit 5
  zcat ${DIR}/warc/*.warc.gz | less`);
if (Object.values(faults).some((n) => n > 0)) {
  if (process.env.GOSSAMER_DEBUG)
    console.log(
      JSON.stringify(
        { ...report, tooEarly: report.tooEarly.slice(0, 5), missing: report.missing.slice(0, 20) },
        null,
        1,
      ),
    );
  process.exit(1);
}

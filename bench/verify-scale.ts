/**
 * How long does a check of a large crawl take, and does its memory stay the same? `node bench/verify-scale.ts [pages]
 * [KiB of a body]`.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FILE_BYTES_MAX } from '../src/archive/files.ts';
import { writeBytes, writeCount, writeDuration } from '../src/lib/units.ts';
import { makeCrawl } from '../tests/support/made-crawl.ts';

const SITES = 10_000;
const MIB = 1024 ** 2;

const pages = Number(process.argv[2] ?? 1_000_000);
const bodyKib = Number(process.argv[3] ?? 0);
/** Words of which a text as long as a page packs to about a third. */
const pad = Array.from({ length: (bodyKib * 1024) / 8 }, (_, n) =>
  `${(Math.imul(n % 997, 2_654_435_761) >>> 0).toString(36)} `.padStart(8, 'a'),
).join('');
const home = mkdtempSync(join(tmpdir(), 'gossamer-verify-scale-'));
const dir = join(home, 'crawl');
const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

try {
  const madeAt = performance.now();
  await makeCrawl({ dir, sites: SITES, pages, waiting: pages / 2, keep: 'all', fileBytesMax: FILE_BYTES_MAX, pad });
  const archive = readdirSync(join(dir, 'warc')).reduce((sum, name) => sum + statSync(join(dir, 'warc', name)).size, 0);
  console.log(
    `made ${writeCount(pages)} pages on ${writeCount(SITES)} sites in ${writeDuration(performance.now() - madeAt)}: ` +
      `crawl.db ${writeBytes(statSync(join(dir, 'crawl.db')).size)}, archive ${writeBytes(archive)}`,
  );
  const usage = join(home, 'usage.json');
  const startedAt = performance.now();
  const { status } = spawnSync(
    process.execPath,
    ['--import', pathOf('usage.ts'), pathOf('../bin/gossamer.js'), 'verify', dir],
    { stdio: 'inherit', env: { ...process.env, GOSSAMER_USAGE: usage } },
  );
  const { cpuMs, peakBytes } = JSON.parse(readFileSync(usage, 'utf8')) as { cpuMs: number; peakBytes: number };
  console.log(
    `exit code ${status}, ${writeDuration(performance.now() - startedAt)}, CPU ${writeDuration(cpuMs)}, peak memory ${Math.round(peakBytes / MIB)} MiB`,
  );
} finally {
  rmSync(home, { recursive: true });
}

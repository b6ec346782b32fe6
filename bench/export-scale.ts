/**
 * How long does the export of a large crawl take, and does its memory stay the same? `node bench/export-scale.ts
 * [pages] [links of a page]`.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FILE_BYTES_MAX } from '../src/archive/files.ts';
import { writeBytes, writeCount, writeDuration } from '../src/lib/units.ts';
import { makeCrawl } from '../tests/support/made-crawl.ts';

const SITES = 10_000;
const MIB = 1024 ** 2;

const pages = Number(process.argv[2] ?? 1_000_000);
const links = Number(process.argv[3] ?? 20);
const home = mkdtempSync(join(tmpdir(), 'gossamer-export-scale-'));
const dir = join(home, 'crawl');
const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

const WAYS: readonly (readonly string[])[] = [
  ['--format', 'parquet'],
  ['--format', 'jsonl'],
  ['--format', 'csv'],
  ['--format', 'cdxj'],
  ['--format', 'parquet', '--links'],
];

try {
  const madeAt = performance.now();
  await makeCrawl({ dir, sites: SITES, pages, waiting: 0, keep: 'all', fileBytesMax: FILE_BYTES_MAX, links });
  console.log(
    `made ${writeCount(pages)} pages with ${links} links each in ${writeDuration(performance.now() - madeAt)}`,
  );
  for (const words of WAYS) {
    const usage = join(home, 'usage.json');
    const out = join(home, 'out');
    const startedAt = performance.now();
    const { status } = spawnSync(
      process.execPath,
      ['--import', pathOf('usage.ts'), pathOf('../bin/gossamer.js'), 'export', dir, ...words, '--out', out, '--force'],
      { stdio: ['ignore', 'ignore', 'ignore'], env: { ...process.env, GOSSAMER_USAGE: usage } },
    );
    const { cpuMs, peakBytes } = JSON.parse(readFileSync(usage, 'utf8')) as { cpuMs: number; peakBytes: number };
    console.log(
      `${words.join(' ')}: exit code ${status}, ${writeDuration(performance.now() - startedAt)}, CPU ${writeDuration(cpuMs)}, ` +
        `peak memory ${Math.round(peakBytes / MIB)} MiB, file ${writeBytes(statSync(out).size)}`,
    );
  }
} finally {
  rmSync(home, { recursive: true });
}

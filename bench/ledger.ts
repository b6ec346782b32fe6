/**
 * `node bench/ledger.ts [--requests 1000000] [--sites 100000]`: what a note costs, what it takes on disk, and what an
 * audit of so many requests takes. The URLs are made of random words, which pack worse than those of the web.
 */

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeIdentity } from '../src/folder/folder.ts';
import { writeCount } from '../src/lib/units.ts';
import { completeSettings } from '../src/model/read-settings.ts';
import { openLedger } from '../src/ledger/writer.ts';
import { robotsDigest } from '../src/politeness/robots-digest.ts';
import { diceFor } from '../src/world/random.ts';
import { measured, path } from './whole-crawl.ts';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '1000000' }, sites: { type: 'string', default: '100000' } },
});
const REQUESTS = Number(values.requests);
const SITES = Number(values.sites);
const VOCABULARY = 3_000;
/** Requests made ready at a time, so that making them is not measured. */
const BATCH = 10_000;
/** Requests under way at a time. */
const UNDER_WAY = 200;
/** A robots.txt of common size. */
const RULES = {
  verdict: 'rules',
  rules: Array.from({ length: 12 }, (_, n) => `${n + 2}-/directory-${n}/`).join('\n'),
  crawlDelayMs: null,
} as const;

const dir = mkdtempSync(join(tmpdir(), 'gossamer-bench-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
const dice = diceFor(1);
const letters = (count: number): string =>
  Array.from({ length: count }, () => String.fromCharCode(97 + dice(26))).join('');
const words = Array.from({ length: VOCABULARY }, () => letters(3 + dice(8)));
const word = (): string => words[dice(VOCABULARY)]!;
const sites = Array.from({ length: SITES }, (_, n) => ({
  site: `${word()}${n}.${['com', 'org', 'net', 'de'][n % 4]}`,
  address: `198.${dice(255)}.${dice(255)}.${dice(255)}`,
}));

const DELAY_MS = 1_000;
const settings = completeSettings({ email: 'bench@example.org', delayMs: DELAY_MS, keep: 'none' }, 2);
writeIdentity(dir, settings);
let now = Date.UTC(2026, 0, 1);
const ledger = openLedger({
  dir: join(dir, 'ledger'),
  now: () => now,
  thread: 'fetch-1',
  head: {
    version: 'bench',
    userAgent: 'Gossamer/bench',
    productToken: 'gossamer',
    delayMs: DELAY_MS,
    timeoutMs: 30_000,
    keep: 'none',
  },
});

let notedMs = 0;
const cpuBefore = process.cpuUsage();
let madeUs = 0;
for (let from = 0; from < REQUESTS; from += BATCH) {
  const before = process.cpuUsage();
  const batch = Array.from({ length: Math.min(BATCH, REQUESTS - from) }, (_, i) => {
    const one = sites[(from + i) % SITES]!;
    const isFirst = from + i < SITES;
    const name = isFirst ? 'robots.txt' : `${word()}/${word()}-${word()}-${word()}/${dice(100_000)}.html`;
    return {
      ...one,
      kind: isFirst ? ('robots' as const) : ('page' as const),
      url: `https://www.${one.site}/${name}`,
      restMs: dice(3) === 0 ? DELAY_MS + dice(3_000) : DELAY_MS,
      tookMs: 20 + dice(600),
      answeredMs: 10 + dice(300),
    };
  });
  const made = process.cpuUsage(before);
  madeUs += made.user + made.system;
  const begun = performance.now();
  for (const [i, { site, address, kind, url, restMs, tookMs, answeredMs }] of batch.entries()) {
    now += (DELAY_MS * 4) / SITES + (i % 2);
    const at = Math.floor(now);
    const number = ledger.sending({
      at,
      lease: from + i,
      kind,
      delayMs: DELAY_MS,
      restMs,
      rules: robotsDigest(RULES),
      address,
      site,
      url,
    });
    if (number >= UNDER_WAY) ledger.ended({ number: number - UNDER_WAY, tookMs, answeredMs, result: '200' });
  }
  notedMs += performance.now() - begun;
  await new Promise((resolve) => setImmediate(resolve));
}
await ledger.close();
const { user, system } = process.cpuUsage(cpuBefore);
const bytes = readdirSync(join(dir, 'ledger')).reduce((sum, name) => sum + statSync(join(dir, 'ledger', name)).size, 0);
console.log(`${writeCount(REQUESTS)} requests to ${writeCount(SITES)} sites, Node ${process.version}`);
console.log(
  `a note (request, digest of its rules, end): ${((notedMs * 1e6) / REQUESTS).toFixed(0)} ns in the fetch thread; ${((user + system - madeUs) / REQUESTS).toFixed(1)} us of CPU with packing`,
);
console.log(
  `on disk: ${(bytes / REQUESTS).toFixed(1)} bytes a request packed, ${(((bytes / REQUESTS) * 1e6) / 1024 ** 2).toFixed(0)} MiB per million requests`,
);

const audit = await measured(dir, [path('../bin/gossamer.js'), 'audit', dir]);
console.log(
  `audit: ${(audit.wallMs / 1000).toFixed(1)} s, ${((audit.cpuMs * 1000) / REQUESTS).toFixed(1)} us of CPU a request, peak of memory ${(audit.peakBytes / 1024 ** 2).toFixed(0)} MiB; ${audit.out.trim().split('\n').at(-1)}`,
);

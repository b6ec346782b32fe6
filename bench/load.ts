/**
 * `node bench/load.ts [--minutes 10] [--visits 2000] [--timeout 10] [--write]`: many visits at once, among bad servers.
 *
 * The real binary crawls a bad web on loopback while it is looked at from outside. Ends with exit code 1 when a
 * check fails. With --write the table goes into docs/load.md and the plots into docs/plots.
 */

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runBinary, startBinary } from '../tests/support/binary.ts';
import { writeFigures, writePlots } from './figures-page.ts';
import { checksOf, plotsOf, tableOf, type LoadRun } from './load-report.ts';
import { readTold, sampleProcess } from './load-samples.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    visits: { type: 'string', default: '2000' },
    /** Enough that sites are always due when a slot is free. */
    hosts: { type: 'string' },
    /** Seconds. */
    timeout: { type: 'string', default: '10' },
    flags: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    /** Another folder for the plots; without it and --write there are none. */
    plots: { type: 'string' },
  },
});
const visits = Number(values.visits);
const hosts = Number(values.hosts ?? 3 * visits);
const timeoutMs = Number(values.timeout) * 1000;
const durationMs = Number(values.minutes) * 60_000;
/** Slow redirects of the bad web: a chain of them comes close to the longest visit that there can be. */
const STALL_SHARE = 0.9;
/** Opening, ending the last visits, and a check of every record: a run that needs longer hangs, and is killed. */
const MORE_MS = 120_000;
const VERIFY_MS = 600_000;
/** The bad web hears of the last closed connections a moment later. */
const AFTER_MS = 500;

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'gossamer-load-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));

interface BadWeb {
  readonly connectTo: readonly string[];
  readonly seeds: readonly string[];
}

const startWeb = async (): Promise<BadWeb & { child: ChildProcess }> => {
  const child = fork(path('./load-world.ts'), [String(hosts), String(timeoutMs * STALL_SHARE)]);
  const [web] = (await once(child, 'message')) as [BadWeb];
  return { ...web, child };
};

const openAt = async (child: ChildProcess): Promise<number> => {
  child.send('sockets');
  const [open] = (await once(child, 'message')) as [number];
  return open;
};

const crawl = async (): Promise<LoadRun> => {
  const web = await startWeb();
  try {
    const dir = join(home, 'crawl');
    const seedFile = join(home, 'seeds.txt');
    writeFileSync(seedFile, web.seeds.join('\n'));
    const run = startBinary(
      [
        'crawl',
        seedFile,
        '--dir',
        dir,
        '--email',
        'load@example.org',
        '--json',
        '--fetchers',
        '1',
        '--concurrency',
        String(visits),
        '--timeout',
        `${timeoutMs}ms`,
        '--max-duration',
        `${durationMs}ms`,
        // Bad sites are visited again at once, as often as they fail: the load must not thin out.
        '--delay',
        '0',
        '--trouble-delay',
        '0',
        '--park-after',
        '1000000000',
        ...web.connectTo.flatMap((rule) => ['--connect-to', rule]),
        ...values.flags.split(' ').filter(Boolean),
      ],
      { deadlineMs: durationMs + 8 * timeoutMs + MORE_MS },
    );
    const sampling = sampleProcess(run.pid);
    const { code, stdout, stderr } = await run.ended;
    sampling.stop();
    if (stderr !== '') console.error(stderr);
    if (code !== 0) throw new Error(`the crawl ended with ${code ?? 'a signal'}: ${stdout.slice(-2_000)}`);
    await new Promise((resolve) => setTimeout(resolve, AFTER_MS));
    const leftOpen = await openAt(web.child);
    const verified = await runBinary(['verify', dir], { deadlineMs: VERIFY_MS });
    if (verified.code !== 0) console.error(verified.stdout, verified.stderr);
    return {
      visits,
      hosts,
      timeoutMs,
      durationMs,
      samples: sampling.samples,
      told: readTold(stdout),
      verifyCode: verified.code,
      leftOpen,
    };
  } finally {
    web.child.disconnect();
    await once(web.child, 'exit');
  }
};

const run = await crawl();
const head =
  `${visits.toLocaleString('en')} concurrent visits for ${values.minutes} minutes on ${hosts.toLocaleString('en')} hosts and those found later, half of them bad; ` +
  `--timeout ${values.timeout}s, one fetch thread, ${availableParallelism()} cores, which the servers share, Node ${process.version}:`;
const text = `${head}\n\n${tableOf(run)}`;
console.log(text);
if (values.write) writeFigures('load.md', text);
if (values.write || values.plots) writePlots(plotsOf(run), values.plots);
process.exitCode = checksOf(run).every(({ holds }) => holds) ? 0 : 1;

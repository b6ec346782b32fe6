/**
 * The failure table: `npm run chaos -- --store redis|redis-cluster|redis-sentinel|postgres|postgres-hosts
 * [--row NAME...] [--seconds N] [--hits N] [--seed S]` crawls a small web with three members, hits one of them or the
 * store, and judges by the web's own log.
 *
 * As root on Linux it starts itself again in namespaces of its own, where every member has a network that can be cut;
 * otherwise the members are on loopback. Nothing outlives it.
 */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { endBinaries } from '../support/binary.ts';
import { inNamespaces, onLoopback } from '../support/chaos-network.ts';
import { POSTGRES_PACKAGES } from '../support/chaos-postgres.ts';
import { ROWS } from '../support/chaos-rows.ts';
import { CHAOS_STORES, notHere, runRow, type ChaosOptions, type RowResult } from '../support/chaos-run.ts';
import { reportOf, summaryOf, violationsOf } from '../support/chaos-table.ts';
import { unpackDebian } from '../support/debian-packages.ts';
import { redisProgram } from '../support/redis-server.ts';

const refuse = (sentence: string): never => {
  console.error(`chaos: ${sentence}`);
  process.exit(2);
};

const listOfRows = (): string =>
  Object.entries(ROWS)
    .map(([name, { about }]) => `  ${name.padEnd(15)} ${about}`)
    .join('\n');

const read = (): ChaosOptions & { readonly loopback: boolean } => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      store: { type: 'string', default: '' },
      row: { type: 'string', multiple: true, default: [] },
      seconds: { type: 'string' },
      seed: { type: 'string' },
      sites: { type: 'string', default: '300' },
      hits: { type: 'string', default: '1' },
      keep: { type: 'boolean', default: false },
      loopback: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(`--store ${Object.keys(CHAOS_STORES).join('|')}, and any of these rows:\n${listOfRows()}`);
    process.exit(0);
  }
  const numberOf = (name: 'seconds' | 'seed' | 'sites' | 'hits', most: number): number => {
    const number = Number(values[name]);
    return Number.isInteger(number) && number >= 1 && number <= most
      ? number
      : refuse(`--${name} is a whole number from 1 to ${most}`);
  };
  if (!Object.hasOwn(CHAOS_STORES, values.store)) refuse(`--store is one of ${Object.keys(CHAOS_STORES).join(', ')}`);
  const rows = [...values.row, ...positionals];
  const unknown = rows.find((row) => !Object.hasOwn(ROWS, row));
  if (unknown !== undefined) refuse(`there is no row "${unknown}": choose among\n${listOfRows()}`);
  return {
    store: values.store,
    rows: rows.length > 0 ? rows : Object.keys(ROWS),
    seconds: values.seconds === undefined ? null : numberOf('seconds', 3_600),
    seed: values.seed === undefined ? Date.now() % 1_000_000 : numberOf('seed', 2 ** 31),
    sites: numberOf('sites', 5_000),
    hits: numberOf('hits', 100),
    home: '',
    keep: values.keep,
    loopback: values.loopback,
  };
};

/** With a namespace for processes, nothing outlives the run, whatever ends it. */
const NAMESPACES = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
const INSIDE = 'GOSSAMER_CHAOS_INSIDE';

const canSeparate = (): boolean =>
  process.getuid?.() === 0 &&
  spawnSync('unshare', [...NAMESPACES, 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' }).status === 0;

/** Runs the rows; the exit code. */
const inside = async (options: ChaosOptions, isSeparate: boolean): Promise<number> => {
  const network = isSeparate ? inNamespaces() : onLoopback();
  const { store, seed, rows } = options;
  console.log(`chaos on ${store}, seed ${seed}, ${network.kind}: ${rows.join(', ')}`);
  const results: RowResult[] = [];
  process.on('exit', endBinaries);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      console.log(`stopped by ${signal}\n${reportOf(results)}`);
      process.exit(1);
    });
  for (const row of rows) {
    const why = notHere(row, store, network);
    if (why !== null) {
      if (rows.length < Object.keys(ROWS).length) console.log(`${row}: left out: ${why}`);
      continue;
    }
    const result = await runRow(row, { network, options, say: (line) => console.log(line) });
    results.push(result);
    console.log(reportOf([result]));
  }
  if (results.length > 1) console.log(`\nchaos on ${store}, seed ${seed}, ${network.kind}\n${summaryOf(results)}`);
  return violationsOf(results) > 0 ? 1 : 0;
};

const outside = async (options: ChaosOptions, loopback: boolean): Promise<number> => {
  // What is missing is brought here: inside there is no way out to the internet.
  if (options.store.startsWith('postgres')) unpackDebian(POSTGRES_PACKAGES);
  else redisProgram();
  const home = mkdtempSync(join(tmpdir(), 'gossamer-chaos-'));
  chmodSync(home, 0o755); // PostgreSQL runs as another user where we are root
  const isSeparate = !loopback && canSeparate();
  process.on('exit', () => options.keep || rmSync(home, { recursive: true, force: true }));
  if (options.keep) console.log(`what the rows leave is kept in ${home}`);
  if (!isSeparate) return inside({ ...options, home }, false);
  const child = spawn('unshare', [...NAMESPACES, process.execPath, fileURLToPath(import.meta.url)], {
    stdio: 'inherit',
    env: { ...process.env, [INSIDE]: JSON.stringify({ ...options, home }) },
  });
  // Ctrl-C reaches all of the terminal's group; a signal to this process alone ends all that is inside.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGKILL'));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
};

const handed = process.env[INSIDE];
if (handed === undefined) {
  const { loopback, ...options } = read();
  process.exit(await outside(options, loopback));
} else {
  delete process.env[INSIDE];
  process.exit(await inside(JSON.parse(handed) as ChaosOptions, true));
}

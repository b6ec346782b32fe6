/**
 * A PostgreSQL 15 of our own for a test file: on a free port of loopback, in a private folder, gone with the test
 * process.
 */

import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { appendFileSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { unpackDebian, withLibraries } from './debian-packages.ts';
import { freePort } from './free-port.ts';
import { PATIENCE_MS } from './until.ts';

const USER = 'gossamer';
/** With characters that a URL must escape. */
export const PASSWORD = 'p@ss/word';

export interface PostgresServer {
  readonly port: number;
  readonly dir: string;
  /** Makes an empty database and gives its address. */
  database(): Promise<string>;
  /** For looking into a database from outside the store. */
  query(url: string, text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** The log that the server wrote so far. */
  log(): string;
  /** CPU of all its processes since its start, those that ended included. */
  cpuMs(): number;
  /** In order: clients are disconnected, all is written. */
  stop(): Promise<void>;
  /** SIGKILL of the postmaster; its children end by themselves. */
  kill(): Promise<void>;
  /** On the same port and folder, after `stop` or `kill`. */
  restart(): Promise<void>;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

/** PostgreSQL refuses to run as root: then it runs as a user that every Debian has. */
const owner = (): { uid?: number; gid?: number } => {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((entry) => entry.startsWith(`${name}:`));
    if (line) return { uid: Number(line.split(':')[2]), gid: Number(line.split(':')[3]) };
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is no user postgres or nobody: run the tests as another user',
  );
};

/**
 * Without fsync: what a killed server has written is in the system's cache, and no test pulls the plug.
 * `synchronous_commit` stays on. The guard waits for the end of its input, which comes when this process dies, however
 * it dies.
 */
const GUARD = 'exec 3<&0; "$@" & pid=$!; echo $pid; read _ <&3; kill -QUIT $pid; wait $pid';
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  listen_addresses: '127.0.0.1',
  max_connections: '60',
  shared_buffers: '64MB',
  max_wal_size: '2GB',
  autovacuum_naptime: '10s',
};

export interface PostgresOptions {
  /** The new server follows this one, until it is promoted. */
  readonly standbyOf?: PostgresServer;
}

export const startPostgres = async (
  settings: Readonly<Record<string, string>> = {},
  { standbyOf }: PostgresOptions = {},
): Promise<PostgresServer> => {
  const folder = unpackDebian(['postgresql-15']);
  const bin = join(folder, 'usr/lib/postgresql/15/bin');
  const home = mkdtempSync(join(tmpdir(), 'gossamer-postgres-'));
  const as = owner();
  if (as.uid !== undefined) chownSync(home, as.uid, as.gid!);
  const dir = join(home, 'data');
  const passwordFile = join(home, 'password');
  writeFileSync(passwordFile, PASSWORD, { mode: 0o644 });
  if (standbyOf) await copyOf(standbyOf, dir, as);
  else
    execFileSync(
      join(bin, 'initdb'),
      ['-D', dir, '-U', USER, '-E', 'UTF8', '--no-locale', '-N', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`],
      { ...as, cwd: home, env: withLibraries(folder), stdio: ['ignore', 'ignore', 'pipe'] },
    );
  const port = await freePort();
  const url = (database: string): string =>
    `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`;
  let guard: ChildProcess | null = null;
  let postmaster = 0;
  let log = '';
  let databases = 0;

  const query: PostgresServer['query'] = async (to, text, values = []) => {
    const client = new pg.Client({ connectionString: to });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(text, [...values])).rows as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  };

  const start = async (): Promise<void> => {
    const giveUpAt = performance.now() + PATIENCE_MS;
    for (;;) {
      const options = Object.entries({ ...SETTINGS, unix_socket_directories: home, ...settings }).flatMap(
        ([name, value]) => ['-c', `${name}=${value}`],
      );
      const child = spawn(
        '/bin/sh',
        ['-c', GUARD, 'guard', join(bin, 'postgres'), '-D', dir, '-p', String(port), ...options],
        { ...as, cwd: home, env: withLibraries(folder), stdio: ['pipe', 'pipe', 'pipe'] },
      );
      child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
      child.stdin.on('error', () => {});
      [guard, postmaster] = [
        child,
        Number(await new Promise<string>((resolve) => child.stdout.setEncoding('utf8').once('data', resolve))),
      ];
      while (performance.now() < giveUpAt && isAlive(postmaster)) {
        if (
          await query(url('postgres'), 'SELECT 1').then(
            () => true,
            () => false,
          )
        )
          return;
        await sleep(30);
      }
      await ended(child); // the children of a killed server may still be there: once more
      if (performance.now() >= giveUpAt) throw new Error(`PostgreSQL does not start: ${log.slice(-2_000)}`);
      await sleep(50);
    }
  };

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (!guard) return;
    const child = guard;
    guard = null;
    if (isAlive(postmaster)) process.kill(postmaster, signal);
    while (isAlive(postmaster)) await sleep(10);
    await ended(child);
  };

  await start();
  return {
    port,
    dir,
    query,
    log: () => log,
    cpuMs: () => cpuOf(postmaster),
    database: async () => {
      const name = `test_${++databases}`;
      await query(url('postgres'), `CREATE DATABASE ${name}`);
      return url(name);
    },
    stop: () => end('SIGINT'),
    kill: () => end('SIGKILL'),
    restart: async () => {
      await end('SIGINT');
      await start();
    },
    remove: async () => {
      await end('SIGINT');
      rmSync(home, { recursive: true, force: true });
    },
  };
};

/** A copy of a running server, as its manual describes it, that will follow it. */
const copyOf = async ({ port, dir }: PostgresServer, to: string, as: ReturnType<typeof owner>): Promise<void> => {
  const client = new pg.Client({ host: '127.0.0.1', port, user: USER, password: PASSWORD, database: 'postgres' });
  await client.connect();
  try {
    await client.query("SELECT pg_backup_start('standby', true)");
    // Files come and go meanwhile: cp tells of those with its exit code, and the log makes up for them.
    spawnSync('cp', ['-a', dir, to], { stdio: 'ignore' });
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    rmSync(join(to, 'postmaster.pid'), { force: true });
    const follows = `primary_conninfo = 'host=127.0.0.1 port=${port} user=${USER} password=${PASSWORD}'\n`;
    appendFileSync(join(to, 'postgresql.auto.conf'), follows);
    for (const [name, text] of [
      ['backup_label', rows[0]!.labelfile],
      ['standby.signal', ''],
    ] as const) {
      writeFileSync(join(to, name), text);
      if (as.uid !== undefined) chownSync(join(to, name), as.uid, as.gid!);
    }
  } finally {
    await client.end();
  }
};

/** A process that ended and was not yet waited for by its guard is not alive either. */
const isAlive = (pid: number): boolean => !/^\d+ \(.*\) Z/.test(statOf(String(pid)) ?? '0 () Z');

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = new Promise((resolve) => child.once('exit', resolve));
  child.stdin!.end();
  await over;
};

/** The kernel counts CPU in hundredths of a second, wherever Debian runs. */
const TICK_MS = 10;

const cpuOf = (postmaster: number): number => {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    // After the name: state, parent, ... and from the twelfth on user, system, and both of children that ended.
    const fields =
      statOf(pid)
        ?.replace(/^.*\) /, '')
        .split(' ') ?? [];
    if (Number(pid) === postmaster) ticks += [11, 12, 13, 14].reduce((sum, i) => sum + Number(fields[i]), 0);
    else if (Number(fields[1]) === postmaster) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * TICK_MS;
};

const statOf = (pid: string): string | null => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null; // it ended just now
  }
};

/** A PostgreSQL with a streaming replica, behind a door. */

import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { openDoor } from './chaos-door.ts';
import { pause, type ChaosStore, type StorePlace } from './chaos-store.ts';
import { unpackDebian, withLibraries } from './debian-packages.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

export const POSTGRES_PACKAGES = ['postgresql-15'];

/** The children of a killed server take a while to end. */
const START_MS_MAX = 60_000;
const ADMIN = 'admin';
const CRAWLER = 'crawler';
const STREAM = 'stream';
const DATABASE = 'crawls';
const LOOPBACK = '127.0.0.1';

/** Without fsync: what a killed server has written is in the system's cache, and nobody pulls the plug. */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  listen_addresses: LOOPBACK,
  shared_buffers: '64MB',
  wal_keep_size: '1GB',
  wal_retrieve_retry_interval: '200ms',
  autovacuum_naptime: '10s',
};

/** PostgreSQL refuses to run as root: then it runs as a user that every Debian has. */
const owner = (): { uid?: number; gid?: number } => {
  if (process.getuid?.() !== 0) return {};
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => /^(?:postgres|nobody):/.test(entry));
  if (!line) throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody');
  return { uid: Number(line.split(':')[2]), gid: Number(line.split(':')[3]) };
};

interface Server {
  readonly port: number;
  readonly data: string;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** As its superuser. */
  query(text: string, database?: string): Promise<Record<string, unknown>[]>;
}

const running = new Set<ChildProcess>();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

const programs = (): { readonly folder: string; readonly bin: string } => {
  const folder = unpackDebian(POSTGRES_PACKAGES);
  return { folder, bin: join(folder, 'usr/lib/postgresql/15/bin') };
};

const makeServer = async (home: string, data: string, more: Readonly<Record<string, string>>): Promise<Server> => {
  const { folder, bin } = programs();
  const as = owner();
  const port = await freePort();
  let child: ChildProcess | null = null;
  const query: Server['query'] = async (text, database = 'postgres') => {
    const client = new pg.Client({ host: LOOPBACK, port, user: ADMIN, database });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(text)).rows as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  };
  const launch = (): ChildProcess => {
    const options = Object.entries({ ...SETTINGS, unix_socket_directories: home, ...more });
    const log = openSync(`${data}.log`, 'a');
    // The kernel ends the postmaster with this process, and its children then end by themselves.
    const words = ['--pdeathsig', 'KILL', '--', join(bin, 'postgres'), '-D', data, '-p', String(port)];
    const started = spawn('setpriv', [...words, ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`])], {
      ...as,
      cwd: home,
      env: withLibraries(folder),
      stdio: ['ignore', log, log],
    });
    running.add(started);
    started.once('exit', () => running.delete(started));
    return started;
  };
  return {
    port,
    data,
    query,
    start: async () => {
      const giveUpAt = performance.now() + START_MS_MAX;
      for (;;) {
        const started = (child = launch());
        while (started.exitCode === null && started.signalCode === null) {
          if (
            await query('SELECT 1').then(
              () => true,
              () => false,
            )
          )
            return;
          await pause(50);
        }
        // The children of a killed server may still be there: once more.
        if (performance.now() > giveUpAt) throw new Error(`PostgreSQL does not start: see ${data}.log`);
        await pause(100);
      }
    },
    kill: async () => {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
};

/** A primary, and a replica that was copied from it before it first started. */
const startPair = async (place: StorePlace): Promise<{ primary: Server; replica: Server }> => {
  const { folder, bin } = programs();
  const as = owner();
  const home = join(place.dir, 'postgres');
  mkdirSync(home, { recursive: true });
  chmodSync(place.dir, 0o755);
  if (as.uid !== undefined) chownSync(home, as.uid, as.gid!);
  const data = join(home, 'primary');
  const run = { ...as, cwd: home, env: withLibraries(folder), stdio: ['ignore', 'ignore', 'pipe'] as const };
  const words = ['-D', data, '-U', ADMIN, '-E', 'UTF8', '--no-locale', '-N', '-A', 'trust'];
  execFileSync(join(bin, 'initdb'), words, { ...run, stdio: [...run.stdio] });
  const copy = join(home, 'replica');
  execFileSync('cp', ['-a', data, copy], { ...run, stdio: [...run.stdio] });
  const primary = await makeServer(home, data, {});
  await primary.start();
  await primary.query(`CREATE ROLE ${CRAWLER} LOGIN`);
  await primary.query(`CREATE ROLE ${STREAM} LOGIN REPLICATION`);
  await primary.query(`CREATE DATABASE ${DATABASE} OWNER ${CRAWLER}`);
  writeFileSync(join(copy, 'standby.signal'), '');
  if (as.uid !== undefined) chownSync(join(copy, 'standby.signal'), as.uid, as.gid!);
  const replica = await makeServer(home, copy, {
    primary_conninfo: `host=${LOOPBACK} port=${primary.port} user=${STREAM}`,
  });
  await replica.start();
  await until('the replica streams', async () => (await streams(primary)).length === 1);
  return { primary, replica };
};

const streams = (primary: Server): Promise<Record<string, unknown>[]> =>
  primary.query("SELECT pid FROM pg_stat_replication WHERE state = 'streaming'");

/** Several hosts in the URL find the primary by themselves; otherwise there is one door, which is led there. */
export const startPostgresPair = async (place: StorePlace, severalHosts = false): Promise<ChaosStore> => {
  const { primary, replica } = await startPair(place);
  let current = primary;
  const door = await openDoor(place.host, primary.port);
  const doors = [door, ...(severalHosts ? [await openDoor(place.host, replica.port)] : [])];
  const ofCrawler = `FROM pg_stat_activity WHERE usename = '${CRAWLER}'`;

  return {
    url: `postgres://${CRAWLER}@${doors.map(({ port }) => `${place.host}:${port}`).join(',')}/${DATABASE}`,
    crash: async (awayMs) => {
      await current.kill();
      await pause(awayMs);
      await current.start();
    },
    failOver: async (lagMs) => {
      if (current !== primary) throw new Error('the primary of this pair has failed over already');
      await primary.query(`ALTER ROLE ${STREAM} NOLOGIN`);
      await primary.query('SELECT pg_terminate_backend(pid) FROM pg_stat_replication');
      await pause(lagMs);
      await primary.kill();
      await replica.query('SELECT pg_promote()');
      current = replica;
      if (!severalHosts) door.leadTo(replica.port);
    },
    refuseWrites: async (ms) => {
      await current.query('ALTER SYSTEM SET default_transaction_read_only = on'); // 25006
      await current.query('SELECT pg_reload_conf()');
      await pause(ms);
      await current.query('ALTER SYSTEM RESET default_transaction_read_only');
      await current.query('SELECT pg_reload_conf()');
    },
    refuseConnections: async (ms) => {
      await current.query(`ALTER DATABASE ${DATABASE} CONNECTION LIMIT 0`); // 53300
      await current.query(`SELECT pg_terminate_backend(pid) ${ofCrawler}`);
      await pause(ms);
      await current.query(`ALTER DATABASE ${DATABASE} CONNECTION LIMIT -1`);
    },
    shut: (pid) => doors.forEach((one) => one.shut(pid)),
    open: () => doors.forEach((one) => one.open()),
    remove: async () => {
      for (const one of doors) await one.close();
      for (const server of [primary, replica]) await server.kill();
    },
  };
};

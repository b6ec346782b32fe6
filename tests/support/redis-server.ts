/**
 * Real Redis servers for tests: on free ports of loopback, in private folders, none of which outlives the test process.
 */

import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { unpackDebian, withLibraries } from './debian-packages.ts';
import { findProgram } from './find-program.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

export interface RedisServer {
  readonly port: number;
  /** `redis://127.0.0.1:port` */
  readonly url: string;
  readonly dir: string;
  /** Asks it to end and save; resolves when it has. */
  stop(): Promise<void>;
  /** Ends it as `kill -9` does. */
  kill(): Promise<void>;
  /** Starts it again on the same port and folder. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. */
  remove(): Promise<void>;
}

export interface RedisCluster {
  readonly url: string;
  readonly nodes: readonly RedisServer[];
  remove(): Promise<void>;
}

/** Settings as in redis.conf; without any, nothing is written to disk. */
export type RedisSettings = Readonly<Record<string, string>>;

const NO_PERSISTENCE: RedisSettings = { save: '', appendonly: 'no' };

export const startRedis = async (settings: RedisSettings = NO_PERSISTENCE): Promise<RedisServer> => {
  const dir = mkdtempSync(join(tmpdir(), 'gossamer-redis-'));
  const port = await freePort();
  let child: ChildProcess | null = null;
  const start = async (): Promise<void> => {
    child = launch({
      ...NO_PERSISTENCE,
      ...settings,
      port: String(port),
      bind: '127.0.0.1',
      dir,
      daemonize: 'no',
      logfile: join(dir, 'log'),
    });
    await untilUp(child, port);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  await start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    dir,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    restart: start,
    remove: async () => {
      await end('SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    },
  };
};

/** Three masters without replicas; the slots are shared out, and all of them know it. */
export const startRedisCluster = async (settings: RedisSettings = NO_PERSISTENCE): Promise<RedisCluster> => {
  const busPorts = await Promise.all([1, 2, 3].map(() => freePort()));
  const nodes = await Promise.all(
    busPorts.map((busPort) =>
      startRedis({
        ...settings,
        'cluster-enabled': 'yes',
        'cluster-port': String(busPort),
        'cluster-node-timeout': '30000', // a busy machine must not make a node look dead
      }),
    ),
  );
  const clients = nodes.map(({ port }) => new Redis({ port, host: '127.0.0.1' }));
  try {
    for (const [i, client] of clients.entries()) {
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(i + 1)); // or they would have to agree on who is newer
      await client.call(
        'CLUSTER',
        'ADDSLOTSRANGE',
        String(Math.ceil((i * 16_384) / 3)),
        String(Math.ceil(((i + 1) * 16_384) / 3) - 1),
      );
      if (i > 0) await client.call('CLUSTER', 'MEET', '127.0.0.1', String(nodes[0]!.port), String(busPorts[0]!));
    }
    for (const client of clients) {
      await until('the cluster is whole', async () => {
        const info = String(await client.call('CLUSTER', 'INFO'));
        return (
          info.includes('cluster_state:ok') &&
          info.includes('cluster_known_nodes:3') &&
          info.includes('cluster_slots_ok:16384')
        );
      });
    }
  } finally {
    for (const client of clients) client.disconnect();
  }
  return {
    url: nodes[0]!.url,
    nodes,
    remove: async () => void (await Promise.all(nodes.map((node) => node.remove()))),
  };
};

let found: { readonly program: string; readonly env: NodeJS.ProcessEnv } | null = null;

/** The machine's own, if it is new enough; otherwise Debian's, unpacked. */
export const redisProgram = (): NonNullable<typeof found> => (found ??= installed() ?? unpacked());

const installed = (): typeof found => {
  const program = findProgram('redis-server');
  if (program === null) return null;
  try {
    const [, major] =
      /v=(\d+)\./.exec(
        execFileSync(program, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
      ) ?? [];
    return Number(major) >= 7 ? { program, env: process.env } : null;
  } catch {
    return null;
  }
};

const unpacked = (): NonNullable<typeof found> => {
  const folder = unpackDebian(['redis-server', 'redis-tools']);
  return { program: join(folder, 'usr/bin/redis-server'), env: withLibraries(folder) };
};

const running = new Set<ChildProcess>();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

const launch = (settings: RedisSettings): ChildProcess => {
  const { program, env } = redisProgram();
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  // The kernel ends it with this process, also when that is killed and no longer runs its exit handlers.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, ...args], { env, stdio: 'ignore' });
  running.add(child);
  child.once('exit', () => running.delete(child));
  child.once('error', () => running.delete(child));
  return child;
};

const untilUp = async (child: ChildProcess, port: number): Promise<void> => {
  let fault: Error | null = null;
  child.once('error', (error) => (fault = error));
  await until('Redis answers', async () => {
    if (fault) throw fault;
    if (child.exitCode !== null) throw new Error(`redis-server ended with code ${child.exitCode}`);
    return answers(port);
  });
};

/** Any answer to PING will do but LOADING: with a password it is NOAUTH. */
const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('data', (text) => {
      socket.destroy();
      resolve(!text.toString().startsWith('-LOADING'));
    });
    socket.on('error', () => {}).once('close', () => resolve(false));
  });

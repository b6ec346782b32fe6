/** A Redis with a replica, and three Sentinels that watch over them, on free ports of loopback. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';
import { redisProgram, startRedis, type RedisServer, type RedisSettings } from './redis-server.ts';
import { until } from './until.ts';

export const MASTER = 'here';

export interface Watched {
  /** `redis+sentinel://…/here` */
  readonly url: string;
  /** The master at first, then its replica. */
  readonly servers: readonly [RedisServer, RedisServer];
  /** What a Sentinel answers to a command. */
  ask(...words: readonly string[]): Promise<unknown>;
  /** The port of the master, as all Sentinels have it; null while they do not agree. */
  master(): Promise<number | null>;
  /** Ends one of the Sentinels. */
  endSentinel(i: number): Promise<void>;
  remove(): Promise<void>;
}

export interface WatchedOptions {
  readonly settings?: RedisSettings;
  /** The password that the Sentinels ask for. */
  readonly sentinelPassword?: string;
}

const SENTINELS = 3;
/** Long enough for a busy machine not to make a living master look dead at once. */
const DOWN_AFTER_MS = 1_500;
const FAILOVER_MS = 5_000;

export const startWatchedRedis = async ({ settings = {}, sentinelPassword }: WatchedOptions = {}): Promise<Watched> => {
  const first = await startRedis(settings);
  const second = await startRedis({ ...settings, replicaof: `127.0.0.1 ${first.port}` });
  const home = mkdtempSync(join(tmpdir(), 'gossamer-sentinel-'));
  const ports = await Promise.all(Array.from({ length: SENTINELS }, () => freePort()));
  const sentinels = ports.map((port) => launch(home, port, first.port, sentinelPassword));
  const askAt = async (port: number, words: readonly string[]): Promise<unknown> => {
    const client = new Redis({
      port,
      host: '127.0.0.1',
      ...(sentinelPassword ? { password: sentinelPassword } : {}),
      retryStrategy: () => null,
      lazyConnect: true,
      enableReadyCheck: false,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      return await client.call('SENTINEL', ...words);
    } finally {
      client.disconnect();
    }
  };
  const alive = (): number[] => ports.filter((_, i) => sentinels[i]!.exitCode === null && !sentinels[i]!.killed);
  const fieldsOf = async (port: number): Promise<Map<string, string>> => {
    const flat = (await askAt(port, ['MASTER', MASTER])) as string[];
    return new Map(flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1]!] as const] : [])));
  };
  await until('the Sentinels know each other and the replica', async () => {
    const seen = await Promise.all(ports.map((port) => fieldsOf(port).catch(() => new Map<string, string>())));
    return seen.every(
      (said) => said.get('num-other-sentinels') === String(SENTINELS - 1) && said.get('num-slaves') === '1',
    );
  });
  const replica = new Redis({ port: second.port, host: '127.0.0.1' });
  await until('the replica has all', async () => (await replica.info('replication')).includes('master_link_status:up'));
  replica.disconnect();
  const end = async (child: ChildProcess): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url: `redis+sentinel://${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${MASTER}`,
    servers: [first, second],
    ask: (...words) => askAt(alive()[0]!, words),
    master: async () => {
      const said = await Promise.all(alive().map(async (port) => (await fieldsOf(port)).get('port')));
      return new Set(said).size === 1 ? Number(said[0]) : null;
    },
    endSentinel: (i) => end(sentinels[i]!),
    remove: async () => {
      for (const child of sentinels) await end(child);
      await Promise.all([first.remove(), second.remove()]);
      rmSync(home, { recursive: true, force: true });
    },
  };
};

/** Sentinels write into their configuration, so each has one of its own. */
const launch = (home: string, port: number, master: number, password?: string): ChildProcess => {
  const file = join(home, `${port}.conf`);
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${home}`,
    `sentinel monitor ${MASTER} 127.0.0.1 ${master} 2`,
    `sentinel down-after-milliseconds ${MASTER} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${MASTER} ${FAILOVER_MS}`,
    ...(password ? [`requirepass ${password}`, `sentinel sentinel-pass ${password}`] : []),
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const { program, env } = redisProgram();
  return spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, file, '--sentinel'], { env, stdio: 'ignore' });
};

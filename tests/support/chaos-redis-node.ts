/** One Redis server of a chaos row, or one Sentinel: started, killed, asked. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';
import { redisProgram, type RedisSettings } from './redis-server.ts';
import { until } from './until.ts';

export interface Node {
  readonly port: number;
  readonly dir: string;
  start(more?: RedisSettings): Promise<void>;
  kill(): Promise<void>;
  /** One command on a connection of its own; errors are thrown. */
  ask(...words: readonly (string | number)[]): Promise<unknown>;
  /** Several commands on one connection. */
  talk<T>(story: (client: Redis) => Promise<T>): Promise<T>;
}

const ASK_MS_MAX = 20_000;

/** Listens on loopback and on `host`. */
export const makeNode = async (
  where: { readonly host: string; readonly dir: string },
  settings: RedisSettings = {},
): Promise<Node> => {
  const port = await freePort();
  const dir = join(where.dir, `redis-${port}`);
  mkdirSync(dir, { recursive: true });
  let child: ChildProcess | null = null;
  const kill = async (): Promise<void> => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  const talk: Node['talk'] = async (story) => {
    const client = new Redis({
      port,
      host: '127.0.0.1',
      lazyConnect: true,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
      commandTimeout: ASK_MS_MAX,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      return await story(client);
    } finally {
      client.disconnect();
    }
  };
  const ask: Node['ask'] = (...words) =>
    talk((client) => client.call(String(words[0]), ...words.slice(1).map(String)) as Promise<unknown>);
  return {
    port,
    dir,
    kill,
    talk,
    ask,
    start: async (more = {}) => {
      const all: RedisSettings = {
        save: '',
        appendonly: 'yes',
        appendfsync: 'everysec',
        'repl-diskless-sync-delay': '0',
        'protected-mode': 'no',
        ...settings,
        ...more,
        port: String(port),
        bind: [...new Set([where.host, '127.0.0.1'])].join(' '),
        dir,
        daemonize: 'no',
        logfile: join(dir, 'log'),
      };
      child = launch(all);
      const started = child;
      await until('Redis answers', async () => {
        if (started.exitCode !== null) throw new Error(`redis-server ended with code ${started.exitCode}: see ${dir}`);
        return ask('PING').then(
          () => true,
          (error: Error) => /NOAUTH/.test(error.message),
        );
      });
    },
  };
};

/** A Sentinel writes into its configuration, which therefore is a file. */
export const startSentinel = async (
  where: { readonly host: string; readonly dir: string },
  master: Node,
  quorum: number,
): Promise<Node> => {
  const port = await freePort();
  const dir = join(where.dir, `sentinel-${port}`);
  mkdirSync(dir, { recursive: true });
  const file = join(dir, 'sentinel.conf');
  writeFileSync(
    file,
    [
      `port ${port}`,
      `bind ${[...new Set([where.host, '127.0.0.1'])].join(' ')}`,
      'protected-mode no',
      `dir ${dir}`,
      `logfile ${join(dir, 'log')}`,
      `sentinel announce-ip ${where.host}`,
      `sentinel monitor chaos ${where.host} ${master.port} ${quorum}`,
      'sentinel down-after-milliseconds chaos 1500',
      'sentinel failover-timeout chaos 10000',
      '',
    ].join('\n'),
  );
  const child = spawnRedis([file, '--sentinel']);
  const talk: Node['talk'] = async (story) => {
    const client = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: () => null });
    client.on('error', () => {});
    try {
      await client.connect();
      return await story(client);
    } finally {
      client.disconnect();
    }
  };
  const ask: Node['ask'] = (...words) =>
    talk((client) => client.call(String(words[0]), ...words.slice(1).map(String)) as Promise<unknown>);
  await until('the Sentinel answers', () =>
    ask('PING').then(
      () => true,
      () => false,
    ),
  );
  return {
    port,
    dir,
    talk,
    ask,
    start: async () => {},
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
};

const running = new Set<ChildProcess>();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

const launch = (settings: RedisSettings): ChildProcess =>
  spawnRedis(
    Object.entries(settings).flatMap(([name, value]) => [
      `--${name}`,
      ...(name === 'bind' || name === 'replicaof' ? value.split(' ') : [value]),
    ]),
  );

const spawnRedis = (args: readonly string[]): ChildProcess => {
  const { program, env } = redisProgram();
  // The kernel ends it with this process, also when that is killed and no longer runs its exit handlers.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, ...args], { env, stdio: 'ignore' });
  running.add(child);
  child.once('exit', () => running.delete(child));
  child.once('error', () => running.delete(child));
  return child;
};

/** From now on nothing more reaches the replica. */
export const partReplica = async (master: Node, replica: Node): Promise<void> => {
  // Its kernel would still hold what was on the way if it were only stopped. So it may not log in again.
  await replica.ask('CONFIG', 'SET', 'masteruser', 'parted', 'masterauth', 'parted');
  await master.talk(async (client) => {
    await client.call('ACL', 'SETUSER', 'parted', 'off');
    await client.call('CLIENT', 'KILL', 'TYPE', 'replica');
  });
};

/** What `partReplica` changed at the replica is undone; it can follow a master again. */
export const forgetParting = (replica: Node): Promise<unknown> =>
  replica.ask('CONFIG', 'SET', 'masteruser', '', 'masterauth', '');

export const follows = async (replica: Node): Promise<boolean> =>
  /role:slave[^]*master_link_status:up/.test(String(await replica.ask('INFO', 'replication').catch(() => '')));

/** A replica of a PostgreSQL of the tests, which can be left behind and then takes over. */

import { execFileSync, spawn } from 'node:child_process';
import { rmSync, statSync, writeFileSync, chownSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { unpackDebian, withLibraries } from './debian-packages.ts';
import { freePort } from './free-port.ts';
import { PASSWORD, type PostgresServer } from './postgres-server.ts';
import { until } from './until.ts';

export interface PostgresReplica {
  readonly port: number;
  /** Waits until it has all that its primary has. */
  caughtUp(): Promise<void>;
  /** From here on it gets nothing new. */
  leaveBehind(): Promise<void>;
  /** Takes writes, as it was left. */
  promote(): Promise<void>;
  remove(): Promise<void>;
}

/** Ends with the end of its input, which comes when this process dies. */
const GUARD = 'exec 3<&0; "$@" & pid=$!; read _ <&3; kill -QUIT $pid; wait $pid';

/** The primary is stopped while its files are copied. `url` is that of any database of it. */
export const startReplica = async (primary: PostgresServer, url: string): Promise<PostgresReplica> => {
  const folder = unpackDebian(['postgresql-15']);
  const [row] = await primary.query(url, 'SHOW data_directory');
  const data = String(row!.data_directory);
  const home = join(data, '..');
  const copy = join(home, 'replica');
  const { uid, gid } = statSync(data);
  await primary.stop();
  execFileSync('cp', ['-a', data, copy]);
  rmSync(join(copy, 'postmaster.pid'), { force: true });
  writeFileSync(join(copy, 'standby.signal'), '');
  chownSync(join(copy, 'standby.signal'), uid, gid);
  await primary.restart();
  const port = await freePort();
  const conninfo = `host=127.0.0.1 port=${primary.port} user=gossamer password='${PASSWORD}'`;
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: home,
    fsync: 'off',
    max_connections: '60',
    shared_buffers: '64MB',
    hot_standby: 'on',
  };
  // What ALTER SYSTEM is to change must not stand in the command line.
  writeFileSync(join(copy, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo.replaceAll("'", "''")}'\n`);
  chownSync(join(copy, 'postgresql.auto.conf'), uid, gid);
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const bin = join(folder, 'usr/lib/postgresql/15/bin/postgres');
  let log = '';
  const child = spawn('/bin/sh', ['-c', GUARD, 'guard', bin, '-D', copy, '-p', String(port), ...options], {
    uid: process.getuid?.() === 0 ? uid : undefined,
    gid: process.getuid?.() === 0 ? gid : undefined,
    cwd: home,
    env: withLibraries(folder),
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  child.stdin.on('error', () => {});
  const mine = Object.assign(new URL(url), { port: String(port) }).href;
  const value = async (of: string, text: string): Promise<unknown> =>
    Object.values((await primary.query(of, text))[0]!)[0];
  await until(`the replica answers: ${log}`, () =>
    value(mine, 'SELECT pg_is_in_recovery()').then(
      (is) => is === true,
      () => false,
    ),
  );
  return {
    port,
    caughtUp: async () => {
      const lsn = await value(url, 'SELECT pg_current_wal_lsn()::text');
      await until('the replica has caught up', async () =>
        value(mine, `SELECT pg_last_wal_replay_lsn() >= '${lsn}'::pg_lsn`).then(Boolean),
      );
    },
    leaveBehind: async () => {
      await primary.query(mine, "ALTER SYSTEM SET primary_conninfo = ''");
      await primary.query(mine, 'SELECT pg_reload_conf()');
      await until('nothing is received any more', async () =>
        value(mine, 'SELECT count(*)::int FROM pg_stat_wal_receiver').then((n) => n === 0),
      );
    },
    promote: async () => {
      await primary.query(mine, 'SELECT pg_promote()');
      await until('it takes writes', async () => value(mine, 'SELECT NOT pg_is_in_recovery()').then(Boolean));
    },
    remove: async () => {
      const over = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      await Promise.race([over, sleep(10_000)]);
    },
  };
};

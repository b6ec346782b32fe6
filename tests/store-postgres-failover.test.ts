/** A PostgreSQL whose primary is another server after a while: the store finds it by itself. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { StoreFault } from '../src/contract/fault.ts';
import type { OpenedStore } from '../src/store/options.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { openHosts } from '../src/store/postgres/hosts.ts';
import { linksOf } from './contract/store-scene.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { workOptions } from './support/postgres-scene.ts';
import { startPostgres, type PostgresServer } from './support/postgres-server.ts';
import { openTcpProxy } from './support/tcp-proxy.ts';
import { until } from './support/until.ts';

const primary = await startPostgres();
after(() => primary.remove());

const open = async (url: string): Promise<{ store: OpenedStore; said: string[] }> => {
  const said: string[] = [];
  const say = (message: string): void => void said.push(message);
  return { said, store: await openPostgresStore(workOptions(url, { archive: openMemoryArchive() }, { say })) };
};

/** On a slow machine any call may be told of as one that took long. */
const ofOutages = (said: readonly string[]): string[] => said.filter((message) => !/ took \S+ s for /.test(message));

const refusal = async (url: string): Promise<StoreFault> => {
  try {
    await open(url);
  } catch (error) {
    assert.ok(error instanceof StoreFault, String(error));
    return error;
  }
  return assert.fail('a fault was expected');
};

/** The same address with these ports of loopback for hosts. */
const at = (url: string, ports: readonly number[], more = ''): string =>
  `${url.replace(/127\.0\.0\.1:\d+/, ports.map((port) => `127.0.0.1:${port}`).join(','))}${more}`;

/** A standby that has all of the primary. */
const withStandby = async (story: (standby: PostgresServer) => Promise<void>): Promise<void> => {
  const standby = await startPostgres({}, { standbyOf: primary });
  try {
    await story(standby);
  } finally {
    await standby.remove();
  }
};

const caughtUp = async (url: string, standby: PostgresServer): Promise<void> => {
  const [{ lsn }] = (await primary.query(url, 'SELECT pg_current_wal_lsn()::text AS lsn')) as [{ lsn: string }];
  await until('the standby has all', async () => {
    const [row] = await standby.query(at(url, [standby.port]), 'SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS has', [
      lsn,
    ]);
    return row!.has === true;
  });
};

test('postgres: of several hosts the one that takes writes is found, whichever place it has', async () => {
  const url = await primary.database();
  await withStandby(async (standby) => {
    await caughtUp(url, standby);
    for (const ports of [
      [standby.port, primary.port],
      [1, primary.port, standby.port],
    ]) {
      const { store, said } = await open(at(url, ports));
      await store.admit(linksOf('a.example', 2));
      assert.equal((await store.census()).waiting, 2);
      await store.close();
      assert.deepEqual(ofOutages(said), []);
    }
    const alone = await refusal(at(url, [standby.port]));
    assert.match(alone.message, /^the PostgreSQL server takes no writes/);
    assert.match(alone.advice, /host:port,host:port/);
    assert.match((await refusal(at(url, [standby.port, 1]))).message, /^the PostgreSQL server takes no writes/);
    const standbys = await refusal(at(url, [primary.port], '?target_session_attrs=standby'));
    assert.match(standbys.message, /must take writes/);
  });
});

test('postgres: a primary that died is replaced by its standby, and the crawl goes on with that', async () => {
  const former = await startPostgres();
  const url = await former.database();
  const standby = await startPostgres({}, { standbyOf: former });
  const { store, said } = await open(at(url, [former.port, standby.port]));
  try {
    await store.admit(linksOf('a.example', 3));
    const [{ lsn }] = (await former.query(url, 'SELECT pg_current_wal_lsn()::text AS lsn')) as [{ lsn: string }];
    const there = at(url, [standby.port]);
    await until('the standby has all', async () => {
      const [row] = await standby.query(there, 'SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS has', [lsn]);
      return row!.has === true;
    });
    await former.kill();
    const admitted = store.admit(linksOf('a.example', 5));
    await until('the person is told', () => ofOutages(said).length > 0);
    await standby.query(there, 'SELECT pg_promote()');
    assert.equal((await admitted).admitted, 2);
    assert.equal((await store.census()).waiting, 5);
    const [first, second, ...more] = ofOutages(said);
    assert.match(first!, /^PostgreSQL at 127\.0\.0\.1:\d+,127\.0\.0\.1:\d+ .*; waiting$/);
    assert.match(second!, /answers again$/);
    assert.deepEqual(more, []);
  } finally {
    await store.close();
    await standby.remove();
    await former.remove();
  }
});

test('postgres: a server that turns read-only is waited for, and told of once', async () => {
  const url = await primary.database();
  const name = new URL(url).pathname.slice(1);
  const { store, said } = await open(url);
  await store.admit(linksOf('a.example', 1));
  await primary.query(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  // Sessions that are there keep what they began with: they are ended, as at a failover.
  await primary.query(
    url,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gossamer_here' AND datname = current_database()",
  );
  const admitted = store.admit(linksOf('a.example', 2));
  await until('the person is told', () => ofOutages(said).length > 0);
  await primary.query(url.replace(/[^/]*$/, 'postgres'), `ALTER DATABASE ${name} RESET ALL`);
  assert.equal((await admitted).admitted, 1);
  await store.close();
  const [first, second, ...more] = ofOutages(said);
  assert.match(first!, /; waiting$/);
  assert.match(second!, /answers again$/);
  assert.deepEqual(more, []);
});

test('postgres: a server without a free connection is waited for', async () => {
  const url = await primary.database();
  const name = new URL(url).pathname.slice(1);
  await primary.query(url, "CREATE ROLE guest LOGIN PASSWORD 'guest'");
  await primary.query(url, `GRANT CREATE ON DATABASE ${name} TO guest`);
  const { store, said } = await open(Object.assign(new URL(url), { username: 'guest', password: 'guest' }).href);
  await primary.query(url, 'ALTER ROLE guest CONNECTION LIMIT 0');
  await primary.query(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guest'");
  const admitted = store.admit(linksOf('a.example', 2));
  await until('the person is told', () => ofOutages(said).length > 0);
  await primary.query(url, 'ALTER ROLE guest CONNECTION LIMIT -1');
  assert.equal((await admitted).admitted, 2);
  await store.close();
  assert.equal(ofOutages(said).length, 2, said.join('\n'));
});

test('postgres: a host that falls silent amid a call is left for another one', async () => {
  const url = await primary.database();
  const [first, second] = [await openTcpProxy(primary.port), await openTcpProxy(primary.port)];
  const hosts = openHosts({ url: at(url, [first.port, second.port]), options: { max: 1 }, silentMs: 50 });
  try {
    const ask = () => hosts.onClient(async (client) => (await client.query('SELECT 1 AS one')).rows);
    assert.deepEqual(await ask(), [{ one: 1 }]);
    first.freeze();
    await assert.rejects(ask(), /terminated/);
    assert.deepEqual(await ask(), [{ one: 1 }], 'by the other way');
  } finally {
    await hosts.end();
    await first.close();
    await second.close();
  }
});

/** A Redis whose master is another one after a while: the store finds it by itself, and takes links all the same. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Redis } from 'ioredis';
import { StoreFault } from '../src/contract/fault.ts';
import type { OpenedStore } from '../src/store/options.ts';
import { isGone } from '../src/store/redis/faults.ts';
import { link, linksOf } from './contract/store-scene.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { createMember, openMember, removeMember, type MemberFolder } from './support/redis-scene.ts';
import { MASTER, startWatchedRedis, type Watched } from './support/redis-sentinel.ts';
import { freePort } from './support/free-port.ts';
import { startRedis, startRedisCluster, type RedisCluster, type RedisServer } from './support/redis-server.ts';
import { openTcpProxy } from './support/tcp-proxy.ts';
import { until } from './support/until.ts';

let watched: Watched;
let folder: MemberFolder;
let store: OpenedStore;
before(async () => void (watched = await startWatchedRedis()));
after(() => watched.remove());
beforeEach(async () => {
  folder = createMember();
  store = await openMember(folder, { url: watched.url, archive: openMemoryArchive() });
  folder.said.length = 0;
});
afterEach(async () => {
  await store.close();
  removeMember(folder);
});

const serverAt = (port: number) => watched.servers.find((server) => server.port === port)!;

/** Everything the master has is with its replica. */
const replicated = async (): Promise<void> => {
  const redis = new Redis(serverAt((await watched.master())!).url);
  assert.equal(await redis.wait(1, 60_000), 1);
  redis.disconnect();
};

const waiting = async (): Promise<number> => (await store.census()).waiting;

test('redis-sentinel: a master that died is replaced, and the crawl goes on with the new one', async () => {
  await store.admit(linksOf('a.example', 10));
  await replicated();
  const former = (await watched.master())!;
  await serverAt(former).kill();
  const { admitted } = await store.admit(linksOf('b.example', 5));
  assert.equal(admitted, 5);
  assert.equal(await waiting(), 15);
  assert.match(folder.said[0]!, /^Redis at here \(Sentinel at 127\.0\.0\.1:\d+,.*\) does not answer \(.+\); waiting$/);
  assert.match(folder.said.at(-1)!, /is back$/);
  assert.equal(folder.said.length, 2, folder.said.join('\n'));
  await serverAt(former).restart();
  await until('the former master is a replica', async () => {
    const redis = new Redis(serverAt(former).url);
    const info = await redis.info('replication').finally(() => redis.disconnect());
    return info.includes('role:slave') && info.includes('master_link_status:up');
  });
});

test('redis-sentinel: a master that is replaced while it lives is left for the new one', async () => {
  await store.admit(linksOf('a.example', 3));
  const former = (await watched.master())!;
  const master = new Redis(serverAt(former).url);
  // What the replica does not have yet is lost with the failover, and found again by a beat: not the matter here.
  assert.equal(await master.wait(1, 60_000), 1);
  master.disconnect();
  await until('they begin', () =>
    watched.ask('FAILOVER', 'here').then(
      () => true,
      () => false, // they wait for a while after the last one
    ),
  );
  await until('there is another master', async () => ![former, null].includes(await watched.master()));
  assert.equal((await store.admit(linksOf('a.example', 6))).admitted, 3);
  const redis = new Redis(serverAt((await watched.master())!).url);
  assert.match((await redis.client('LIST')) as string, /name=gossamer /, 'it is connected to the new one');
  redis.disconnect();
  assert.equal(await waiting(), 6);
});

test('redis-sentinel: a master that is replaced and does not know it is left all the same', async () => {
  const cutOff = await startWatchedRedis();
  const member = createMember();
  const shared = await openMember(member, { url: cutOff.url, archive: openMemoryArchive() });
  const [former, next] = cutOff.servers.map((server) => new Redis(server.url));
  try {
    // It still takes writes, as a master does that nobody but its clients can reach.
    await former!.call('ACL', 'SETUSER', 'default', '-replicaof', '-slaveof');
    await cutOff.ask('FAILOVER', MASTER);
    await until('the client is with the new one', async () =>
      /name=gossamer /.test((await next!.client('LIST')) as string),
    );
    assert.match(await former!.info('replication'), /role:master/);
    assert.equal((await shared.admit(linksOf('a.example', 2))).admitted, 2);
    assert.ok((await next!.dbsize()) > 0);
    assert.equal((await former!.dbsize()) < (await next!.dbsize()), true, 'nothing more goes to the former one');
  } finally {
    await shared.close();
    for (const client of [former!, next!]) client.disconnect();
    removeMember(member);
    await cutOff.remove();
  }
});

test('redis-sentinel: one Sentinel of three is enough to find the master', async () => {
  const some = await startWatchedRedis();
  const member = createMember();
  try {
    await some.endSentinel(0);
    await some.endSentinel(1);
    const shared = await openMember(member, { url: some.url, archive: openMemoryArchive() });
    assert.equal((await shared.admit(linksOf('a.example', 2))).admitted, 2);
    await shared.close();
  } finally {
    removeMember(member);
    await some.remove();
  }
});

/** Opening must fail with that sentence and that advice. */
const refuses = async (url: string, sentence: RegExp, advice: RegExp): Promise<void> => {
  const member = createMember();
  await assert.rejects(openMember(member, { url, archive: openMemoryArchive() }), (fault) => {
    assert.ok(fault instanceof StoreFault, String(fault));
    assert.match(fault.message, sentence);
    assert.match(fault.advice, advice);
    return true;
  });
  removeMember(member);
};

test('redis-sentinel: a master that nobody knows, and Sentinels that are not there, are told in a sentence', async () => {
  await refuses(
    watched.url.replace('/here', '/there'),
    /^Redis at there \(.*\) is not known to its Sentinels$/,
    /name/,
  );
  await refuses(watched.url.replace('/here', ''), /^the URL of the store cannot be read$/, /redis\+sentinel:/);
  await refuses('redis+sentinel://127.0.0.1:1/here', /does not answer \(no Sentinel answers\)$/, /./);
});

const GUIDE = readFileSync(new URL('../docs/how-to/share-a-crawl.md', import.meta.url), 'utf8');

test('redis-sentinel: Sentinels have a password of their own, or a user with the rights that the guide names', async () => {
  const guarded = await startWatchedRedis({ sentinelPassword: 'pass-of-theirs' });
  const member = createMember();
  try {
    await refuses(guarded.url, /has Sentinels that refuse the user or the password$/, /sentinel_password/);
    // A user of theirs has the rights that the guide names.
    const [, rights] = /^.*Sentinels with users of their own: (.*)$/m.exec(GUIDE)!;
    const words = [...rights!.matchAll(/[+&][^\s'`]+/g)].map(([word]) => word);
    for (const [, port] of guarded.url.matchAll(/127\.0\.0\.1:(\d+)/g)) {
      const sentinel = new Redis({ port: Number(port), password: 'pass-of-theirs', enableReadyCheck: false });
      await sentinel.call('ACL', 'SETUSER', 'watcher', 'on', '>word', '-@all', ...words);
      sentinel.disconnect();
    }
    for (const theirs of ['sentinel_password=pass-of-theirs', 'sentinel_user=watcher&sentinel_password=word']) {
      const shared = await openMember(member, { url: `${guarded.url}?${theirs}`, archive: openMemoryArchive() });
      await shared.admit(linksOf('a.example', 2));
      assert.equal((await shared.census()).waiting, 2);
      await shared.close();
    }
  } finally {
    removeMember(member);
    await guarded.remove();
  }
});

test('redis: a server that turns read-only is waited for, and told of once', async () => {
  const [turned, other] = [await startRedis({ save: '3600 1' }), await startRedis()];
  const redis = new Redis(turned.url);
  const member = createMember();
  const shared = await openMember(member, { url: turned.url, archive: openMemoryArchive() });
  try {
    await shared.admit(linksOf('a.example', 1));
    await redis.config('SET', 'repl-diskless-load', 'disabled');
    await redis.replicaof('127.0.0.1', 1); // nobody is there: it keeps its data
    const admitted = shared.admit(linksOf('a.example', 2));
    await until('the person is told', () => member.said.length > 0);
    await redis.replicaof('NO', 'ONE');
    assert.equal((await admitted).admitted, 1);
    assert.match(member.said[0]!, /does not answer \(it is a replica and takes no writes\); waiting$/);
    assert.match(member.said[1]!, /is back$/);
    assert.equal(member.said.length, 2);
  } finally {
    await shared.close();
    redis.disconnect();
    removeMember(member);
    await Promise.all([turned.remove(), other.remove()]);
  }
});

test('redis: a connection to a master that was demoted is given up for one to whichever the address leads to now', async () => {
  const [former, next] = [await startRedis({ 'repl-diskless-sync-delay': '0' }), await startRedis()];
  const [one, other] = [new Redis(former.url), new Redis(next.url)];
  const way = await openTcpProxy(former.port);
  const member = createMember();
  const shared = await openMember(member, { url: `redis://127.0.0.1:${way.port}`, archive: openMemoryArchive() });
  try {
    await shared.admit(linksOf('a.example', 1));
    await other.replicaof('127.0.0.1', former.port);
    await until('it has all', async () => (await other.info('replication')).includes('master_link_status:up'));
    assert.equal(await one.wait(1, 60_000), 1);
    await other.replicaof('NO', 'ONE');
    way.lead(next.port);
    await one.replicaof('127.0.0.1', next.port);
    assert.equal((await shared.admit(linksOf('a.example', 2))).admitted, 1);
    assert.equal((await shared.census()).waiting, 2);
  } finally {
    await shared.close();
    for (const client of [one, other]) client.disconnect();
    removeMember(member);
    await way.close();
    await Promise.all([former.remove(), next.remove()]);
  }
});

test('redis: a server that has too few replicas is waited for', async () => {
  const [master, replica] = [await startRedis({ 'repl-diskless-sync-delay': '0' }), await startRedis()];
  const redis = new Redis(master.url);
  const second = new Redis(replica.url);
  const member = createMember();
  const shared = await openMember(member, { url: master.url, archive: openMemoryArchive() });
  member.said.length = 0;
  try {
    await shared.admit(linksOf('a.example', 1));
    await redis.config('SET', 'min-replicas-to-write', '1');
    const admitted = shared.admit(linksOf('a.example', 2));
    await until('the person is told', () => member.said.length > 0);
    assert.match(member.said[0]!, /\(it has too few replicas and takes no writes\); waiting$/);
    await second.replicaof('127.0.0.1', master.port);
    assert.equal((await admitted).admitted, 1);
  } finally {
    await shared.close();
    redis.disconnect();
    second.disconnect();
    removeMember(member);
    await Promise.all([master.remove(), replica.remove()]);
  }
});

test('redis: a replica that becomes the master in a moment is waited for when a crawl is opened', async () => {
  const [master, replica] = [await startRedis(), await startRedis()];
  const second = new Redis(replica.url);
  await second.replicaof('127.0.0.1', master.port);
  const member = createMember();
  const opening = openMember(member, { url: replica.url, archive: openMemoryArchive() });
  opening.catch(() => {});
  await until('it is looked at', async () => /name=gossamer .*cmd=info/.test((await second.client('LIST')) as string));
  await second.replicaof('NO', 'ONE');
  const shared = await opening;
  assert.equal((await shared.admit(linksOf('a.example', 1))).admitted, 1);
  await shared.close();
  second.disconnect();
  removeMember(member);
  await Promise.all([master.remove(), replica.remove()]);
});

/** A replica of the last of three masters, which has what that one has. */
const addReplica = async ({ nodes }: RedisCluster): Promise<RedisServer> => {
  const master = new Redis(nodes[2]!.url);
  const replica = await startRedis({ 'cluster-enabled': 'yes', 'cluster-port': String(await freePort()) });
  const client = new Redis(replica.url);
  const busPort = (await master.config('GET', 'cluster-port')) as string[];
  await client.call('CLUSTER', 'MEET', '127.0.0.1', String(nodes[2]!.port), busPort[1]!);
  const id = (await master.call('CLUSTER', 'MYID')) as string;
  await until('it knows its master', () =>
    client.call('CLUSTER', 'REPLICATE', id).then(
      () => true,
      () => false,
    ),
  );
  await until('it has all', async () => (await client.info('replication')).includes('master_link_status:up'));
  for (const node of nodes) {
    const one = new Redis(node.url);
    await until('all know it', async () => /slave/.test(String(await one.call('CLUSTER', 'NODES'))));
    one.disconnect();
  }
  master.disconnect();
  client.disconnect();
  return replica;
};

const manySites = (path: number) => Array.from({ length: 64 }, (_, i) => link(`s${i}.example/${path}`));

test('redis-cluster: a node that died is replaced by its replica, and the crawl goes on', async () => {
  const cluster = await startRedisCluster();
  const replica = await addReplica(cluster);
  const member = createMember();
  const shared = await openMember(member, { url: cluster.url, archive: openMemoryArchive() });
  const redis = new Redis(replica.url);
  try {
    member.said.length = 0;
    await shared.admit(manySites(1));
    const master = new Redis(cluster.nodes[2]!.url);
    assert.equal(await master.wait(1, 60_000), 1);
    master.disconnect();
    await cluster.nodes[2]!.kill();
    const admitted = shared.admit(manySites(2));
    await until('the person is told', () => member.said.length > 0);
    await redis.call('CLUSTER', 'FAILOVER', 'TAKEOVER');
    const { admitted: fresh, seen } = await admitted;
    assert.equal(fresh + seen, 64);
    assert.equal((await shared.census()).waiting, 128);
    assert.match(member.said.at(-1)!, /is back$/);
  } finally {
    await shared.close();
    redis.disconnect();
    removeMember(member);
    await Promise.all([cluster.remove(), replica.remove()]);
  }
});

test('redis-cluster: a node that changes places with its replica is left for it', async () => {
  const cluster = await startRedisCluster();
  const replica = await addReplica(cluster);
  const member = createMember();
  const shared = await openMember(member, { url: cluster.url, archive: openMemoryArchive() });
  const redis = new Redis(replica.url);
  try {
    await shared.admit(manySites(1));
    await redis.call('CLUSTER', 'FAILOVER');
    await until('they have changed places', async () => (await redis.info('replication')).includes('role:master'));
    assert.equal((await shared.admit(manySites(2))).admitted, 64);
    assert.equal((await shared.census()).waiting, 128);
  } finally {
    await shared.close();
    redis.disconnect();
    removeMember(member);
    await Promise.all([cluster.remove(), replica.remove()]);
  }
});

test('redis-cluster: of several nodes in the address one is enough; of other servers only one can be given', async () => {
  const cluster = await startRedisCluster();
  const [gone, plain] = [await freePort(), await startRedis()];
  const replica = await addReplica(cluster);
  const member = createMember();
  try {
    for (const there of [cluster.nodes[1]!, replica]) {
      const url = `redis://127.0.0.1:${gone},127.0.0.1:${there.port}`;
      const shared = await openMember(member, { url, archive: openMemoryArchive() });
      assert.ok((await shared.census()).waiting === 0);
      await shared.close();
    }
    await refuses(`redis://127.0.0.1:${gone},127.0.0.1:${plain.port}`, /is no cluster, and several hosts/, /sentinel/);
    await refuses(`redis://127.0.0.1:${gone},127.0.0.1:${gone}`, /^Redis at \S+,\S+ does not answer/, /./);
  } finally {
    removeMember(member);
    await Promise.all([cluster.remove(), plain.remove(), replica.remove()]);
  }
});

/** What a command is answered with. */
const refusalOf = (command: Promise<unknown>): Promise<Error> =>
  command.then(
    () => assert.fail('it was to be refused'),
    (error: Error) => error,
  );

test('redis: what servers say of a slot on the move, a cluster in pieces or a lost master means "not now"', async () => {
  const [cluster, lonely, replica] = [
    await startRedisCluster(),
    await startRedis({ 'cluster-enabled': 'yes', 'cluster-port': String(await freePort()) }),
    await startRedis({ 'replica-serve-stale-data': 'no' }),
  ];
  const [first, second] = cluster.nodes.slice(0, 2).map((node) => new Redis(node.url));
  const [alone, stale] = [new Redis(lonely.url), new Redis(replica.url)];
  try {
    const slot = Number(await first!.call('CLUSTER', 'KEYSLOT', '{tag}'));
    const owner = slot <= 5_461 ? first! : second!;
    assert.ok(slot <= 10_922, 'it is of one of the two');
    const other = owner === first ? second! : first!;
    const told: Error[] = [];
    told.push(await refusalOf(owner.eval("return redis.call('GET', ARGV[1])", 1, '{tag}a', '{elsewhere-12}')));
    await owner.set('{tag}here', '1');
    await owner.call('CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', String(await other.call('CLUSTER', 'MYID')));
    told.push(await refusalOf(owner.eval('return 1', 2, '{tag}here', '{tag}there')));
    told.push(await refusalOf(alone.get('any')));
    await stale.replicaof('127.0.0.1', 1);
    told.push(await refusalOf(stale.get('any')));
    const codes = told.map(({ message }) => message.split(' ', 1)[0]);
    assert.deepEqual(codes, ['ERR', 'TRYAGAIN', 'CLUSTERDOWN', 'MASTERDOWN']);
    assert.match(told[0]!.message, /non local key/);
    for (const error of told) assert.equal(isGone(error), true, error.message);
    assert.equal(isGone(await refusalOf(stale.call('NONSENSE'))), false);
  } finally {
    for (const client of [first!, second!, alone, stale]) client.disconnect();
    await Promise.all([cluster.remove(), lonely.remove(), replica.remove()]);
  }
});

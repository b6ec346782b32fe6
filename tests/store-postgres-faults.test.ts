/** What the store in PostgreSQL does when the server, the network or a person gets in its way. */

import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext, TLSSocket } from 'node:tls';
import pg from 'pg';
import { StoreFault } from '../src/contract/fault.ts';
import { knownTotal } from '../src/model/census.ts';
import { BEAT_MS } from '../src/model/pulse.ts';
import type { Visit } from '../src/model/visit.ts';
import type { PageRow } from '../src/model/page.ts';
import type { OpenedStore, StoreOptions } from '../src/store/options.ts';
import { openPostgresCrawl } from '../src/store/postgres/crawl.ts';
import { openPostgresStore } from '../src/store/postgres/store.ts';
import { SHARDS } from '../src/url/shard.ts';
import { ask, claimOne, link, linksOf, pageOf, recordsOf, settlementOf } from './contract/store-scene.ts';
import { pagesIn } from './contract/stored-scene.ts';
import { createManualClock } from './support/manual-clock.ts';
import { openMemoryArchive, type MemoryArchive } from './support/memory-archive.ts';
import { lookOptions, workOptions } from './support/postgres-scene.ts';
import { PASSWORD, startPostgres } from './support/postgres-server.ts';
import { selfSigned } from './support/self-signed.ts';
import { openTcpProxy, type TcpProxy } from './support/tcp-proxy.ts';
import { until } from './support/until.ts';

const server = await startPostgres();
after(() => server.remove());

const LEASE_MS = 600_000;

interface Opened {
  readonly store: OpenedStore;
  readonly archive: MemoryArchive;
  readonly said: string[];
}

const open = async (
  url: string,
  changes: Partial<StoreOptions> = {},
  archive = openMemoryArchive(),
): Promise<Opened> => {
  const said: string[] = [];
  const say = (message: string): void => void said.push(message);
  const store = await openPostgresStore(workOptions(url, { archive }, { say, ...changes }));
  return { store, archive, said };
};

/** On a slow machine any call may be told of as one that took long. */
const ofOutages = (said: readonly string[]): string[] => said.filter((message) => !/ took \S+ s for /.test(message));

const withPort = (url: string, port: number): string => Object.assign(new URL(url), { port: String(port) }).href;

const pagesOf = async (url: string): Promise<PageRow[]> => {
  const crawl = await openPostgresCrawl(lookOptions(url));
  return pagesIn(crawl).finally(() => crawl.close());
};

/** The store through a way that can be cut. */
const onProxy = async (story: (parts: Opened & { url: string; proxy: TcpProxy }) => Promise<void>): Promise<void> => {
  const url = await server.database();
  const proxy = await openTcpProxy(server.port);
  const opened = await open(withPort(url, proxy.port));
  try {
    await story({ ...opened, url, proxy });
  } finally {
    await opened.store.close();
    await proxy.close();
  }
};

const faultOf = async (work: Promise<unknown>): Promise<StoreFault> => {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof StoreFault, String(error));
    assert.ok(
      !`${error.message} ${error.advice}`.includes(PASSWORD) &&
        !`${error.message} ${error.advice}`.includes(encodeURIComponent(PASSWORD)),
      'no password is told',
    );
    return error;
  }
  return assert.fail('a fault was expected');
};

test('postgres: a settlement whose answer was lost is settled once, with one record', async () => {
  await onProxy(async ({ store, archive, said, url, proxy }) => {
    await store.admit(linksOf('a.example', 2));
    const visit = await claimOne(store, { leaseMs: LEASE_MS });
    const lost = proxy.swallowAnswer();
    const settled = store.settle([settlementOf(visit, { records: recordsOf('one') })]);
    await lost;
    assert.deepEqual(await settled, { settled: 1, refused: 0 });
    const [page, ...others] = await pagesOf(url);
    assert.deepEqual(others, []);
    assert.equal(new TextDecoder().decode(archive.read(page!)), 'response one;');
    const census = await store.census();
    assert.deepEqual(
      [census.archive, census.archivedBytes, census.settled.fetched],
      [archive.end(), archive.totalBytes(), 1],
    );
    assert.equal(ofOutages(said).length, 2, said.join('\n'));
  });
});

test('postgres: an admission whose answer was lost takes its links once', async () => {
  await onProxy(async ({ store, proxy }) => {
    await store.admit([link('a.example/0')]); // a connection is there: what is swallowed is an answer
    const lost = proxy.swallowAnswer();
    const admitted = store.admit(linksOf('a.example', 5));
    await lost;
    await admitted;
    const census = await store.census();
    assert.deepEqual([census.waiting, knownTotal(census)], [6, 6]);
  });
});

test('postgres: while the server is gone the store waits and says so once, then goes on and says so once', async () => {
  await onProxy(async ({ store, said, proxy }) => {
    await store.admit(linksOf('a.example', 1));
    proxy.cut();
    const calls = Promise.all([
      store.admit(linksOf('a.example', 2)),
      store.census(),
      store.claim(ask({ leaseMs: LEASE_MS })),
      store.census(),
      store.census(),
      store.census(),
    ]);
    await until('it was asked again and again', () => ofOutages(said).length > 0 && proxy.refused() > 6);
    proxy.mend();
    await calls;
    const [gone, back, ...more] = ofOutages(said);
    assert.match(gone!, /^PostgreSQL at 127\.0\.0\.1:\d+ does not answer \(.+\); waiting$/);
    assert.match(back!, /^PostgreSQL at 127\.0\.0\.1:\d+ answers again$/);
    assert.deepEqual(more, []);
  });
});

test('postgres: closing the store ends the waiting', async () => {
  await onProxy(async ({ store, said, proxy }) => {
    proxy.cut();
    const waiting = faultOf(store.admit(linksOf('a.example', 2)));
    await until('it waits', () => ofOutages(said).length > 0);
    await store.close();
    assert.match((await waiting).message, /the store is closed/);
  });
});

/** Calls of two seconds and more are told of. */
const LONG_MS = 2_050;

test('postgres: a call that takes long is told of, with its time', async () => {
  const url = await server.database();
  const { store, said } = await open(url);
  const inTheWay = new pg.Client({ connectionString: url });
  await inTheWay.connect();
  try {
    await inTheWay.query('BEGIN; LOCK TABLE gossamer_here.site');
    const admitted = store.admit(linksOf('a.example', 1));
    // A machine that sleeps longer only makes the call longer.
    await sleep(LONG_MS);
    await inTheWay.query('COMMIT');
    await admitted;
  } finally {
    await inTheWay.end();
  }
  await store.close();
  const told = said.map(
    (message) => /^PostgreSQL at 127\.0\.0\.1:\d+ took (\d+\.\d) s for admit_\w+$/.exec(message)?.[1],
  );
  assert.ok(
    told.some((seconds) => Number(seconds) >= 2),
    said.join('\n'),
  );
});

/** After each the crawl is shut for DEAD_AFTER_MS. */
const ROUNDS = 2;
/** A kill, or a stop, comes when so many more links were admitted and settled: amid the next ones. */
const LINKS_PER_ROUND = 30;
/** Admissions are faster than visits: who brings links lets the others come after. */
const WAITING_MAX = 500;

test('postgres: a server killed and restarted amid admissions and settlements loses nothing but visits under way, and does nothing twice', async () => {
  const url = await server.database();
  const clock = createManualClock();
  const { store, archive } = await open(url, { clock: () => clock });
  const known = new Set<string>();
  let settled = 0;
  let ending = false;
  const admitting = async (): Promise<void> => {
    for (let n = 0; !ending; n++) {
      while (known.size - settled > WAITING_MAX && !ending) await sleep(5);
      const links = Array.from({ length: 10 }, (_, i) => link(`s${(7 * n + i) % 40}.example/${n}-${i}`));
      await store.admit(links);
      for (const { url: address } of links) known.add(address);
    }
  };
  const settlement = (visit: Visit) =>
    settlementOf(visit, { records: recordsOf(visit.link.url), pace: { ...visit.pace, dueAt: 0 } });
  const visiting = async (): Promise<void> => {
    while (!ending) {
      const { visits } = await store.claim(ask({ visits: 20, delayMs: 0, leaseMs: LEASE_MS }));
      settled += (await store.settle(visits.map(settlement))).settled;
      await store.beat(); // after a restart it opens the crawl again, when all who may have died are known to be dead
      clock.advance(BEAT_MS);
      if (visits.length === 0) await sleep(5);
    }
  };
  const work = [admitting(), visiting()];
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      const [links, pages] = [known.size + LINKS_PER_ROUND, settled + LINKS_PER_ROUND];
      await until('more links were admitted and settled', () => known.size >= links && settled >= pages);
      if (round === ROUNDS) break;
      await (round % 2 === 0 ? server.kill() : server.stop());
      await server.restart();
    }
  } finally {
    ending = true;
    await Promise.all(work);
    await store.close();
  }
  // Claims whose answer was lost left leases; opening frees them.
  const again = await open(url, { clock: () => clock }, archive);
  await until('nothing waits', async () => {
    const { visits, nextDueAt } = await again.store.claim(ask({ visits: 100, delayMs: 0, leaseMs: LEASE_MS }));
    await again.store.settle(visits.map(settlement));
    return visits.length === 0 && nextDueAt === null;
  });
  const census = await again.store.census();
  await again.store.close();
  const pages = await pagesOf(url);
  assert.deepEqual(pages.map((page) => page.url as string).toSorted(), [...known].toSorted());
  for (const page of pages) assert.equal(new TextDecoder().decode(archive.read(page)), `response ${page.url};`);
  assert.deepEqual([census.waiting, census.leased, census.archivedBytes], [0, 0, archive.totalBytes()]);
});

test('postgres: a title with the character 0 or half a character in it is settled all the same', async () => {
  const url = await server.database();
  const { store } = await open(url);
  await store.admit(linksOf('a.example', 1));
  const visit = await claimOne(store);
  await store.settle([settlementOf(visit, { page: pageOf(visit, { title: 'a\0b "c" \\d {e},\ud83d' }) })]);
  await store.close();
  assert.equal((await pagesOf(url))[0]!.title, 'a\uFFFDb "c" \\d {e},\uFFFD');
});

test('postgres: time is that of the server', async () => {
  const url = await server.database();
  const { store } = await open(url);
  const serverMs = async (): Promise<number> =>
    Number((await server.query(url, 'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms'))[0]!.ms);
  const before = await serverMs();
  const times = [await store.time(), (await store.census()).now];
  const after = await serverMs();
  await store.close();
  for (const time of times) assert.ok(time >= before && time <= after, `${before} ${time} ${after}`);
});

test('postgres: a process has four connections at the most, however many calls are under way', async () => {
  const url = await server.database();
  const { store } = await open(url);
  const calls = Promise.all(
    Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? store.census() : store.admit(linksOf(`s${i}.example`, 3)))),
  );
  const [row] = await server.query(
    url,
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'gossamer_here'",
  );
  await calls;
  const [later] = await server.query(
    url,
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'gossamer_here'",
  );
  await store.close();
  assert.ok((row!.n as number) <= 4 && later!.n === 4, `${row!.n} and ${later!.n}`);
});

test('postgres: two processes that open a new crawl at the same time both succeed', async () => {
  const url = await server.database();
  const opened = await Promise.all(['a', 'b', 'c'].map((member) => open(url, { member })));
  await opened[0]!.store.admit(linksOf('a.example', 2));
  assert.equal((await opened[2]!.store.census()).waiting, 2);
  for (const { store } of opened) await store.close();
});

test('postgres: crawls of different names in one database know nothing of each other', async () => {
  const url = await server.database();
  const [one, two] = [await open(url, { crawl: 'one' }), await open(url, { crawl: 'two' })];
  await one.store.admit(linksOf('a.example', 2));
  assert.equal((await two.store.census()).waiting, 0);
  assert.equal((await two.store.admit(linksOf('a.example', 2))).admitted, 2);
  await one.store.close();
  await two.store.close();
});

test('postgres: a crawl with another number of shards is refused with a sentence', async () => {
  const url = await server.database();
  await (await open(url)).store.close();
  const shards = await faultOf(open(url, { shards: SHARDS * 2 }));
  assert.match(shards.message, new RegExp(`has ${SHARDS} shards, not ${SHARDS * 2}`));
});

test('postgres: what a person got wrong is told in one sentence, and never with the password', async () => {
  const url = await server.database();
  const changed = (changes: Partial<URL>): string => Object.assign(new URL(url), changes).href;
  await server.query(url, "CREATE ROLE guest LOGIN PASSWORD 'guest'");
  const cases: [address: string, message: RegExp, changes?: Partial<StoreOptions>][] = [
    [changed({ password: 'wrong' }), /refuses the password/],
    [changed({ username: 'nobody' }), /refuses the password/],
    [changed({ pathname: '/nowhere' }), /there is no such database/],
    [changed({ port: '1' }), /PostgreSQL at 127\.0\.0\.1:1 does not answer \(connection refused\)/],
    [changed({ hostname: 'no-such-host.invalid' }), /does not answer \(its name is not known\)/],
    [changed({ username: 'guest', password: 'guest' }), /may not do what the store needs/],
    [`postgres://user:${PASSWORD}@host/x`, /the address of the store cannot be read/],
    ['postgres://user:12#34@host/x', /the address of the store cannot be read/],
    ['postgres://user:12?34@host/x', /the address of the store cannot be read/],
    ['http://host/x', /the address of the store cannot be read/],
    [url, /cannot be the name of a crawl/, { crawl: 'My crawl; DROP' }],
    [url, /cannot be the name of a member/, { member: 'a/b' }],
  ];
  for (const [address, message, changes] of cases) {
    const fault = await faultOf(open(address, changes));
    assert.match(fault.message, message);
    assert.ok(fault.advice.length > 10, fault.message);
  }
});

test('postgres: TLS where there is none, and a certificate of nobody, are told in a sentence', async () => {
  const url = await server.database();
  const plain = await faultOf(open(`${url}?sslmode=require`));
  assert.match(plain.message, /^PostgreSQL at 127\.0\.0\.1:\d+ has no TLS$/);
  assert.match(plain.advice, /ssl = on.*sslmode=disable/);
  // As far as the certificate, which is refused: what a PostgreSQL with TLS says to a client.
  const secureContext = createSecureContext(selfSigned('localhost'));
  const secure = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write('S');
      new TLSSocket(socket, { isServer: true, secureContext }).on('error', () => {});
    });
  });
  await new Promise<void>((resolve) => void secure.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = secure.address() as AddressInfo;
    const at = `postgres://user:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/x?sslmode=verify-full`;
    const untrusted = await faultOf(open(at));
    assert.match(
      untrusted.message,
      /^the certificate of PostgreSQL at .* is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)$/,
    );
    assert.match(untrusted.advice, /sslrootcert=FILE/);
    const unread = await faultOf(open(`${at}&sslrootcert=/nowhere.pem`));
    assert.match(unread.message, /cannot be read: .*\/nowhere\.pem/);
    assert.match(unread.advice, /sslrootcert/);
  } finally {
    secure.close();
  }
});

test('postgres: a server without a free connection is told of', async () => {
  const url = await server.database();
  const name = new URL(url).pathname.slice(1);
  await server.query(url, "CREATE ROLE crowd LOGIN PASSWORD 'crowd' CONNECTION LIMIT 0");
  await server.query(url, `GRANT CREATE ON DATABASE ${name} TO crowd`);
  const fault = await faultOf(open(Object.assign(new URL(url), { username: 'crowd', password: 'crowd' }).href));
  assert.match(fault.message, /too many connections/);
});

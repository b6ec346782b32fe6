/**
 * What threads count, each in its own place: the store what it did and for whom, the fetcher the phases of a request,
 * the pool and the loop who waits.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { runClaimLoop } from '../src/visit/claim-loop.ts';
import type { ParseJob } from '../src/visit/parts.ts';
import { CLAIMS_MAX, type Store } from '../src/contract/store.ts';
import type { Exchange } from '../src/model/exchange.ts';
import type { RequestKind } from '../src/model/request.ts';
import { createBoard, type Board } from '../src/observe/metrics/board.ts';
import { combineAll } from '../src/observe/metrics/combine.ts';
import { writeMetrics } from '../src/observe/metrics/text.ts';
import { openMemoryStore } from '../src/store/memory/store.ts';
import { openSqlite } from '../src/store/sqlite/store.ts';
import { openFetchMeter } from '../src/threads/fetch-meter.ts';
import { createParsePool } from '../src/threads/parse-pool.ts';
import { openClientMeter, openStoreTimes } from '../src/threads/store-meter.ts';
import { createStoreClient } from '../src/threads/store-client.ts';
import { createStoreServer, type StoreServer } from '../src/threads/store-server.ts';
import { ask, claimOne, DELAY_MS, link, linksOf, pageOf, settlementOf } from './contract/store-scene.ts';
import { answered, failed, onLoopback, requestFor } from './support/loopback.ts';
import { createManualClock, type ManualClock } from './support/manual-clock.ts';
import { openMemoryArchive } from './support/memory-archive.ts';
import { readMetrics, sumOf, sumsBy, type Point } from './support/metrics-text.ts';
import { selfSigned } from './support/self-signed.ts';

const pointsOf = (board: Board): Point[] => readMetrics(writeMetrics(combineAll(board.threads(), {})));

interface Counted {
  readonly clock: ManualClock;
  readonly board: Board;
  /** The store as that fetch thread has it. */
  client(name: string): Store;
}

const STORES = {
  sqlite: (clock: ManualClock, board: Board) => {
    const home = mkdtempSync(join(tmpdir(), 'gossamer-metrics-'));
    const store = openSqlite({
      path: join(home, 'crawl.db'),
      clock: () => clock,
      archive: () => openMemoryArchive(),
    });
    const server = createStoreServer(store, {
      onSlow: () => {},
      onTime: openStoreTimes(board.cellsOf('store', 'store'), 'sqlite'),
    });
    const close = async (): Promise<void> => {
      await store.close();
      rmSync(home, { recursive: true });
    };
    return { server, close };
  },
  shared: (clock: ManualClock, board: Board) => {
    const store = openMemoryStore({ clock, archive: openMemoryArchive() });
    const server = createStoreServer(
      { ...store, time: async () => clock.now() },
      { onSlow: () => {}, onTime: openStoreTimes(board.cellsOf('store', 'store'), 'redis') },
    );
    return { server, close: store.close };
  },
} satisfies Record<string, (clock: ManualClock, board: Board) => { server: StoreServer; close: () => Promise<void> }>;

for (const [name, open] of Object.entries(STORES)) {
  const counted = async (story: (counted: Counted) => Promise<void>): Promise<void> => {
    const clock = createManualClock();
    const board = createBoard();
    const { server, close } = open(clock, board);
    const clients: Store[] = [];
    try {
      await story({
        clock,
        board,
        client: (thread) => {
          const { port1, port2 } = new MessageChannel();
          server.serve(port1, thread, openClientMeter(board.cellsOf(thread, 'fetch')));
          clients.push(createStoreClient(port2));
          return clients.at(-1)!;
        },
      });
    } finally {
      for (const client of clients) await client.close();
      await server.drained();
      await close();
    }
  };

  test(`${name}: what the store settled and admitted is counted for the thread that asked, and what it refused is not`, () =>
    counted(async ({ board, client }) => {
      const [one, two] = [client('fetch-1'), client('fetch-2')];
      await one.admit([...linksOf('a.example', 3), link('a.example/1')]);
      await two.admit([link('b.example/1'), link('a.example/2'), ...linksOf('c.example', 3)], 2);
      const { visits } = await one.claim(ask({ holder: 'fetch-1', leaseMs: null }));
      assert.equal(visits.length, 3);
      const [a, b, c] = visits as [
        (typeof visits)[0] & object,
        (typeof visits)[0] & object,
        (typeof visits)[0] & object,
      ];
      await one.settle([settlementOf(a), settlementOf(a)]);
      await two.settle([
        settlementOf(a),
        settlementOf(b, { page: pageOf(b, { outcome: 'client-error' }) }),
        settlementOf(c, { fate: 'retry', page: null }),
      ]);
      const points = pointsOf(board);
      assert.equal(sumOf(points, 'gossamer_pages_total', { thread: 'fetch-1' }), 1);
      assert.equal(sumOf(points, 'gossamer_pages_total', { thread: 'fetch-1', outcome: 'fetched' }), 1);
      assert.deepEqual(
        sumsBy(
          points.filter(({ labels }) => labels.thread === 'fetch-2'),
          'gossamer_pages_total',
          'outcome',
        ),
        { 'client-error': 1 },
      );
      const census = await one.census();
      assert.deepEqual(sumsBy(points, 'gossamer_pages_total', 'outcome'), census.settled);
      assert.deepEqual(
        ['admitted', 'seen', 'forgotten'].map((what) => sumOf(points, `gossamer_links_${what}_total`)),
        [6, 2, 1],
      );
    }));

  test(`${name}: a link that is given up when a dead thread's leases are freed is counted for that thread`, () =>
    counted(async ({ clock, board, client }) => {
      const [main, one] = [client('main'), client('fetch-1')];
      await main.admit([link('a.example/1')]);
      for (let claims = 0; claims < CLAIMS_MAX; claims++) {
        assert.equal(sumOf(pointsOf(board), 'gossamer_pages_total'), 0);
        await claimOne(one, { holder: 'fetch-1' });
        await main.steer([{ kind: 'free', holder: 'fetch-1', counted: true }]);
        clock.advance(2 * DELAY_MS);
      }
      const census = await main.census();
      assert.deepEqual(census.settled, { 'gave-up': 1 });
      assert.deepEqual(sumsBy(pointsOf(board), 'gossamer_pages_total', 'thread'), { 'fetch-1': 1 });
      assert.deepEqual(sumsBy(pointsOf(board), 'gossamer_pages_total', 'outcome'), census.settled);
    }));

  test(`${name}: every verb of the store is timed`, () =>
    counted(async ({ board, client }) => {
      const one = client('fetch-1');
      await one.admit([link('a.example/1')]);
      await one.settle([settlementOf(await claimOne(one))]);
      await one.census();
      await one.steer([{ kind: 'retry-parked' }]);
      const verbs = sumsBy(pointsOf(board), 'gossamer_store_verb_seconds_count', 'verb');
      // Each came alone, so each had a transaction of its own; a census needs none.
      assert.deepEqual(verbs, {
        admit: 1,
        claim: 1,
        settle: 1,
        census: 1,
        steer: 1,
        ...(name === 'sqlite' ? { commit: 4 } : {}),
      });
    }));
}

const pointsAfter = (kind: RequestKind, exchanges: readonly Exchange[]): Point[] => {
  const board = createBoard();
  const meter = openFetchMeter(board.cellsOf('fetch-1', 'fetch'));
  for (const exchange of exchanges) meter.request(kind, exchange);
  return pointsOf(board);
};

const BODY = 'x'.repeat(5_000);
const RESPONSE = `HTTP/1.1 200 OK\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;

test('the phases of a request are timed: a fresh connection has all of them, a kept one only those after it', () =>
  onLoopback(async ({ serve, fetcher }) => {
    const { url } = await serve((socket) => socket.write(RESPONSE), selfSigned('localhost'));
    const { fetch } = fetcher();
    const first = answered(await fetch(requestFor(url, { keepMs: 5_000 })));
    const again = answered(await fetch(requestFor(url)));
    const { times } = first;
    assert.ok(times && again.times);
    for (const ms of [times.lookupMs, times.connectMs, times.tlsMs, times.firstByteMs])
      assert.ok(ms !== null && ms >= 0 && ms <= times.totalMs);
    assert.deepEqual(
      [again.times.lookupMs, again.times.connectMs, again.times.tlsMs, again.times.resumed],
      [null, null, null, null],
    );
    assert.deepEqual(
      [times.sentBytes, times.receivedBytes, times.resumed],
      [first.requestHead.length, RESPONSE.length, false],
    );

    const points = pointsAfter('page', [first, again]);
    const counts = Object.fromEntries(
      ['lookup', 'connect', 'tls', 'first-byte', 'total'].map((phase) => [
        phase,
        sumOf(points, 'gossamer_fetch_seconds_count', { kind: 'page', phase }),
      ]),
    );
    assert.deepEqual(counts, { lookup: 1, connect: 1, tls: 1, 'first-byte': 2, total: 2 });
    assert.deepEqual(sumsBy(points, 'gossamer_tls_handshakes_total', 'resumed'), { no: 1 });
    assert.deepEqual(sumsBy(points, 'gossamer_network_bytes_total', 'direction'), {
      in: 2 * RESPONSE.length,
      out: first.requestHead.length + again.requestHead.length,
    });
    assert.deepEqual(
      [sumOf(points, 'gossamer_content_bytes_sum'), sumOf(points, 'gossamer_content_bytes_count')],
      [2 * BODY.length, 2],
    );
    assert.deepEqual(sumsBy(points, 'gossamer_requests_total', 'kind'), { page: 2 });
    assert.equal(sumOf(points, 'gossamer_errors_total'), 0);
  }));

test('a plain connection has no TLS, a refused one no response, and errors have their names', () =>
  onLoopback(async ({ serve, listen, fetcher }) => {
    const { url } = await serve(
      (socket, head) =>
        void socket.end(`HTTP/1.1 ${head.startsWith('GET /4') ? 404 : 503} No\r\ncontent-length: 2\r\n\r\nno`),
    );
    const rude = await listen((socket) => socket.destroy());
    const { fetch } = fetcher();
    const missing = answered(await fetch(requestFor(`${url}4`)));
    const lost = failed(await fetch(requestFor(rude.url)));
    assert.deepEqual(
      [missing.times?.tlsMs, missing.times?.resumed, lost.times?.firstByteMs, lost.times?.receivedBytes],
      [null, null, null, 0],
    );
    const points = pointsAfter('robots', [missing, answered(await fetch(requestFor(url))), lost]);
    assert.deepEqual(sumsBy(points, 'gossamer_errors_total', 'kind'), {
      'http-4xx': 1,
      'http-5xx': 1,
      [lost.cause]: 1,
    });
    assert.equal(sumOf(points, 'gossamer_fetch_seconds_count', { kind: 'robots', phase: 'connect' }), 3);
    assert.equal(sumOf(points, 'gossamer_fetch_seconds_count', { kind: 'robots', phase: 'first-byte' }), 2);
    assert.equal(sumOf(points, 'gossamer_content_bytes_count'), 0, 'robots.txt is no content');
  }));

test('sockets are told of as they are opened and closed', () =>
  onLoopback(async ({ serve, fetcher }) => {
    const { url } = await serve((socket) => socket.write(RESPONSE));
    const told: number[][] = [];
    const { fetch } = fetcher({ onSockets: (...counts) => void told.push(counts) });
    await fetch(requestFor(url));
    assert.deepEqual(told, [
      [1, 0],
      [0, 0],
    ]);
  }));

test('a visit that finds no parse thread free is counted once, as soft back-pressure', async () => {
  let waits = 0;
  const pool = createParsePool(() => waits++);
  const { port1, port2 } = new MessageChannel();
  pool.add('parse-1', port1);
  const job = (lease: number): ParseJob => ({ lease, robots: [], page: null, read: false });
  try {
    const lost = [1, 2, 3, 4].map((lease) => pool.parse(job(lease)));
    assert.deepEqual([waits, pool.waiting(), pool.backlog()], [2, 2, 4]);
    pool.expectNoMore();
    pool.remove('parse-1', 0);
    await Promise.all(lost);
    assert.deepEqual([waits, pool.waiting(), pool.backlog()], [2, 0, 0]);
  } finally {
    port2.close();
  }
});

test('time in which every slot has a visit is counted, as hard back-pressure', async () => {
  const clock = createManualClock();
  const stop = new AbortController();
  const stopped: number[] = [];
  const ends: (() => void)[] = [];
  const turns = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await null;
  };
  const loop = runClaimLoop({
    clock,
    slots: 1,
    stop: stop.signal,
    onFull: (ms) => void stopped.push(ms),
    claim: async () => ({ visits: [{} as never], nextDueAt: null }),
    visit: () => new Promise<void>((resolve) => ends.push(resolve)),
  });
  await turns();
  clock.advance(10); // the gap between two claims
  await turns();
  clock.advance(100);
  ends.shift()!();
  await turns();
  assert.deepEqual(stopped, [100]);
  stop.abort();
  await turns();
  for (const end of ends) end();
  await loop;
});

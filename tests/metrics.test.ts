/**
 * Metrics without a crawl: the memory of threads, how it is combined and written, rates, descriptors, and where it is
 * served.
 */

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { UsageError } from '../src/model/read-settings.ts';
import { createBoard } from '../src/observe/metrics/board.ts';
import { cellOf, cellsBy, newCells, openDistribution, openMeter, readSeries } from '../src/observe/metrics/cells.ts';
import { combineAll, only, type ThreadCells } from '../src/observe/metrics/combine.ts';
import { countDescriptors, sortDescriptors } from '../src/observe/metrics/descriptors.ts';
import { keepRecent, rateBetween } from '../src/observe/metrics/rates.ts';
import { checkListen, CONNECTIONS_MAX, readListen, serveMetrics } from '../src/observe/metrics/serve.ts';
import { fullName, METRIC_NAMES, metricOf } from '../src/observe/metrics/table.ts';
import { CONTENT_TYPE, escapeLabel, writeMetrics } from '../src/observe/metrics/text.ts';
import { readMetrics, sumOf } from './support/metrics-text.ts';
import { until } from './support/until.ts';

const thread = (name: string, role: ThreadCells['role'] = 'fetch'): ThreadCells => ({ name, role, cells: newCells() });
const pointsOf = (...threads: ThreadCells[]) => readMetrics(writeMetrics(combineAll(threads, {})));

test('names and units are those that Prometheus expects', () => {
  for (const name of METRIC_NAMES) {
    const { type, labels = {}, buckets } = metricOf(name);
    assert.match(fullName(name), /^gossamer_[a-z_]+$/);
    assert.equal(type === 'counter', name.endsWith('_total'), `${name}: counters end in _total, and only they`);
    assert.equal(type === 'histogram', buckets !== undefined, name);
    assert.deepEqual(
      buckets?.toSorted((a, b) => a - b),
      buckets,
      `${name}: buckets ascend`,
    );
    assert.deepEqual(
      Object.keys(labels).filter((label) => ['le', 'thread', 'quantile'].includes(label)),
      [],
      `${name}: reserved labels`,
    );
  }
});

test('every series of every metric has cells of its own', () => {
  const one = thread('fetch-1');
  const meter = openMeter(one.cells);
  let n = 0;
  const written = new Map<string, number>();
  for (const name of METRIC_NAMES) {
    if (metricOf(name).by === 'asked') continue;
    for (const { labels } of readSeries(one.cells, name)) {
      meter.add(cellOf(name, labels), ++n);
      written.set(`${name} ${JSON.stringify(labels)}`, n);
    }
  }
  for (const name of METRIC_NAMES) {
    if (metricOf(name).by === 'asked') continue;
    for (const { labels, cells } of readSeries(one.cells, name))
      assert.equal(cells[0], written.get(`${name} ${JSON.stringify(labels)}`), name);
  }
});

test('a label that is not in the table is a defect, not a new series', () => {
  assert.throws(() => cellOf('requests_total', { kind: 'example.org' }), /no kind "example.org"/);
  assert.throws(() => cellOf('phase'), /not in the memory/);
});

test('numbers of several threads are added up, the largest is taken, or each has its series', () => {
  const threads = [thread('fetch-1'), thread('fetch-2'), thread('parse-1', 'parse')];
  threads.forEach(({ cells }, i) => {
    const meter = openMeter(cells);
    meter.add(cellOf('requests_total', { kind: 'page' }), 10 ** i);
    meter.set(cellOf('longest_request_seconds'), 5 - i);
    meter.set(cellOf('visits'), 3 + i);
  });
  const points = pointsOf(...threads);
  assert.equal(sumOf(points, 'gossamer_requests_total', { kind: 'page' }), 11, 'a parse thread sends no requests');
  assert.equal(sumOf(points, 'gossamer_longest_request_seconds'), 5);
  assert.deepEqual(
    points.filter(({ name }) => name === 'gossamer_visits').map(({ labels, value }) => [labels.thread, value]),
    [
      ['fetch-1', 3],
      ['fetch-2', 4],
    ],
  );
});

test('a histogram counts a value in the bucket that it just fits, and every larger one', () => {
  const one = thread('fetch-1');
  const { buckets = [] } = metricOf('content_bytes');
  const sizes = openDistribution(one.cells, 'content_bytes');
  const [first, second] = buckets as [number, number];
  for (const value of [0, first, first + 1, second, buckets.at(-1)! + 1]) sizes.observe(value);
  const points = pointsOf(one);
  const upTo = (le: string) => sumOf(points, 'gossamer_content_bytes_bucket', { le });
  assert.deepEqual(
    [upTo(String(first)), upTo(String(second)), upTo(String(buckets.at(-1))), upTo('+Inf')],
    [2, 4, 4, 5],
  );
  assert.equal(sumOf(points, 'gossamer_content_bytes_count'), 5);
  assert.equal(sumOf(points, 'gossamer_content_bytes_sum'), first + first + 1 + second + buckets.at(-1)! + 1);
});

test('histograms of several threads are one', () => {
  const threads = [thread('fetch-1'), thread('fetch-2')];
  for (const { cells } of threads)
    openDistribution(cells, 'fetch_seconds', { kind: 'robots', phase: 'tls' }).observe(0.03);
  const points = pointsOf(...threads);
  const labels = { kind: 'robots', phase: 'tls' };
  assert.deepEqual(
    [sumOf(points, 'gossamer_fetch_seconds_count', labels), sumOf(points, 'gossamer_fetch_seconds_sum', labels)],
    [2, 0.06],
  );
  assert.deepEqual(
    [
      sumOf(points, 'gossamer_fetch_seconds_bucket', { ...labels, le: '0.025' }),
      sumOf(points, 'gossamer_fetch_seconds_bucket', { ...labels, le: '0.05' }),
    ],
    [0, 2],
  );
  assert.equal(sumOf(points, 'gossamer_fetch_seconds_count', { kind: 'page' }), 0);
});

test('a thread that is started again goes on with its counters, and what it had under way is gone', () => {
  const board = createBoard();
  const first = openMeter(board.cellsOf('fetch-1', 'fetch'));
  first.add(cellOf('network_bytes_total', { direction: 'in' }), 500);
  first.set(cellOf('visits'), 7);
  openDistribution(board.cellsOf('fetch-1', 'fetch'), 'content_bytes').observe(1);
  board.ended('fetch-1');
  openMeter(board.cellsOf('fetch-1', 'fetch')).add(cellOf('network_bytes_total', { direction: 'in' }), 20);
  const points = pointsOf(...board.threads());
  assert.equal(sumOf(points, 'gossamer_network_bytes_total', { direction: 'in' }), 520);
  assert.equal(sumOf(points, 'gossamer_content_bytes_count'), 1);
  assert.equal(sumOf(points, 'gossamer_visits'), 0);
  assert.equal(board.threads().length, 1);
});

test('the text has HELP and TYPE once for each metric, before its series, and ends with a line', () => {
  const text = writeMetrics(combineAll([thread('fetch-1'), thread('fetch-2')], { disk_free_bytes: [only(12)] }));
  assert.match(
    text,
    /\n# HELP gossamer_requests_total [^\n]+\n# TYPE gossamer_requests_total counter\ngossamer_requests_total\{kind="page"\} 0\n/,
  );
  assert.match(text, /# TYPE gossamer_fetch_seconds histogram\n/);
  assert.match(text, /\ngossamer_disk_free_bytes 12\n/);
  const helps = [...text.matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name);
  assert.equal(new Set(helps).size, helps.length);
  assert.ok(!text.includes('gossamer_resident_memory_bytes'), 'what nobody looked up is left out');
  assert.ok(text.endsWith('\n') && !text.includes('\n\n'));
});

test('every sample says whose it is: of which crawl, by which member', () => {
  const thread: ThreadCells = { name: 'fetch-1', role: 'fetch', cells: newCells() };
  const whose = { crawl: 'news', member: 'a-b' };
  const points = readMetrics(writeMetrics(combineAll([thread], { disk_free_bytes: [only(12)] }), whose));
  assert.ok(points.some(({ name }) => name.endsWith('_bucket')) && points.some(({ labels }) => labels.thread));
  for (const { name, labels } of points) assert.deepEqual({ ...labels, ...whose }, labels, name);
});

test('label values are escaped', () => {
  assert.equal(escapeLabel('a\\b"c\nd'), 'a\\\\b\\"c\\nd');
  const [point] = readMetrics(writeMetrics([['disk_free_bytes', [only(1, { thread: 'a\\b"c\nd,e="f' })]]]));
  assert.equal(point?.labels.thread, 'a\\b"c\nd,e="f');
});

test('a rate is over the last five seconds, or what there is of them', () => {
  const samples = [0, 1, 2, 3, 4, 5, 6, 7].map((second) => ({ atMs: second * 1_000, totals: { a: second * 10 } }));
  const now = { atMs: 7_500, totals: { a: 170, b: 25 } };
  const recent = keepRecent(samples, now.atMs);
  assert.equal(recent[0]?.atMs, 2_000, 'the youngest that is five seconds old');
  assert.deepEqual(rateBetween(recent[0]!, now), { a: 150 / 5.5, b: 25 / 5.5 });
  assert.equal(keepRecent(samples.slice(0, 2), 1_500)[0]?.atMs, 0);
  assert.equal(keepRecent(samples.slice(0, 2), 60_000)[0]?.atMs, 1_000, 'after a long sleep the last sample counts');
  assert.deepEqual(rateBetween(now, { ...now, atMs: now.atMs + 1 }), { a: 0, b: 0 }, 'a moment gives no rate');
});

test('every descriptor is of one kind, and the sockets that threads know of are no more than there are', () => {
  const found = [
    'socket:[1]',
    'socket:[2]',
    'socket:[3]',
    'socket:[4]',
    'pipe:[5]',
    'anon_inode:[eventpoll]',
    '/dev/null',
    '/crawl/crawl.db-wal',
    '/crawl/warc/a.warc.gz',
  ];
  const isOfStore = (path: string): boolean => path.startsWith('/crawl/crawl.db');
  assert.deepEqual(sortDescriptors(found, { http: 1, https: 1, store: 1 }, isOfStore), {
    store: 2,
    http: 1,
    https: 1,
    files: 1,
    pipes: 1,
    other: 3,
  });
  assert.deepEqual(sortDescriptors(found, { http: 3, https: 3, store: 3 }, isOfStore), {
    store: 1,
    http: 3,
    https: 1,
    files: 1,
    pipes: 1,
    other: 2,
  });
  const sum = (counts: object): number => Object.values(counts).reduce((total: number, n: number) => total + n, 0);
  assert.equal(sum(sortDescriptors(found, { http: 0, https: 0, store: 9 }, isOfStore)), found.length);
  const own = countDescriptors({ http: 0, https: 0, store: 0 }, () => false);
  if (process.platform === 'linux') assert.ok(own && own.other + own.pipes + own.files > 2);
});

test('--metrics is a port, with or without the host to listen on', () => {
  assert.deepEqual(readListen('9464'), { host: '127.0.0.1', port: 9464 });
  assert.deepEqual(readListen('0.0.0.0:80'), { host: '0.0.0.0', port: 80 });
  assert.deepEqual(readListen('[::1]:9464'), { host: '::1', port: 9464 });
  assert.deepEqual(readListen('localhost:0'), { host: 'localhost', port: 0 });
  for (const wrong of [
    '',
    'x',
    '-1',
    '65536',
    '123456',
    ':9464',
    '::1:9464',
    '[x]:1',
    'a b:1',
    'http://localhost:1',
    '1.2.3.4:',
  ])
    assert.equal(readListen(wrong), null, wrong);
});

test('metrics are served where they were asked for, and nothing else is', async () => {
  let reads = 0;
  const server = await serveMetrics('0', () => {
    if (++reads === 3) throw new Error('planted');
    return 'gossamer_links 1\n';
  });
  try {
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    const answer = await fetch(`${server.url}?from=prometheus`);
    assert.deepEqual(
      [answer.status, answer.headers.get('content-type'), await answer.text()],
      [200, CONTENT_TYPE, 'gossamer_links 1\n'],
    );
    const head = await fetch(server.url, { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.get('content-length'), await head.text()], [200, '17', '']);
    const broken = await fetch(server.url);
    assert.deepEqual([broken.status, await broken.text()], [500, 'The metrics could not be read: planted\n']);
    const elsewhere = await fetch(server.url.replace('/metrics', '/'));
    assert.deepEqual(
      [elsewhere.status, await elsewhere.text()],
      [404, 'There is nothing here; the metrics are at /metrics\n'],
    );
    const posted = await fetch(server.url, { method: 'POST', body: 'x' });
    assert.deepEqual(
      [posted.status, posted.headers.get('allow'), await posted.text()],
      [405, 'GET, HEAD', 'Only GET is answered.\n'],
    );
    const { port } = new URL(server.url);
    await assert.rejects(
      checkListen(port),
      (error) => error instanceof UsageError && error.message.includes(`port ${port} is taken`),
    );
  } finally {
    await server.close();
  }
  await assert.rejects(fetch(server.url));
  await checkListen(new URL(server.url).port); // free again
});

test('a client that asks and asks and reads nothing costs one answer, and its connection', async () => {
  let reads = 0;
  const server = await serveMetrics('0', () => `${'x'.repeat(2 ** 20)}${++reads}\n`);
  try {
    const { port, host } = new URL(server.url);
    const client = connect(Number(port), '127.0.0.1');
    client.on('error', () => {}); // that it is ended is what is waited for
    client.pause();
    client.write(`GET /metrics HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(5_000));
    await until('the connection was ended', () => {
      if (!client.destroyed) client.write('GET /metrics HTTP/1.1\r\n'); // a socket that only listens may not notice
      return client.destroyed;
    });
    assert.equal(reads, 1);
    for (let n = 0; n < 3; n++) assert.equal((await (await fetch(server.url)).text()).length, 2 ** 20 + 2);
    assert.equal(reads, 4, 'others are served, one after the other on one connection too');
  } finally {
    await server.close();
  }
});

test('connections to the metrics have a ceiling', async () => {
  const server = await serveMetrics('0', () => 'x\n');
  const port = Number(new URL(server.url).port);
  const clients = Array.from({ length: CONNECTIONS_MAX + 20 }, () => connect(port, '127.0.0.1'));
  try {
    for (const client of clients) client.on('error', () => {}).resume();
    await until('those over it were ended', () => clients.filter(({ closed }) => closed).length === 20);
    for (const client of clients) client.destroy();
    await until('others are served again', () =>
      fetch(server.url).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  } finally {
    for (const client of clients) client.destroy();
    await server.close();
  }
});

test('a place where nothing can be served is refused with a sentence', async () => {
  for (const [text, says] of [
    ['x', /--metrics "x" is not understood: write PORT or HOST:PORT/],
    ['192.0.2.1:0', /192\.0\.2\.1 is no address of this machine/],
  ] as const) {
    await assert.rejects(
      async () => checkListen(text),
      (error) => error instanceof UsageError && says.test(error.message),
      text,
    );
  }
  await checkListen('');
});

test('cells by label are those of each value', () => {
  assert.deepEqual(
    Object.values(cellsBy('backpressure_total', 'kind')),
    ['soft', 'hard'].map((kind) => cellOf('backpressure_total', { kind })),
  );
});

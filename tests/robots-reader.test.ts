/** A robots.txt is read where it holds nobody up, and says the same wherever that is. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Answered } from '../src/model/exchange.ts';
import { completeSettings } from '../src/model/read-settings.ts';
import { newCells } from '../src/observe/metrics/cells.ts';
import { decodeText } from '../src/parse/page.ts';
import { parseRobots } from '../src/politeness/robots.ts';
import type { ToParseThread } from '../src/threads/messages.ts';
import { createParsePool, type ParsePool } from '../src/threads/parse-pool.ts';
import { createRobotsReader, type RobotsRead } from '../src/threads/robots-reader.ts';
import { launch } from '../src/threads/thread.ts';

const productToken = 'gossamer';

const responseOf = (body: Uint8Array, contentEncoding = ''): Answered => ({
  kind: 'answered',
  url: 'http://a.example/robots.txt',
  startedAt: 0,
  answeredAt: 0,
  endedAt: 0,
  address: '192.0.2.1',
  requestHead: '',
  head: '',
  status: 200,
  headers: contentEncoding === '' ? {} : { 'content-encoding': contentEncoding },
  body: new Uint8Array(body),
  truncated: null,
});

const small = Buffer.from('User-agent: *\nDisallow: /private\nSitemap: http://a.example/map.xml\n');
const large = Buffer.from(
  `User-agent: *\nCrawl-delay: 3\n${Array.from({ length: 2_000 }, (_, n) => `Disallow: /private/${n}/`).join('\n')}\n`,
);
const broken = gzipSync(large);
broken.fill(0xff, broken.length - 200, broken.length - 100);

const responses: Readonly<Record<string, Answered>> = {
  small: responseOf(small),
  large: responseOf(large),
  'packed small': responseOf(gzipSync(small), 'gzip'),
  'packed large': responseOf(brotliCompressSync(large), 'br'),
  broken: responseOf(broken, 'gzip'),
  bomb: responseOf(gzipSync(Buffer.alloc(100 * 1024 ** 2, 'Disallow: /a\n')), 'gzip'),
};

const expectedOf = ({ headers, body }: Answered) => parseRobots(decodeText(headers, body), productToken);

/** A pool with one real parse thread in it. */
const withParseThread = async (story: (pool: ParsePool) => Promise<void>): Promise<void> => {
  const pool = createParsePool();
  const { port1, port2 } = new MessageChannel();
  const { worker, exited } = launch({
    role: 'parse',
    name: 'parse-1',
    workerData: { cells: newCells(), settings: completeSettings({ email: 'test@example.org' }, 2), productToken },
    onEnd: () => {},
  });
  worker.postMessage({ kind: 'client', port: port2 } satisfies ToParseThread, [port2]);
  pool.add('parse-1', port1);
  try {
    await story(pool);
  } finally {
    pool.close();
    await worker.terminate();
    await exited;
  }
};

test('a robots.txt says the same in a parse thread, here in turns, and to an audit', () =>
  withParseThread(async (pool) => {
    const there = createRobotsReader({ productToken, elsewhere: pool.readRobots });
    const here = createRobotsReader({ productToken, elsewhere: null });
    for (const [name, response] of Object.entries(responses)) {
      const expected = expectedOf(response);
      assert.deepEqual(await there(response, 7), expected, name);
      assert.deepEqual(await here(response, 7), expected, name);
      assert.ok(response.body.length > 0, `${name}: the body is still there for the archive`);
    }
    assert.equal(expectedOf(responses.large!).crawlDelayMs, 3_000);
  }));

test('a robots.txt that is packed or large goes to a parse thread, and a small one does not wait for it', async () => {
  const sent: number[] = [];
  const read = createRobotsReader({
    productToken,
    elsewhere: async ({ lease, headers, body }): Promise<RobotsRead> => {
      sent.push(lease);
      return { kind: 'read', rules: parseRobots(decodeText(headers, body), productToken) };
    },
  });
  for (const [lease, response] of Object.values(responses).entries()) await read(response, lease);
  assert.deepEqual(sent, [1, 2, 3, 4, 5], 'all but the first');
});

test('without parse threads a large robots.txt is read in turns with everything else', async () => {
  const read = createRobotsReader({ productToken, elsewhere: null });
  const body = Buffer.from(`User-agent: *\n${'Disallow: /a\n'.repeat(38_000)}`);
  let turns = 0;
  let isDone = false;
  const turn = (): void => {
    turns += 1;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const rules = await read(responseOf(body), 7);
  isDone = true;
  assert.equal(rules?.verdict, 'rules');
  assert.ok(turns >= 30, `${turns} turns`);
});

test('a robots.txt that ended its thread cannot be read; one whose thread died of another job is read here', async () => {
  const lost = (culprit: boolean) =>
    createRobotsReader({ productToken, elsewhere: async () => ({ kind: 'lost', culprit }) });
  assert.equal(await lost(true)(responses.large!, 7), null);
  assert.deepEqual(await lost(false)(responses.large!, 7), expectedOf(responses.large!));
});

test('robots.txt waits in the pool like a page, and is lost with its thread', async () => {
  const pool = createParsePool();
  const { port1, port2 } = new MessageChannel();
  pool.add('parse-1', port1);
  const { headers, body } = responses.large!;
  const jobs = [1, 2].map((lease) => pool.readRobots({ kind: 'robots', lease, headers, body }));
  assert.equal(pool.backlog(), 2);
  pool.remove('parse-1', 2);
  assert.deepEqual(await Promise.all(jobs), [
    { kind: 'lost', culprit: false },
    { kind: 'lost', culprit: true },
  ]);
  port2.close();
});

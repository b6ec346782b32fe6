/** What a person says about themselves reaches every request: of robots.txt and of pages. */

import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { assertCode, flagWords, onStage, plainPlan, type Flags } from '../support/stage.ts';

type Asked = readonly [path: string | undefined, headers: IncomingHttpHeaders];

/** Crawls a site of one page, and gives what it was asked for. */
const askedWith = async (flags: Flags, robots = ''): Promise<Asked[]> => {
  const asked: Asked[] = [];
  const server = createServer(({ url, headers }, response) => {
    asked.push([url, headers]);
    if (url === '/robots.txt') response.setHeader('content-type', 'text/plain').end(robots);
    else response.setHeader('content-type', 'text/html').end('<p>one page</p>');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const words = flagWords({
    url: 'http://one.example/',
    email: 'me@example.net',
    'disk-reserve': '10MiB',
    'connect-to': `*:80:127.0.0.1:${port}`,
    ...flags,
  });
  try {
    await onStage(plainPlan(1, 1), async ({ gossamer, dir }) =>
      assertCode(await gossamer('crawl', '--dir', dir, ...words), 0),
    );
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return asked;
};

test('a whole User-Agent is sent as it was given, and the contact beside it', async () => {
  const userAgent = 'MyBot/1.0 (+https://example.org/bot)';
  const asked = await askedWith({ 'user-agent': userAgent });
  assert.deepEqual(
    asked.map(([path, headers]) => [path, headers['user-agent'], headers.from]),
    [
      ['/robots.txt', userAgent, 'me@example.net'],
      ['/', userAgent, 'me@example.net'],
    ],
  );
});

test('robots.txt speaks to the name that is read from a whole User-Agent, or given apart', async () => {
  const rules = 'User-agent: MyBot\nDisallow: /\n\nUser-agent: *\nAllow: /\n';
  for (const flags of [
    { 'user-agent': 'MyBot/1.0 (+https://example.org/bot)' },
    { 'user-agent': 'Mozilla/5.0 (compatible; MyBot/1.0; +https://example.org/bot)', 'robots-token': 'mybot' },
  ]) {
    const asked = await askedWith(flags, rules);
    assert.deepEqual(
      asked.map(([path]) => path),
      ['/robots.txt'],
    );
  }
});

test('languages and headers of a person reach every request, and without them there are none', async () => {
  const sent = ({ 'accept-language': language, 'x-purpose': purpose, dnt }: IncomingHttpHeaders): unknown[] => [
    language,
    purpose,
    dnt,
  ];
  const given = { 'accept-language': 'de-AT, de;q=0.9, *;q=0.1', header: ['X-Purpose: a study', 'DNT:1'] };
  const asked = await askedWith(given);
  assert.deepEqual(
    asked.map(([path, headers]) => [path, ...sent(headers)]),
    [
      ['/robots.txt', 'de-AT, de;q=0.9, *;q=0.1', 'a study', '1'],
      ['/', 'de-AT, de;q=0.9, *;q=0.1', 'a study', '1'],
    ],
  );
  for (const [, headers] of await askedWith({})) assert.deepEqual(sent(headers), [undefined, undefined, undefined]);
});

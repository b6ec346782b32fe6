/** Budgets per site with the real binary: a hot site neither fills the disk nor starves the others. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openSqliteReader } from '../../src/store/sqlite/reader.ts';
import { runBinary } from '../support/binary.ts';

const SMALL_SITES = 10;
const SMALL_PAGES = 6;
const WAITING_MAX = 60;

/**
 * One site whose every page has 500 links that nobody has seen, and some small ones; each page of it links to all of
 * them.
 */
const serveHotSite = async (): Promise<{ port: number; asked: string[]; close: () => Promise<void> }> => {
  const asked: string[] = [];
  const anchors = (hrefs: readonly string[]): string => hrefs.map((href) => `<a href="${href}">x</a>`).join('\n');
  const small = Array.from({ length: SMALL_SITES }, (_, n) => `http://small-${n}.example/`);
  const server = createServer((request, response) => {
    const {
      url = '/',
      headers: { host = '' },
    } = request;
    if (url === '/robots.txt') return void response.writeHead(404).end();
    asked.push(`http://${host}${url}`);
    response.setHeader('content-type', 'text/html');
    const hrefs =
      host === 'hot.example'
        ? [...Array.from({ length: 500 }, (_, n) => `/${asked.length}-${n}`), ...small]
        : Array.from({ length: SMALL_PAGES - 1 }, (_, n) => `/page-${n}`);
    response.end(anchors(hrefs));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

test('a hot site keeps to --max-waiting-per-site, the others are crawled whole, and nothing of it is damage', async () => {
  const web = await serveHotSite();
  const home = mkdtempSync(join(tmpdir(), 'gossamer-budgets-'));
  const dir = join(home, 'crawl');
  try {
    const ran = await runBinary([
      'crawl',
      '--url',
      'http://hot.example/',
      '--email',
      'test@example.org',
      '--dir',
      dir,
      '--delay',
      '20ms',
      '--disk-reserve',
      '0B',
      '--connect-to',
      `*:80:127.0.0.1:${web.port}`,
      '--max-waiting-per-site',
      String(WAITING_MAX),
      '--max-pages',
      '150',
    ]);
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(ran.stdout, /forgotten +[\d,]+ +times a link was over --max-waiting-per-site/);
    const small = web.asked.filter((url) => url.includes('small-'));
    assert.equal(small.length, SMALL_SITES * SMALL_PAGES);
    assert.equal(new Set(web.asked).size, web.asked.length);
    const reader = openSqliteReader(join(dir, 'crawl.db'));
    const { waiting } = reader.site('hot.example')!;
    const { forgotten } = reader.census();
    reader.close();
    assert.ok(waiting <= WAITING_MAX && waiting >= WAITING_MAX - 2, `${waiting} wait`);
    assert.ok(forgotten > 20_000, `${forgotten} were forgotten`);
    assert.equal((await runBinary(['verify', dir])).code, 0);
  } finally {
    await web.close();
    rmSync(home, { recursive: true, force: true });
  }
});

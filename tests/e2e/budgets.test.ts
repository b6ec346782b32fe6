/** Budgets per site with the real binary: a hot site neither fills the disk nor starves the others. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { lookAt } from '../support/sqlite-place.ts';
import { endBinaries, runBinary, startBinary } from '../support/binary.ts';
import { until } from '../support/until.ts';

const SMALL_SITES = 10;
const SMALL_PAGES = 6;
const WAITING_MAX = 60;
const HOT_PAGES = 90;

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
    const run = startBinary([
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
    ]);
    // The hot site has no end: the crawl is stopped when the others are done, however slow they were.
    const isSmall = (url: string): boolean => url.includes('small-');
    await until('all small sites are crawled, and much of the hot one', () => {
      if (run.isOver()) throw new Error(run.said());
      const small = web.asked.filter(isSmall).length;
      return small >= SMALL_SITES * SMALL_PAGES && web.asked.length - small >= HOT_PAGES;
    });
    run.send('SIGINT');
    const ran = await run.ended;
    assert.equal(ran.code, 3, ran.stderr);
    assert.match(ran.stdout, /forgotten +[\d,]+ +times a link was over --max-waiting-per-site/);
    assert.equal(web.asked.filter(isSmall).length, SMALL_SITES * SMALL_PAGES);
    assert.equal(new Set(web.asked).size, web.asked.length);
    const { waiting, forgotten } = await lookAt(dir, async (crawl) => ({
      waiting: (await crawl.link('', 'hot.example')).site!.waiting,
      forgotten: (await crawl.census()).forgotten,
    }));
    assert.ok(waiting <= WAITING_MAX && waiting >= WAITING_MAX - 2, `${waiting} wait`);
    assert.ok(forgotten > 20_000, `${forgotten} were forgotten`);
    assert.equal((await runBinary(['verify', dir])).code, 0);
  } finally {
    endBinaries();
    await web.close();
    rmSync(home, { recursive: true, force: true });
  }
});

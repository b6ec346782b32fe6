/** Trouble belongs to an origin: the healthy pages of its site are all fetched, and what was parked can come back. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { endBinaries, runBinary, type Ran } from '../support/binary.ts';
import { htmlOf } from '../support/few-pages.ts';
import { freePort } from '../support/free-port.ts';
import { startNameServer } from '../support/name-server.ts';
import { assertCode } from '../support/stage.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-origins-e2e-'));
after(() => {
  endBinaries();
  rmSync(home, { recursive: true });
});

const PAGES = 30;
const GOOD = Array.from({ length: PAGES }, (_, n) => `/p/${n}`);
const FRONT = htmlOf('front', [
  'http://gone.mysite.test/a',
  'http://gone.mysite.test/b',
  'http://closed.mysite.test/a',
  'http://odd.mysite.test/a',
  'https://mysite.test/only-http',
  ...GOOD,
]);

interface Place {
  readonly port: number;
  readonly closedPort: number;
  readonly asked: string[];
  /** Runs the binary with what leads all names to this machine. */
  crawl(dir: string, ...words: readonly string[]): Promise<Ran>;
  resume(dir: string, ...words: readonly string[]): Promise<Ran>;
}

const listening = (server: Server, port = 0): Promise<number> =>
  new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));

const onPlace = async (story: (place: Place) => Promise<void>): Promise<void> => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { host = '' } = request.headers;
    asked.push(`${host}${request.url}`);
    if (request.url === '/robots.txt') return void response.writeHead(host === 'odd.mysite.test' ? 503 : 404).end();
    if (host === 'typo.test')
      return void response
        .setHeader('content-type', 'text/html')
        .end(htmlOf('typo', ['http://misytped.mysite.test/', 'http://closed.mysite.test/c']));
    response.setHeader('content-type', 'text/html').end(request.url === '/' ? FRONT : htmlOf(request.url!));
  });
  const port = await listening(server);
  const closedPort = await freePort();
  const names = await startNameServer({});
  const common = [
    ...['--delay', '5ms', '--trouble-delay', '20ms', '--park-after', '3', '--disk-reserve', '10MiB'],
    ...['--name-server', names.address],
    ...['mysite.test', 'typo.test', 'odd.mysite.test'].flatMap((host) => [
      '--connect-to',
      `${host}:80:127.0.0.1:${port}`,
    ]),
    ...['--connect-to', `closed.mysite.test:80:127.0.0.1:${closedPort}`],
    ...['--connect-to', `mysite.test:443:127.0.0.1:${closedPort}`],
  ];
  try {
    await story({
      port,
      closedPort,
      asked,
      crawl: (dir, ...words) => runBinary(['crawl', '--dir', dir, '--email', 'a@example.org', ...common, ...words]),
      resume: (dir, ...words) => runBinary(['resume', dir, ...words]),
    });
  } finally {
    await names.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
};

interface Status {
  readonly waiting: number;
  readonly parked: number;
  readonly pages: number;
  readonly settledByOutcome: Readonly<Record<string, number>>;
  readonly sites: { readonly parked: number };
}

const statusOf = async (dir: string): Promise<Status> =>
  JSON.parse((await runBinary(['status', dir, '--json'])).stdout) as Status;

test('dead subdomains, a closed port, a robots.txt that fails and a mistyped link cost their own links, nothing else', () =>
  onPlace(async ({ crawl, resume, asked, closedPort }) => {
    const dir = join(home, 'dead');
    const ran = await crawl(dir, '--url', 'http://mysite.test/', '--url', 'http://typo.test/');
    assertCode(ran, 0);
    assert.match(ran.stdout, /is finished after .* pages in this run .*; 7 links of 5 origins parked/);
    const status = await statusOf(dir);
    assert.deepEqual(
      [status.pages, status.waiting, status.parked, status.sites.parked, status.settledByOutcome],
      [PAGES + 2, 0, 7, 5, { fetched: PAGES + 2 }],
      'nothing is settled as failed that was never asked',
    );
    for (const path of GOOD) assert.equal(asked.filter((one) => one === `mysite.test${path}`).length, 1, path);
    assert.equal(
      asked.filter((one) => one === 'odd.mysite.test/robots.txt').length,
      3,
      'as often as --park-after says',
    );

    const explained = await runBinary(['explain', dir, 'http://gone.mysite.test/a']);
    assert.match(
      explained.stdout,
      /parked: http:\/\/gone\.mysite\.test cannot be asked, because the host name does not exist/,
    );
    const refused = (await runBinary(['explain', dir, 'http://closed.mysite.test/c'])).stdout.replace(/\s+/g, ' ');
    assert.match(
      refused,
      /http:\/\/closed\.mysite\.test failed 3 times in a row, and --park-after is 3\. The last time, the connection was refused/,
    );

    // Somebody opens the port: to ask again brings its pages, and parks the others again.
    const opened = createServer(
      (_, response) => void response.setHeader('content-type', 'text/html').end(htmlOf('late')),
    );
    await listening(opened, closedPort);
    try {
      assertCode(await resume(dir, '--retry-parked'), 0);
      const later = await statusOf(dir);
      assert.deepEqual([later.pages, later.waiting, later.sites.parked], [PAGES + 2 + 2, 0, 4]);
    } finally {
      opened.closeAllConnections();
      await new Promise((resolve) => opened.close(resolve));
    }
    assertCode(await runBinary(['verify', dir]), 0);
  }));

test('a seed that cannot be reached has an exit code of its own, and a sentence', () =>
  onPlace(async ({ crawl, resume, asked, port, closedPort }) => {
    const dir = join(home, 'seeds');
    const ran = await crawl(dir, '--url', 'http://mysite.test/p/1', '--url', 'nowhere.test');
    assertCode(ran, 5);
    assert.match(ran.stdout, /1 seed could not be reached:\n +https:\/\/nowhere\.test: the host name does not exist/);
    assert.deepEqual((await statusOf(dir)).settledByOutcome, { fetched: 1 });
    // Still nowhere: the same end again, and the crawl is as it was.
    assertCode(await resume(dir), 5);
    assertCode(await resume(dir, '--retry-parked'), 5);
    assert.equal((await statusOf(dir)).parked, 1);
    // Now there is such a host, and it speaks http alone, as a bare seed may.
    const rules = [`nowhere.test:443:127.0.0.1:${closedPort}`, `nowhere.test:80:127.0.0.1:${port}`];
    assertCode(await resume(dir, '--retry-parked', ...rules.flatMap((rule) => ['--connect-to', rule])), 0);
    assert.ok(asked.includes('nowhere.test/'));
  }));

test('a bare seed that answers over http is reached, though its https origin is parked', () =>
  onPlace(async ({ crawl }) => {
    // The front page links to https of its own host, where nobody listens.
    const ran = await crawl(join(home, 'bare'), '--url', 'mysite.test');
    assertCode(ran, 0);
    assert.doesNotMatch(ran.stdout, /could not be reached:/);
    assert.match(ran.stdout, /origins? parked/);
  }));

test('six pages in a row that answer 500 park nothing', async () => {
  const asked = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url!;
    asked.set(path, (asked.get(path) ?? 0) + 1);
    if (path === '/robots.txt') return void response.writeHead(404).end();
    if (path.startsWith('/broken/')) return void response.writeHead(500).end();
    const broken = Array.from({ length: 6 }, (_, n) => `/broken/${n}`);
    response
      .setHeader('content-type', 'text/html')
      .end(path === '/' ? htmlOf('front', [...broken, ...GOOD]) : htmlOf(path));
  });
  const port = await listening(server);
  const dir = join(home, 'broken');
  const seeds = join(home, 'broken.txt');
  writeFileSync(seeds, 'http://few.test/\n');
  try {
    const words = ['--delay', '0ms', '--trouble-delay', '0ms', '--park-after', '6', '--disk-reserve', '10MiB'];
    const place = ['--connect-to', `few.test:80:127.0.0.1:${port}`];
    assertCode(await runBinary(['crawl', seeds, '--dir', dir, '--email', 'a@example.org', ...words, ...place]), 0);
    const { pages, parked, settledByOutcome } = await statusOf(dir);
    assert.deepEqual([pages, parked, settledByOutcome], [PAGES + 7, 0, { fetched: PAGES + 1, 'server-error': 6 }]);
    assert.equal(asked.get('/broken/0'), 3, 'each had its tries');
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

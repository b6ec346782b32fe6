/** Rules per site with the real binary: a site of one's own is visited back to back, and a budget is raised. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { endBinaries, runBinary, type Ran } from '../support/binary.ts';
import { htmlOf } from '../support/few-pages.ts';
import { assertCode } from '../support/stage.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-site-rules-e2e-'));
after(() => {
  endBinaries();
  rmSync(home, { recursive: true });
});

const PAGES = Number(process.env.SITE_RULES_PAGES ?? 60);
const FRONT = htmlOf(
  'front',
  Array.from({ length: PAGES - 1 }, (_, n) => `/private/${n}`),
);

interface Seen {
  readonly asked: string[];
  connections: number;
  /** The most requests of one host that were under way at a time. */
  mostAtOnce: number;
}

/** Responses take a moment, so that requests that overlap meet. */
const RESPONSE_MS = Number(process.env.SITE_RULES_RESPONSE_MS ?? 5);

const servedBy = (seen: Seen): Server => {
  const underWay = new Map<string, number>();
  const server = createServer((request, response) => {
    const { host = '' } = request.headers;
    seen.asked.push(`${host}${request.url}`);
    const now = (underWay.get(host) ?? 0) + 1;
    underWay.set(host, now);
    seen.mostAtOnce = Math.max(seen.mostAtOnce, now);
    setTimeout(() => {
      underWay.set(host, underWay.get(host)! - 1);
      if (request.url === '/robots.txt') response.end('User-agent: *\nDisallow: /private/\nCrawl-delay: 60\n');
      else response.setHeader('content-type', 'text/html').end(request.url === '/' ? FRONT : htmlOf(request.url!));
    }, RESPONSE_MS);
  });
  server.on('connection', () => seen.connections++);
  return server;
};

interface Place {
  readonly seen: Seen;
  readonly dir: string;
  /** Runs the binary with these rules in a file. */
  run(command: 'crawl' | 'resume', rules: readonly string[]): Promise<Ran>;
}

const onPlace = async (name: string, story: (place: Place) => Promise<void>): Promise<void> => {
  const seen: Seen = { asked: [], connections: 0, mostAtOnce: 0 };
  const server = servedBy(seen);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const dir = join(home, name);
  const file = join(home, `${name}.yaml`);
  const common = ['email: test@example.org', 'disk-reserve: 10MiB', `connect-to: "*:*:127.0.0.1:${port}"`];
  try {
    await story({
      seen,
      dir,
      run: (command, rules) => {
        writeFileSync(file, [...common, 'sites:', ...rules.map((line) => `  ${line}`), ''].join('\n'));
        const words = command === 'crawl' ? ['--url', 'http://own.test/', '--dir', dir] : [dir];
        return runBinary([command, ...words, '--config', file]);
      },
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

test('a site of your own is visited back to back, one request at a time, on one connection, without its robots.txt', () =>
  onPlace('own', async ({ seen, dir, run }) => {
    const begun = performance.now();
    const ran = await run('crawl', ['own.test: { own: true, delay: 0, robots: ignore }']);
    if (process.env.SITE_RULES_PAGES) console.log(`${PAGES} pages, ${performance.now() - begun} ms with the start`);
    assertCode(ran, 0);
    assert.deepEqual([seen.asked.length, new Set(seen.asked).size, seen.mostAtOnce], [PAGES, PAGES, 1]);
    assert.ok(!seen.asked.includes('own.test/robots.txt'));
    assert.equal(seen.connections, 1);

    const audit = await runBinary(['audit', dir]);
    assertCode(audit, 0);
    assert.match(
      audit.stdout,
      new RegExp(`^${PAGES} requests to own sites, ${PAGES} of them with robots.txt disregarded$`, 'm'),
    );
    assert.match(audit.stdout, /0 violations/);
    const letter = await runBinary(['audit', dir, '--site', 'own.test']);
    assertCode(letter, 0);
    assert.match(letter.stdout, new RegExp(`For ${PAGES} requests of these, robots.txt was disregarded\\.`));
    assert.doesNotMatch(letter.stdout, /robots.txt was followed/);
  }));

test('a site that reached the budget of its rule is held, and goes on when a resume raises it', () =>
  onPlace('budget', async ({ seen, dir, run }) => {
    const own = 'own: true, delay: 0, robots: ignore';
    assertCode(await run('crawl', [`own.test: { ${own}, max-pages: 3 }`]), 0);
    assert.equal(seen.asked.length, 3);
    const explained = await runBinary(['explain', dir, 'http://own.test/private/40']);
    assert.match(
      explained.stdout,
      /It is held: its site own\.test has 3 pages, and max-pages of the rule for own\.test is 3/,
    );
    assertCode(await run('resume', [`own.test: { ${own}, max-pages: 5 }`]), 0);
    assert.equal(seen.asked.length, 5);
    // From now on its robots.txt is obeyed: it is asked for before anything else, and forbids the rest.
    assertCode(await run('resume', ['own.test: { own: true, delay: 0, robots: obey }']), 0);
    assert.deepEqual(seen.asked.slice(5), ['own.test/robots.txt']);
    assertCode(await runBinary(['audit', dir]), 0);
  }));

test('headers and scope of a rule hold for its site alone', async () => {
  const got: string[] = [];
  const server = createServer(({ url, headers: { host = '', ...headers } }, response) => {
    if (url === '/robots.txt') return void response.writeHead(404).end();
    got.push(`${host}${url} ${headers['x-purpose'] ?? '-'} ${headers['x-all'] ?? '-'}`);
    const links = ['a.test', 'www.a.test', 'b.test', 'c.test'].flatMap((one) => [
      `http://${one}/d/1`,
      `http://${one}/e`,
    ]);
    response.setHeader('content-type', 'text/html').end(htmlOf(url!, links));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const file = join(home, 'differs.yaml');
  writeFileSync(
    file,
    `email: test@example.org
disk-reserve: 10MiB
delay: 5ms
scope: site
connect-to: "*:*:127.0.0.1:${port}"
header: ["X-All: yes", "X-Purpose: none"]
seeds: ["http://a.test/d/", "http://b.test/d/"]
sites:
  a.test: { scope: path, headers: { X-Purpose: research } }
  c.test: { scope: any }
`,
  );
  try {
    assertCode(await runBinary(['crawl', '--config', file, '--dir', join(home, 'differs')]), 0);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  assert.deepEqual(got.toSorted(), [
    'a.test/d/ research yes',
    'a.test/d/1 research yes',
    'b.test/d/ none yes',
    'b.test/d/1 none yes',
    'b.test/e none yes',
    'c.test/d/1 none yes',
    'c.test/e none yes',
  ]);
});

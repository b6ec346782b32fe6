/** How far a crawl goes from its seeds, without a line of code: by scope, by patterns, and where a seed moves to. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { endBinaries, runBinary, startBinary, type Ran } from '../support/binary.ts';
import { htmlOf } from '../support/few-pages.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startRedis } from '../support/redis-server.ts';
import { assertCode } from '../support/stage.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-scope-e2e-'));
let asked: string[] = [];
/** Told of each page that is asked for, with how many that makes. */
let onAsked: (count: number) => void = () => {};

/** Every page links to all of these. */
const PAGES = [
  'www.a.test/',
  'www.a.test/other',
  'www.a.test/guide/',
  'www.a.test/guide/one',
  'www.a.test/guide/part/two?x=/y',
  'www.a.test/guidebook/',
  'docs.a.test/',
  'docs.a.test/guide/',
  'b.test/',
  'b.test/guide/',
];
/** Where these lead. */
const MOVED: Readonly<Record<string, string>> = {
  'old.test/': 'http://moved.test/',
  'moved.test/': 'http://new.test/welcome/',
  'bare.test/': 'http://www.bare.test/',
};
/** Pages of sites that only a redirect leads to; each links to the next, and away from there. */
const NEW = ['new.test/welcome/', 'new.test/welcome/1', 'new.test/welcome/2', 'sub.new.test/', 'b.test/'];
const BARE = ['www.bare.test/', 'www.bare.test/x', 'bare.test/y', 'other.bare.test/'];

const linksOf = (page: string): readonly string[] => {
  const chain = PAGES.includes(page) ? PAGES : [NEW, BARE].find((pages) => pages.includes(page));
  return (chain ?? PAGES).map((one) => `http://${one}`);
};

const server = createServer((request, response) => {
  const page = `${request.headers.host}${request.url}`;
  if (request.url === '/robots.txt') return void response.writeHead(404).end();
  onAsked(asked.push(page));
  const to = MOVED[page];
  if (to !== undefined) return void response.writeHead(301, { location: to }).end();
  response.setHeader('content-type', 'text/html').end(htmlOf(page, linksOf(page)));
});

before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
after(async () => {
  endBinaries();
  rmSync(home, { recursive: true });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const common = (): string[] => {
  const { port } = server.address() as AddressInfo;
  return [
    ...['--delay', '5ms', '--disk-reserve', '10MiB', '--fetchers', '2'],
    ...['--connect-to', `*:80:127.0.0.1:${port}`],
  ];
};

let dirs = 0;
/** Runs a crawl to its end, and gives the pages that the server was asked for, sorted. */
const crawl = async (...words: readonly string[]): Promise<{ dir: string; ran: Ran; pages: string[] }> => {
  asked = [];
  const dir = join(home, `crawl-${++dirs}`);
  const ran = await runBinary(['crawl', '--dir', dir, '--email', 'a@example.org', ...common(), ...words]);
  return { dir, ran, pages: asked.toSorted() };
};

const of = (...pages: readonly string[]): string[] => pages.toSorted();

test('--scope stays on the page, in the folder, on the host or on the site of the seed', async () => {
  const seed = ['--url', 'http://www.a.test/guide/one'];
  const wanted = {
    page: ['www.a.test/guide/one'],
    path: ['www.a.test/guide/', 'www.a.test/guide/one', 'www.a.test/guide/part/two?x=/y'],
    host: PAGES.filter((page) => page.startsWith('www.a.test/')),
    site: PAGES.filter((page) => page.includes('a.test/')),
    any: PAGES,
  };
  for (const [scope, pages] of Object.entries(wanted)) {
    const { ran, pages: got } = await crawl(...seed, '--scope', scope);
    assertCode(ran, 0);
    assert.deepEqual(got, of(...pages), scope);
  }
});

test('a line of the seed file may name the scope of its seed', async () => {
  const seeds = join(home, 'seeds.txt');
  writeFileSync(seeds, 'http://www.a.test/guide/ path # the manual\nhttp://b.test/guide/ page\ndocs.a.test any\n');
  const { ran, pages } = await crawl(seeds);
  assertCode(ran, 0);
  assert.match(ran.stderr, /line 3: "docs\.a\.test any" cannot be: any is for the whole crawl/);
  assert.deepEqual(
    pages,
    of('www.a.test/guide/', 'www.a.test/guide/one', 'www.a.test/guide/part/two?x=/y', 'b.test/guide/'),
  );
});

test('--include and --exclude take sites, globs and regular expressions', async () => {
  const seed = ['--url', 'http://www.a.test/'];
  const { ran, pages } = await crawl(...seed, '--include', '*/guide/*', '--include', 'b.test', '--exclude', '/two/');
  assertCode(ran, 0);
  assert.deepEqual(
    pages,
    of('www.a.test/', 'www.a.test/guide/', 'www.a.test/guide/one', 'docs.a.test/guide/', 'b.test/', 'b.test/guide/'),
  );
  const less = await crawl(...seed, '--exclude', 'b.test', '--exclude', 'docs.a.test', '--exclude', '/guide*');
  assertCode(less.ran, 0);
  assert.deepEqual(less.pages, of('www.a.test/', 'www.a.test/other'));
  const wrong = await crawl(...seed, '--exclude', 'private');
  assertCode(wrong.ran, 2);
  assert.match(wrong.ran.stderr, /--exclude "private" is neither a site nor a glob/);
});

test('patterns and scope stand in a file of settings, too', async () => {
  const config = join(home, 'crawl.yaml');
  writeFileSync(config, 'seeds: [http://www.a.test/]\nscope: site\nexclude: [docs.a.test, "*/guide/part/*"]\n');
  const { ran, pages } = await crawl('--config', config);
  assertCode(ran, 0);
  assert.deepEqual(pages, PAGES.filter((page) => page.startsWith('www.a.test/') && !page.includes('part')).toSorted());
  writeFileSync(config, 'seeds: [http://www.a.test/]\ninclude:\n  - /(/\n');
  const wrong = await crawl('--config', config);
  assertCode(wrong.ran, 2);
  assert.match(wrong.ran.stderr, /line 3 column 5: include "\/\(\/" is no regular expression/);
});

test('a seed that redirects is at home where it lands', async () => {
  const site = await crawl('--url', 'http://old.test/', '--scope', 'site');
  assertCode(site.ran, 0);
  assert.deepEqual(
    site.pages,
    of('old.test/', 'moved.test/', 'new.test/welcome/', 'new.test/welcome/1', 'new.test/welcome/2', 'sub.new.test/'),
  );
  const path = await crawl('--url', 'http://old.test/', '--scope', 'path');
  assert.deepEqual(
    path.pages,
    of('old.test/', 'moved.test/', 'new.test/welcome/', 'new.test/welcome/1', 'new.test/welcome/2'),
  );
  const host = await crawl('--url', 'http://bare.test/', '--scope', 'host');
  assert.deepEqual(host.pages, of('bare.test/', 'www.bare.test/', 'www.bare.test/x', 'bare.test/y'));
});

test('where a seed is at home is known to a later run, and to explain', async () => {
  const { dir, ran } = await crawl('--url', 'http://old.test/', '--scope', 'site', '--max-pages', '3');
  assertCode(ran, 0);
  const explained = await runBinary(['explain', dir, 'http://new.test/welcome/2']);
  assert.doesNotMatch(explained.stdout, /no seed is at home/);
  const away = await runBinary(['explain', dir, 'http://b.test/']);
  assert.match(away.stdout, /--scope is site, and no seed is at home\s+there/);
  asked = [];
  assertCode(await runBinary(['resume', dir, '--max-pages', 'none']), 0);
  assert.deepEqual(asked.toSorted(), of('new.test/welcome/1', 'new.test/welcome/2', 'sub.new.test/'));
});

test('members of a shared crawl learn from each other where seeds are at home', async () => {
  const redis = await startRedis();
  const store = ['--store', redis.url, '--name', 'homes'];
  try {
    const { dir, ran } = await crawl('--url', 'http://old.test/', '--scope', 'site', '--max-pages', '3', ...store);
    assertCode(ran, 0);
    asked = [];
    const joined = join(home, 'joined');
    assertCode(await runBinary(['set', ...store, '--max-pages', 'none']), 0);
    assertCode(await runBinary(['join', joined, ...store, '--disk-reserve', '10MiB']), 0);
    assert.deepEqual(asked.toSorted(), of('new.test/welcome/1', 'new.test/welcome/2', 'sub.new.test/'));
    // A seed that is added here is a home for the other one, too.
    asked = [];
    const more = ['--url', 'http://www.a.test/guide/one', '--max-pages', '7'];
    assertCode(await runBinary(['resume', dir, ...more]), 0);
    assert.deepEqual(asked, ['www.a.test/guide/one']);
    asked = [];
    assertCode(await runBinary(['resume', joined, '--max-pages', 'none']), 0);
    assert.deepEqual(
      asked.toSorted(),
      PAGES.filter((page) => page.includes('a.test/') && page !== 'www.a.test/guide/one').toSorted(),
    );
  } finally {
    await redis.remove();
  }
});

test('a wider scope on resume takes effect: pages that were archived are read again', async () => {
  const { dir, ran } = await crawl('--url', 'http://www.a.test/guide/one', '--scope', 'path', '--max-depth', '1');
  assertCode(ran, 0);
  const explained = await runBinary(['explain', dir, 'http://docs.a.test/']);
  assert.match(explained.stdout, /gossamer resume \S+ --scope site/);
  asked = [];
  const wider = await runBinary(['resume', dir, '--scope', 'site']);
  assertCode(wider, 0);
  assert.match(wider.stdout, /the scope is wider: 3 archived pages read again, 5 new links/);
  assert.deepEqual(
    asked.toSorted(),
    PAGES.filter((page) => page.includes('a.test/') && !page.startsWith('www.a.test/guide/')).toSorted(),
  );
  asked = [];
  assertCode(await runBinary(['resume', dir]), 0);
  assert.deepEqual(asked, [], 'once');
  assertCode(await runBinary(['resume', dir, '--scope', 'any', '--exclude', '/guide/$/']), 0);
  assert.deepEqual(asked, ['b.test/']);
  asked = [];
  assertCode(await runBinary(['resume', dir, '--exclude', 'none']), 0);
  assert.deepEqual(asked, ['b.test/guide/']);
});

/** On a store of each kind. */
const narrowAndWiden = async (store = ''): Promise<void> => {
  // The directory has the address without its password.
  const env = { ...process.env, ...(store === '' ? {} : { GOSSAMER_STORE: store }) };
  const gossamer = (...words: readonly string[]): Promise<Ran> => runBinary(words, { env });
  const { dir, ran } = await crawl(
    '--url',
    'http://www.a.test/',
    '--max-pages',
    '1',
    ...(store === '' ? [] : ['--store', store, '--name', 'narrow']),
  );
  assertCode(ran, 0);
  const found = PAGES.length - 1;
  const status = async (): Promise<{ waiting: number; held: number; pages: number }> =>
    JSON.parse((await gossamer('status', dir, '--json')).stdout);
  assert.equal((await status()).waiting, found);
  assertCode(await gossamer('resume', dir, '--max-pages', 'none', '--scope', 'page', '--exclude', 'b.test'), 0);
  const { waiting, held, pages } = await status();
  assert.deepEqual([waiting, held, pages], [0, found, 1]);
  const why = await gossamer('explain', dir, 'http://docs.a.test/');
  assert.match(why.stdout, /--scope is page/);
  assertCode(await gossamer('verify', dir), 0);
  asked = [];
  assertCode(await gossamer('resume', dir, '--scope', 'site'), 0);
  assert.deepEqual(
    asked.toSorted(),
    PAGES.filter((page) => page.includes('a.test/') && page !== 'www.a.test/').toSorted(),
  );
  assert.equal((await status()).held, 2, 'those of b.test are still excluded');
  asked = [];
  assertCode(await gossamer('resume', dir, '--scope', 'any', '--exclude', 'none'), 0);
  assert.deepEqual(asked.toSorted(), ['b.test/', 'b.test/guide/']);
  assert.equal((await status()).held, 0);
};

test('links that wait when a scope becomes narrower are held, and come back when it is wider again', () =>
  narrowAndWiden());

test('the same in Redis, and in PostgreSQL', async () => {
  const redis = await startRedis();
  const postgres = await startPostgres();
  try {
    await narrowAndWiden(redis.url);
    await narrowAndWiden(await postgres.database());
  } finally {
    await redis.remove();
    await postgres.remove();
  }
});

test('a deeper crawl goes on from the pages that it has, and says what it cannot read again', async () => {
  const { dir, ran } = await crawl('--url', 'http://www.a.test/', '--max-depth', '0');
  assertCode(ran, 0);
  asked = [];
  assertCode(await runBinary(['resume', dir, '--max-depth', '1']), 0);
  assert.deepEqual(asked.toSorted(), PAGES.filter((page) => page !== 'www.a.test/').toSorted());
  const bare = await crawl('--url', 'http://www.a.test/', '--max-depth', '0', '--keep', 'text');
  asked = [];
  const told = await runBinary(['resume', bare.dir, '--max-depth', '1']);
  assertCode(told, 0);
  assert.match(told.stderr, /1 page was archived without its HTML: links in it cannot be found again/);
  assert.deepEqual(asked, []);
});

/** Runs the binary and kills it with the request for that many pages. */
const killedAt = async (count: number, words: readonly string[]): Promise<void> => {
  asked = [];
  const run = startBinary(words);
  onAsked = (now) => void (now === count && run.send('SIGKILL'));
  assert.equal((await run.ended).signal, 'SIGKILL');
  onAsked = () => {};
};

test('a kill -9 with any request loses neither a home nor a link that a wider scope takes', async () => {
  const moved = ['old.test/', 'moved.test/', ...NEW.slice(0, -1)].toSorted();
  for (const count of [1, 2, 3, 4, 6]) {
    const dir = join(home, `killed-${count}`);
    const words = [
      'crawl',
      'http://old.test/',
      '--dir',
      dir,
      '--email',
      'a@example.org',
      '--scope',
      'site',
      ...common(),
    ];
    await killedAt(count, words);
    assertCode(await runBinary(['resume', dir]), 0);
    assert.deepEqual([...new Set(asked)].toSorted(), moved, `killed with request ${count}`);
  }
  const site = PAGES.filter((page) => page.includes('a.test/'));
  for (const count of [1, 3, 5]) {
    const { dir } = await crawl('--url', 'http://www.a.test/guide/one', '--scope', 'page');
    await killedAt(count, ['resume', dir, '--scope', 'site']);
    assertCode(await runBinary(['resume', dir]), 0);
    assert.deepEqual([...new Set(asked)].toSorted(), site.filter((page) => page !== 'www.a.test/guide/one').toSorted());
    assertCode(await runBinary(['verify', dir]), 0);
  }
});

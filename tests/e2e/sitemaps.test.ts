/** Sitemaps, read by the real binary from real servers. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { SITEMAP_ENTRIES_MAX } from '../../src/model/sitemap.ts';
import { archivedIn, assertArchivedOnce, countByUrl } from '../support/archive-check.ts';
import { endBinaries, runBinary, startBinary, type Ran, type Running } from '../support/binary.ts';
import { assertAddsUp, assertCode, flagWords, type Flags, type ListedPage, type Status } from '../support/stage.ts';
import { until } from '../support/until.ts';

/** What a URL answers: a text or bytes, a status, or something that the test does with the response. */
type Reply = string | Uint8Array | number | ((response: ServerResponse) => void);
type Web = Readonly<Record<string, Reply>>;

interface Place {
  /** URLs that were asked for, in order. */
  readonly asked: string[];
  crawl(flags: Flags): Promise<Ran>;
  startCrawl(flags: Flags): Running;
  resume(): Promise<Ran>;
  pages(): Promise<Map<string, ListedPage>>;
  status(): Promise<Status>;
  verify(): Promise<Ran>;
  readonly dir: string;
}

const QUICK: Flags = {
  email: 'test@example.org',
  delay: '5ms',
  timeout: '5m',
  'disk-reserve': '10MiB',
  sitemaps: true,
};

/** A web of the responses given, by URL without its scheme; anything else is not found. */
const onWeb = async (web: Web, story: (place: Place) => Promise<void>): Promise<void> => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-sitemaps-'));
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = `${request.headers.host}${request.url}`;
    asked.push(url);
    const reply = web[url] ?? 404;
    response.on('error', () => {});
    if (typeof reply === 'function') return reply(response);
    response.setHeader('content-type', typeOf(url));
    if (typeof reply === 'number') response.writeHead(reply).end();
    else response.end(reply);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const dir = join(home, 'crawl');
  const { port } = server.address() as AddressInfo;
  const crawlWords = (flags: Flags): string[] => [
    'crawl',
    '--dir',
    dir,
    ...flagWords({ ...QUICK, 'connect-to': `*:80:127.0.0.1:${port}`, ...flags }),
  ];
  const lines = async (...args: readonly string[]): Promise<string[]> => {
    const ran = await runBinary(args, { cwd: home });
    assertCode(ran, 0);
    return ran.stdout.split('\n').filter((line) => line !== '');
  };
  try {
    await story({
      dir,
      asked,
      crawl: (flags) => runBinary(crawlWords(flags), { cwd: home }),
      startCrawl: (flags) => startBinary(crawlWords(flags), { cwd: home }),
      resume: () => runBinary(['resume', dir], { cwd: home }),
      verify: () => runBinary(['verify', dir], { cwd: home }),
      status: async () => JSON.parse((await lines('status', dir, '--json')).join('')) as Status,
      pages: async () => {
        const rows = (await lines('pages', dir, '--format', 'jsonl')).map((line) => JSON.parse(line) as ListedPage);
        return new Map(rows.map((row) => [row.url.replace('http://', ''), row]));
      },
    });
  } finally {
    endBinaries();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(home, { recursive: true, force: true });
  }
};

const typeOf = (url: string): string => {
  if (url.endsWith('.gz')) return 'application/octet-stream';
  if (url.endsWith('.xml')) return 'application/xml';
  return url.endsWith('.txt') ? 'text/plain' : 'text/html';
};

const urlset = (...urls: readonly string[]): string =>
  `<urlset>${urls.map((url) => `<url><loc>http://${url}</loc></url>`).join('')}</urlset>`;
const index = (...urls: readonly string[]): string =>
  `<sitemapindex>${urls.map((url) => `<sitemap><loc>http://${url}</loc></sitemap>`).join('')}</sitemapindex>`;
const moved =
  (to: string) =>
  (response: ServerResponse): void =>
    void response.writeHead(301, { location: to }).end();
const PAGE = '<title>a page</title><p>with words';

const RICH: Web = {
  'a.example/robots.txt':
    'User-agent: *\nDisallow: /private/\nSitemap: http://a.example/maps/index.xml\nSitemap: http://b.example/b.txt\nSitemap: http://a.example/old.xml.gz\n',
  'a.example/': PAGE,
  'a.example/sitemap.xml': urlset('a.example/usual', 'a.example/private/x', 'c.example/foreign', 'a.example/photo.jpg'),
  'a.example/maps/index.xml': index(
    'a.example/maps/1.xml.gz',
    'a.example/maps/2.txt',
    'a.example/maps/inner.xml',
    'c.example/other.xml',
    'a.example/maps/none.xml',
  ),
  'a.example/maps/1.xml.gz': gzipSync(urlset('a.example/packed')),
  'a.example/maps/2.txt': 'http://a.example/plain\nhttp://c.example/foreign\n',
  'a.example/maps/inner.xml': index('a.example/maps/3.xml'),
  'a.example/maps/3.xml': urlset('a.example/too-deep'),
  'a.example/old.xml.gz': moved('/maps/new.gz'),
  'a.example/maps/new.gz': gzipSync(urlset('www.a.example/moved')),
  'b.example/b.txt': 'http://b.example/own\nhttp://a.example/foreign\n',
  'b.example/sitemap.xml': urlset('b.example/not-asked-for'),
  ...Object.fromEntries(
    ['a.example/usual', 'a.example/packed', 'a.example/plain', 'www.a.example/moved', 'b.example/own'].map((url) => [
      url,
      PAGE,
    ]),
  ),
};

test('pages that only sitemaps lead to are crawled: of robots.txt and the usual place, indexes, packed, plain and moved', () =>
  onWeb(RICH, async ({ crawl, asked, pages, dir, verify }) => {
    assertCode(await crawl({ url: 'http://a.example/' }), 0);
    const rows = await pages();
    const sitemaps = [
      'a.example/sitemap.xml',
      'a.example/maps/index.xml',
      'a.example/maps/1.xml.gz',
      'a.example/maps/2.txt',
      'a.example/maps/inner.xml',
      'a.example/old.xml.gz',
      'a.example/maps/new.gz',
      'b.example/b.txt',
    ];
    const found = ['a.example/usual', 'a.example/packed', 'a.example/plain', 'www.a.example/moved', 'b.example/own'];
    const robots = ['a.example/robots.txt', 'www.a.example/robots.txt', 'b.example/robots.txt'];
    assert.deepEqual(
      asked.toSorted(),
      ['a.example/', 'a.example/maps/none.xml', ...sitemaps, ...found, ...robots].toSorted(),
      'each once, and nothing else',
    );

    assert.equal(rows.get('a.example/private/x')?.outcome, 'robots-denied');
    assert.equal(rows.get('a.example/maps/none.xml')?.outcome, 'client-error');
    for (const url of found)
      assert.deepEqual(
        [rows.get(url)?.outcome, rows.get(url)?.depth, rows.get(url)?.title],
        ['fetched', 1, 'a page'],
        url,
      );
    assert.equal(rows.get('a.example/packed')?.via, 'http://a.example/maps/1.xml.gz');
    assert.equal(rows.get('a.example/maps/index.xml')?.via, 'http://a.example/robots.txt');
    for (const url of sitemaps) assert.ok(['fetched', 'redirected'].includes(rows.get(url)?.outcome ?? ''), url);

    // Sitemaps are archived as they came, and their addresses are no text.
    const records = await archivedIn(dir);
    assertArchivedOnce(records, new Set([...found, ...sitemaps].map((url) => `http://${url}`)));
    assert.deepEqual(
      [...countByUrl(records, 'conversion').keys()].toSorted(),
      ['a.example/', ...found].map((url) => `http://${url}`).toSorted(),
    );
    assertCode(await verify(), 0);
  }));

test('feeds that robots.txt names as sitemaps give their entries, of their own site only; a no-break space is no part of an address', () => {
  const web: Web = {
    'a.example/robots.txt': ['rss.xml', 'atom.xml', 'map.xml'].map((name) => `Sitemap: /${name}\n`).join(''),
    'a.example/': PAGE,
    'a.example/rss.xml':
      '<rss><channel><link>http://a.example/not-listed</link><item><link>http://a.example/in-rss</link></item>' +
      '<item><link>http://b.example/foreign</link></item></channel></rss>',
    'a.example/atom.xml': '<feed xml:base="/deep/"><entry><link href="in-atom"/></entry></feed>',
    'a.example/map.xml': urlset('a.example/in-spaces').replaceAll(/<loc>(.*?)<\/loc>/g, '<loc>\u00a0$1\u00a0</loc>'),
    'a.example/in-rss': PAGE,
    'a.example/deep/in-atom': PAGE,
    'a.example/in-spaces': PAGE,
  };
  return onWeb(web, async ({ crawl, pages }) => {
    assertCode(await crawl({ url: 'http://a.example/' }), 0);
    const fetched = [...(await pages())].filter(([, row]) => row.outcome === 'fetched').map(([url]) => url);
    assert.deepEqual(
      fetched.toSorted(),
      Object.keys(web)
        .filter((url) => !url.endsWith('robots.txt'))
        .toSorted(),
    );
  });
});

test('without --sitemaps none is asked for', () =>
  onWeb(RICH, async ({ crawl, asked }) => {
    assertCode(await crawl({ url: 'http://a.example/', sitemaps: null }), 0);
    assert.deepEqual(asked, ['a.example/robots.txt', 'a.example/']);
  }));

test('--seeded-only and --max-depth hold for sitemaps and for what they list', async () => {
  await onWeb(RICH, async ({ crawl, asked }) => {
    assertCode(await crawl({ url: 'http://a.example/', 'seeded-only': true }), 0);
    assert.deepEqual(
      asked.filter((url) => url.startsWith('b.')),
      [],
    );
    assert.ok(asked.includes('a.example/packed'));
  });
  await onWeb(RICH, async ({ crawl, asked }) => {
    assertCode(await crawl({ url: 'http://a.example/', 'max-depth': 0 }), 0);
    assert.deepEqual(asked, ['a.example/robots.txt', 'a.example/']);
  });
});

test('a site that is only linked to has its sitemaps read when its robots.txt names them, one step further from the seeds', () => {
  const web: Web = {
    'a.example/': '<a href="http://d.example/front">',
    'd.example/robots.txt': 'Sitemap: http://d.example/map.xml',
    'd.example/front': PAGE,
    'd.example/map.xml': urlset('d.example/listed'),
    'd.example/listed': PAGE,
  };
  return onWeb(web, async ({ crawl, pages, asked }) => {
    assertCode(await crawl({ url: 'http://a.example/' }), 0);
    assert.equal((await pages()).get('d.example/listed')?.depth, 2);
    assert.ok(!asked.includes('d.example/sitemap.xml'));
  });
});

test('sitemaps named by the robots.txt of a page that is denied or missing are read all the same', () => {
  const web: Web = {
    'a.example/robots.txt': 'User-agent: *\nDisallow: /$\nSitemap: http://a.example/map.xml',
    'a.example/map.xml': urlset('a.example/listed'),
    'a.example/listed': PAGE,
    'e.example/robots.txt': 'Sitemap: http://e.example/map.xml',
    'e.example/': 500,
    'e.example/map.xml': urlset('e.example/listed'),
    'e.example/listed': PAGE,
  };
  return onWeb(web, async ({ crawl, pages }) => {
    assertCode(await crawl({ url: ['http://a.example/', 'http://e.example/'], 'trouble-delay': '1ms' }), 0);
    const rows = await pages();
    assert.deepEqual(
      [rows.get('a.example/')?.outcome, rows.get('a.example/listed')?.outcome],
      ['robots-denied', 'fetched'],
    );
    assert.deepEqual(
      [rows.get('e.example/')?.outcome, rows.get('e.example/listed')?.outcome],
      ['server-error', 'fetched'],
    );
  });
});

test('bombs, endless and broken sitemaps and an index that lists itself cost nothing but themselves', () => {
  const endless = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/xml' });
    const more = (): void => {
      while (!response.destroyed && response.write(`<url><x>${'x'.repeat(60_000)}</x></url>`));
    };
    response.on('drain', more);
    response.write(urlset('a.example/before-the-flood').replace('</urlset>', ''));
    more();
  };
  const names = ['bomb.gz', 'endless.xml', 'broken.gz', 'self.xml', 'empty.xml', 'noise.txt'];
  const web: Web = {
    'a.example/robots.txt': names.map((name) => `Sitemap: http://a.example/${name}\n`).join(''),
    'a.example/': PAGE,
    'a.example/bomb.gz': gzipSync(
      Buffer.concat([Buffer.from(urlset('a.example/in-the-bomb')), Buffer.alloc(200 * 1024 ** 2, ' ')]),
    ),
    'a.example/endless.xml': endless,
    'a.example/broken.gz': Buffer.concat([gzipSync(urlset('a.example/x')).subarray(0, 20), Buffer.alloc(500, 0xff)]),
    'a.example/self.xml': index('a.example/self.xml', 'a.example/self.xml?2'),
    'a.example/self.xml?2': index('a.example/self.xml?3'),
    'a.example/empty.xml': '',
    'a.example/noise.txt': Buffer.alloc(3_000, '\0\r\n\ufffd<'),
    'a.example/in-the-bomb': PAGE,
    'a.example/before-the-flood': PAGE,
  };
  return onWeb(web, async ({ crawl, pages, asked, verify }) => {
    assertCode(await crawl({ url: 'http://a.example/' }), 0);
    const rows = await pages();
    for (const name of names) assert.equal(rows.get(`a.example/${name}`)?.outcome, 'fetched', name);
    assert.equal(rows.get('a.example/endless.xml')?.truncated, 'length');
    assert.equal(rows.get('a.example/bomb.gz')?.truncated, 'length');
    assert.equal(rows.get('a.example/in-the-bomb')?.outcome, 'fetched');
    assert.equal(rows.get('a.example/before-the-flood')?.outcome, 'fetched');
    assert.deepEqual(asked.filter((url) => url.includes('self')).toSorted(), [
      'a.example/self.xml',
      'a.example/self.xml?2',
    ]);
    assertCode(await verify(), 0);
  });
});

test('a sitemap with all that the protocol allows is admitted to the last address', () => {
  const urls = Array.from({ length: SITEMAP_ENTRIES_MAX }, (_, n) => `a.example/page/${n}`);
  // Not packed, and so larger than a page may be.
  return onWeb({ 'a.example/': PAGE, 'a.example/sitemap.xml': urlset(...urls) }, async ({ crawl, status, verify }) => {
    assertCode(await crawl({ url: 'http://a.example/', 'max-pages': 2 }), 0);
    const now = await status();
    assertAddsUp(now);
    assert.deepEqual([now.pages, now.waiting], [2, SITEMAP_ENTRIES_MAX]);
    assertCode(await verify(), 0);
  });
});

test('a crawl of sitemaps that is killed again and again loses no page that they list and archives none twice', () => {
  const sites = Array.from({ length: 8 }, (_, n) => `s${n}.example`);
  const listedOf = (site: string): string[] => Array.from({ length: 24 }, (_, n) => `${site}/only/${n}`);
  const web: Web = Object.fromEntries(
    sites.flatMap((site) => [
      [`${site}/robots.txt`, `Sitemap: http://${site}/index.xml`],
      [`${site}/`, PAGE],
      [`${site}/index.xml`, index(`${site}/1.xml.gz`, `${site}/2.xml`)],
      [`${site}/1.xml.gz`, gzipSync(urlset(...listedOf(site).slice(0, 12)))],
      [`${site}/2.xml`, urlset(...listedOf(site).slice(12))],
      ...listedOf(site).map((url) => [url, PAGE] as const),
    ]),
  );
  return onWeb(web, async ({ startCrawl, resume, asked, pages, dir, verify }) => {
    const run = startCrawl({ url: sites.map((site) => `http://${site}/`), delay: '20ms' });
    // While the first sitemaps are under way.
    await until('a sitemap was asked for', () => asked.some((url) => url.endsWith('.xml')));
    run.send('SIGKILL');
    await run.ended;
    for (const seen of [60, 120]) {
      const again = startBinary(['resume', dir]);
      await until(`${seen} requests were seen`, () => asked.length >= seen || again.isOver());
      again.send('SIGKILL');
      await again.ended;
    }
    assertCode(await resume(), 0);
    const rows = await pages();
    const wanted = sites.flatMap(listedOf);
    assert.deepEqual(
      wanted.filter((url) => rows.get(url)?.outcome !== 'fetched'),
      [],
    );
    assertArchivedOnce(await archivedIn(dir), new Set(wanted.map((url) => `http://${url}`)));
    assertCode(await verify(), 0);
  });
});

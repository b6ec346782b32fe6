/** A module of one's own in a crawl: it decides on links, adds to pages, and cannot stop the crawl. */

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { crawl, openCrawl, UsageError, type CrawledPage, type CrawlOptions, type RunEnd } from '../../src/index.ts';
import { EXTRACTED_BYTES_MAX } from '../../src/model/hooks.ts';
import { runBinary } from '../support/binary.ts';
import { FEW_PAGES_HOST, htmlOf, servePages, type FewPages, type ServedPages } from '../support/few-pages.ts';
import { assertCode, onStage, plainPlan } from '../support/stage.ts';
import { until } from '../support/until.ts';

interface Told {
  readonly site: ServedPages;
  readonly end: RunEnd;
  readonly warned: readonly string[];
  readonly path: string;
  readonly rows: readonly CrawledPage[];
}

/** Crawls these pages with this module, in this process. */
const crawlPages = async (pages: FewPages, module: string, more: Partial<CrawlOptions> = {}): Promise<Told> => {
  const home = mkdtempSync(join(tmpdir(), 'gossamer-hooks-'));
  const site = await servePages(pages);
  try {
    const path = join(home, 'my-hooks.mjs');
    writeFileSync(path, module);
    const warned: string[] = [];
    const run = await crawl({
      email: 'test@example.org',
      dir: join(home, 'crawl'),
      seeds: [site.seed],
      connectTo: site.connectTo,
      delayMs: 5,
      troubleDelayMs: 50,
      diskReserveBytes: 0,
      fetchers: 1,
      parsers: 1,
      hooks: path,
      onLog: (level, message) => void (level === 'warn' && warned.push(message)),
      ...more,
    });
    const rows: CrawledPage[] = [];
    for await (const page of run.pages()) rows.push(page);
    return { site, end: await run.ended, warned, path, rows };
  } finally {
    await site.close();
    rmSync(home, { recursive: true, force: true });
  }
};

const urlOf = (path: string): string => `http://${FEW_PAGES_HOST}${path}`;
const extractedOf = ({ rows }: Told, path: string): unknown => rows.find((row) => row.url === urlOf(path))?.extracted;

test('accept decides which links are followed, those of redirects too, and knows where each was found', async () => {
  const told = await crawlPages(
    {
      '/': htmlOf('home', ['/good', '/bad', '/moved', '/lost']),
      '/good': htmlOf('good', ['/', '/bad', '/deep']),
      '/deep': htmlOf('deep'),
      '/bad': htmlOf('bad'),
      '/moved': '->/target',
      '/target': htmlOf('target'),
      '/lost': '->/bad-target',
      '/bad-target': htmlOf('bad target'),
    },
    `
    const seen = {
      '/': [2, '/good'], '/good': [1, '/'], '/moved': [1, '/'], '/lost': [1, '/'], '/deep': [2, '/good'], '/target': [1, '/moved'],
    };
    export const accept = ({ url, site, depth, via, ...more }) => {
      const path = new URL(url).pathname;
      if (path.startsWith('/bad')) return false;
      if (site !== '${FEW_PAGES_HOST}' || Object.keys(more).length > 0 || seen[path][0] !== depth || new URL(via).pathname !== seen[path][1]) throw new Error('not as it should be');
      return true;
    };
  `,
  );
  assert.deepEqual(told.warned, []);
  assert.deepEqual(told.site.asked.toSorted(), ['/', '/deep', '/good', '/lost', '/moved', '/target']);
  assert.deepEqual(told.end.snapshot.refused, { hook: 3 });
  assert.equal(told.end.reason, 'finished');
});

test('extract sees the whole page, and what it returns is stored with it', async () => {
  const home = `<html lang="en"><title>home</title><p>some <b>t&eacute;xt</b></p><a href="/a#x">a</a><a href="a">a</a><a href="mailto:me@example.org">m</a></html>`;
  const told = await crawlPages(
    { '/': home, '/a': htmlOf('a') },
    `
    export const extract = (page) => page.title === 'a' ? undefined : { ...page, headers: page.headers['content-type'] };
  `,
  );
  assert.deepEqual(told.warned, []);
  assert.deepEqual(extractedOf(told, '/'), {
    url: urlOf('/'),
    status: 200,
    headers: 'text/html',
    contentType: 'text/html',
    title: 'home',
    language: 'en',
    text: 'some téxt\n\naam',
    html: home,
    links: [urlOf('/a')],
  });
  assert.equal(extractedOf(told, '/a'), undefined);
});

for (const parsers of [1, 0]) {
  test(`a hook that throws, hangs or answers wrongly is named with its URL, and the crawl finishes (--parsers ${parsers})`, async () => {
    const names = ['fine', 'throws', 'hangs', 'promises', 'large', 'odd', 'cyclic'];
    const told = await crawlPages(
      {
        '/': htmlOf('home', [
          ...names.map((name) => `/${name}`),
          '/no-throws',
          '/no-hangs',
          '/no-odd',
          '/no-promises',
          '/last',
        ]),
        ...Object.fromEntries([...names, 'last'].map((name) => [`/${name}`, htmlOf(name)])),
      },
      `
      export const accept = ({ url }) => {
        if (url.endsWith('/no-throws')) throw new TypeError('no such luck');
        if (url.endsWith('/no-hangs')) for (;;);
        if (url.endsWith('/no-odd')) return 'yes';
        if (url.endsWith('/no-promises')) return Promise.reject(new Error('never seen'));
        return true;
      };
      export const extract = ({ title }) => {
        switch (title) {
          case 'throws': throw new RangeError('out of luck');
          case 'hangs': for (;;);
          case 'promises': return Promise.reject(new Error('never seen'));
          case 'large': return 'x'.repeat(${EXTRACTED_BYTES_MAX - 1});
          case 'odd': return () => 1;
          case 'cyclic': { const value = {}; value.value = value; return value; }
          default: return 'y'.repeat(${EXTRACTED_BYTES_MAX - 2});
        }
      };
    `,
      { parsers },
    );
    assert.deepEqual([told.end.reason, told.end.snapshot.restarts], ['finished', 0]);
    assert.deepEqual(told.site.asked.toSorted(), ['/', ...names.map((name) => `/${name}`), '/last'].toSorted());
    assert.deepEqual(told.end.snapshot.refused, { 'hook-failed': 4 });
    const largest = 'y'.repeat(EXTRACTED_BYTES_MAX - 2); // with its quotes, just what is allowed
    for (const path of ['/', '/fine', '/last']) assert.equal(extractedOf(told, path), largest);
    for (const name of names.slice(1)) assert.equal(extractedOf(told, `/${name}`), undefined, name);
    const says = (hook: string, path: string, why: string): void => {
      const line = `${hook}() of the hooks "${told.path}" failed for ${urlOf(path)}: `;
      assert.ok(
        told.warned.some((message) => message.startsWith(line) && message.slice(line.length).startsWith(why)),
        `${line}${why}\n${told.warned.join('\n')}`,
      );
    };
    says('accept', '/no-throws', 'TypeError: no such luck');
    says('accept', '/no-hangs', 'it did not return within 1000 ms');
    says('accept', '/no-odd', 'it returned yes, neither true nor false');
    says('accept', '/no-promises', 'it returned a promise');
    says('extract', '/throws', 'RangeError: out of luck');
    says('extract', '/hangs', 'it did not return within 1000 ms');
    says('extract', '/promises', 'it returned a promise');
    says('extract', '/large', `it returned ${EXTRACTED_BYTES_MAX + 1} bytes of JSON`);
    says('extract', '/odd', 'it returned something that JSON cannot say');
    says('extract', '/cyclic', 'TypeError: Converting circular structure');
    assert.equal(told.warned.length, 10);
  });
}

test('after three hangs on one page accept is not asked about its other links', async () => {
  const links = ['/hang-1', '/good', '/hang-2', '/hang-3', '/late-1', '/late-2'];
  const told = await crawlPages(
    { '/': htmlOf('home', links), '/good': htmlOf('good') },
    `
    export const accept = ({ url }) => { if (url.includes('hang')) for (;;); return true; };
  `,
  );
  assert.deepEqual(told.site.asked, ['/', '/good']);
  assert.deepEqual(told.end.snapshot.refused, { 'hook-failed': 5 });
  assert.match(told.warned.at(-1) ?? '', /late-2: it hung 3 times on one page, so it was not asked$/);
});

test('failures of one kind get a few lines, then they are counted and summed up', async () => {
  const names = Array.from({ length: 150 }, (_, n) => `/page-${n}`);
  const told = await crawlPages(
    { '/': htmlOf('home', names) },
    `
    export const accept = ({ url }) => { throw new Error('always'); };
  `,
  );
  assert.deepEqual(told.end.snapshot.refused, { 'hook-failed': 150 });
  const of = `accept() of the hooks "${told.path}"`;
  assert.deepEqual(told.warned, [
    `${of} failed for ${urlOf('/page-0')}: Error: always`,
    `${of} failed for ${urlOf('/page-1')}: Error: always`,
    `${of} failed for ${urlOf('/page-2')}: Error: always; from here on these are counted`,
    `${of} has failed 100 times in fetch-1: Error: always`,
    `${of} has failed 150 times in fetch-1: Error: always`,
  ]);
});

// By the binary: where the test runner is loaded into a thread, it takes rejections for failed tests.
test('what a hook leaves behind neither ends its thread nor keeps the crawl from ending', async () => {
  const site = await servePages({ '/': htmlOf('home', ['/a']), '/a': htmlOf('a', ['/b']), '/b': htmlOf('b') });
  try {
    for (const parsers of [1, 0])
      await onStage(plainPlan(1, 1), async (stage) => {
        writeFileSync(
          join(stage.home, 'leaves.mjs'),
          `
        setInterval(() => {}, 1_000);
        export const extract = ({ title }) => { Promise.reject(new Error('too late')); return title; };
      `,
        );
        writeFileSync(stage.seedFile, site.seed);
        const ran = await stage.crawl({ hooks: 'leaves.mjs', parsers, fetchers: 1, 'connect-to': site.connectTo });
        assertCode(ran, 0);
        const line = `warn extract() of the hooks "${join(stage.home, 'leaves.mjs')}" failed: it left a promise behind, which was rejected: Error: too late`;
        // What it leaves behind on the last page is not told by a parse thread, which has nothing more to answer.
        assert.deepEqual(ran.stderr.trimEnd().split('\n').slice(0, 2), [line, line], ran.stderr);
        assert.doesNotMatch(ran.stderr, /died/);
        assert.deepEqual(
          (await stage.pages()).map((row) => row.extracted),
          ['home', 'a', 'b'],
        );
      });
  } finally {
    await site.close();
  }
});

test('a hook that ends its thread is named, and its page is tried again', async () => {
  const told = await crawlPages(
    { '/': htmlOf('home', ['/a']), '/a': htmlOf('a') },
    `
    import { existsSync, writeFileSync } from 'node:fs';
    const mark = new URL('./ended-once', import.meta.url);
    export const extract = ({ title }) => {
      if (title === 'a' && !existsSync(mark)) { writeFileSync(mark, ''); process.exit(7); }
      return title;
    };
  `,
  );
  assert.deepEqual([told.end.reason, told.end.snapshot.restarts], ['finished', 1]);
  assert.deepEqual(
    told.rows.map((row) => row.extracted),
    ['home', 'a'],
  );
  assert.deepEqual(told.warned, [
    `thread parse-1 died in extract() of the hooks "${told.path}": thread parse-1 ended with code 7`,
  ]);
});

// Both wait for the deadline of a parse, so they wait together.
describe('what no guard can interrupt', { concurrency: 2 }, () => {
  const once = (name: string, act: string): string => `
    import { execFileSync } from 'node:child_process';
    import { existsSync, writeFileSync } from 'node:fs';
    const mark = new URL('./done-once', import.meta.url);
    export const extract = ({ title }) => {
      if (title === '${name}' && !existsSync(mark)) { writeFileSync(mark, ''); ${act} }
      return title;
    };
  `;
  const pages = { '/': htmlOf('home', ['/a', '/b']), '/a': htmlOf('a'), '/b': htmlOf('b') };

  test('a hook that waits for another process longer than a parse may take costs its thread, the log says that it was in a hook, and the page is tried again', async () => {
    const told = await crawlPages(pages, once('a', 'execFileSync("sleep", ["23"]);'));
    assert.deepEqual([told.end.reason, told.end.snapshot.restarts], ['finished', 1]);
    assert.deepEqual(told.rows.map((row) => row.extracted).toSorted(), ['a', 'b', 'home']);
    assert.equal(
      told.warned[0],
      `thread parse-1 did not answer for 20s in extract() of the hooks "${told.path}" and is ended`,
    );
  });

  test('a hook that leaves behind what never lets the event loop turn costs its thread, and the crawl goes on', async () => {
    const told = await crawlPages(pages, once('a', '(async () => { for (;;) await null; })();'));
    assert.deepEqual([told.end.reason, told.end.snapshot.restarts], ['finished', 1]);
    assert.deepEqual(told.rows.map((row) => row.extracted).toSorted(), ['a', 'b', 'home']);
  });
});

/** Says the same of a page whenever it is asked. */
const EXACT = `
  import { createHash } from 'node:crypto';
  export const extract = ({ url, text, html, links }) => ({ url, text: text.length, html: createHash('sha256').update(html).digest('hex'), links });
`;

test('what was extracted survives kill -9 and a resume from another folder, and is exact', () =>
  onStage(plainPlan(8, 120, 30), async (stage) => {
    writeFileSync(join(stage.home, 'exact.mjs'), EXACT);
    for (const kills of [1, 2]) {
      const asked = stage.served.record.requests.length;
      const run = kills === 1 ? stage.startCrawl({ hooks: './exact.mjs' }) : stage.startResume();
      await until(
        'some more pages were asked for',
        () => run.isOver() || stage.served.record.requests.length > asked + 25,
      );
      run.send('SIGKILL');
      assert.equal((await run.ended).signal, 'SIGKILL');
    }
    const { settings } = JSON.parse(readFileSync(join(stage.dir, 'crawl.json'), 'utf8')) as {
      settings: { hooks: string };
    };
    assert.equal(settings.hooks, join(stage.home, 'exact.mjs'));
    assertCode(await runBinary(['resume', stage.dir], { cwd: tmpdir() }), 0);

    const { extract } = (await import(settings.hooks)) as { extract: (page: object) => unknown };
    const read = await openCrawl(stage.dir);
    const urls: string[] = [];
    for await (const page of read.pages()) {
      urls.push(page.url);
      const [text, html] = [await page.text(), await page.html()];
      const { links } = page.extracted as { links: string[] };
      assert.deepEqual(page.extracted, extract({ url: page.url, text, html, links }));
      assert.equal(
        links.length,
        new Set([...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => new URL(href!, page.url).href)).size,
        page.url,
      );
    }
    await read.close();
    assert.deepEqual(urls.toSorted(), [...stage.world.reachable().pages].toSorted());

    const [row] = await stage.pages({ limit: 1 });
    const shown = await stage.gossamer('show', stage.dir, row!.url);
    assert.ok(shown.stdout.includes(`extracted ${JSON.stringify(row!.extracted)}`), shown.stdout);
    assert.equal((row!.extracted as { url: string }).url, row!.url);
  }));

const BAD_MODULES: readonly (readonly [module: string, says: RegExp])[] = [
  ['export const accept = (link) => {\n  return ;;)\n}', /cannot be loaded: SyntaxError: Unexpected token '\)'$/],
  ['\n\nthrow new Error("not today");', /cannot be loaded: Error: not today \(line 3\)$/],
  ['import "./nothing.mjs"; export const accept = () => true;', /cannot be loaded: Error.*Cannot find module/],
  ['export const acept = () => true;', /exports neither accept nor extract: export at least one of them$/],
  [
    'export const accept = () => true; export const extract = "title";',
    /exports extract as a string: make it a function$/,
  ],
  ['process.exit(0);', /cannot be loaded: it ended its thread$/],
  ['await new Promise(() => {}); export const accept = () => true;', /cannot be loaded: it ended its thread$/],
];

test('a module that cannot be used gets one sentence, and nothing is made', () =>
  onStage(plainPlan(1, 1), async (stage) => {
    const path = join(stage.home, 'bad.mjs');
    const refused = (hooks: string, says: RegExp): Promise<void> =>
      assert.rejects(
        crawl({ email: 'test@example.org', dir: stage.dir, seeds: ['one.example'], diskReserveBytes: 0, hooks }),
        (error) => {
          assert.ok(error instanceof UsageError);
          assert.match(error.message, says);
          assert.ok(error.message.startsWith(`hooks "${hooks}" `));
          assert.equal(existsSync(stage.dir), false, hooks);
          return true;
        },
      );
    for (const [module, says] of BAD_MODULES) {
      writeFileSync(path, module);
      await refused(path, says);
    }
    await refused(join(stage.home, 'nothing.mjs'), /cannot be read: it does not exist$/);
    await refused(stage.home, /cannot be read: it is not a file$/);
    await refused('file://elsewhere.example/hooks.mjs', /is not understood: give the path of a module$/);

    const ran = await stage.crawl({ hooks: 'bad.mjs' });
    assertCode(ran, 2);
    assert.match(ran.stderr, /^gossamer: --hooks "bad\.mjs" cannot be loaded: [^\n]+\n$/);
    assert.equal(existsSync(stage.dir), false);
  }));

test('a module that CommonJS exports works, and one that is gone at a resume is told', () =>
  onStage(plainPlan(2, 4), async (stage) => {
    const path = join(stage.home, 'hooks.cjs');
    writeFileSync(path, 'const hooks = {}; hooks.extract = (page) => [page.title]; module.exports = hooks;');
    assertCode(await stage.crawl({ hooks: 'hooks.cjs' }), 0);
    for (const row of await stage.pages()) assert.deepEqual(row.extracted, [row.title]);
    rmSync(path);
    const ran = await stage.resume();
    assertCode(ran, 2);
    assert.equal(ran.stderr, `gossamer: --hooks "${path}" cannot be read: it does not exist\n`);
    assertCode(await stage.resume({ hooks: '' }), 0);
  }));

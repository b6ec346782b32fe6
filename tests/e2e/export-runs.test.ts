/** Exports of crawls that run, that kept some of what they fetched, or that are large. */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { archivedIn } from '../support/archive-check.ts';
import { GOSSAMER, endBinaries, runBinary, startBinary } from '../support/binary.ts';
import { fillDisk, mountDisk, unmountDisk } from '../support/crash-disk.ts';
import { htmlOf, servePages } from '../support/few-pages.ts';
import { serveHeldSites } from '../support/held-site.ts';
import { makeCrawl } from '../support/made-crawl.ts';
import { assertCode, onStage, plainPlan } from '../support/stage.ts';
import { until } from '../support/until.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-export-e2e-'));
after(() => {
  endBinaries();
  rmSync(home, { recursive: true });
});

const seedFile = (seeds: readonly string[]): string => {
  const path = join(home, 'seeds.txt');
  writeFileSync(path, seeds.join('\n'));
  return path;
};

const linesOf = (text: string, end = '\n'): string[] => text.split(end).slice(0, -1);

test('with --keep-links the links of a page are in its archive; text, records and a check stay right', async () => {
  const site = await servePages({
    '/': htmlOf('home', ['/a', 'http://other.example/x#y', '/a', 'b?q=ü', 'mailto:x@example.org']),
    '/a': htmlOf('a', ['/']),
    '/b?q=%C3%BC': htmlOf('b'),
  });
  const rows = [
    ['/', '/a'],
    ['/', 'http://other.example/x'],
    ['/', '/b?q=%C3%BC'],
    ['/a', '/'],
  ].map(([from, to]) => ({ from: new URL(from!, site.seed).href, to: new URL(to!, site.seed).href }));
  const byText = (a: object, b: object): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
  const crawlWords = (dir: string, ...more: readonly string[]): string[] => [
    'crawl',
    seedFile([site.seed]),
    '--dir',
    dir,
    '--email',
    'test@example.org',
    '--delay',
    '10ms',
    '--seeded-only',
    '--disk-reserve',
    '10MiB',
    '--connect-to',
    site.connectTo[0]!,
    ...more,
  ];
  try {
    for (const keep of ['all', 'text']) {
      const dir = join(home, `kept-${keep}`);
      assertCode(await runBinary(crawlWords(dir, '--keep', keep, '--keep-links')), 0);
      const ran = await runBinary(['export', dir, '--links', '--format', 'jsonl']);
      assertCode(ran, 0);
      assert.deepEqual(
        linesOf(ran.stdout)
          .map((line) => JSON.parse(line) as object)
          .toSorted(byText),
        rows.toSorted(byText),
      );
      assert.match((await runBinary(['show', dir, site.seed, '--text'])).stdout, /text of home/);
      assertCode(await runBinary(['verify', dir]), 0);
      const records = (await archivedIn(dir)).filter(({ type }) => type === 'metadata');
      assert.deepEqual(records.map(({ url }) => url).toSorted(), [site.seed, `${site.seed}a`]);
      assert.equal(
        linesOf((await runBinary(['export', dir, '--format', 'cdxj'])).stdout).length,
        keep === 'all' ? 3 : 0,
        'only responses can be replayed',
      );
    }
    const without = join(home, 'without');
    assertCode(await runBinary(crawlWords(without)), 0);
    const ran = await runBinary(['export', without, '--links', '--format', 'csv']);
    assertCode(ran, 2);
    assert.match(
      ran.stderr,
      /^gossamer: crawl ".*" kept no links of its pages: they are there for pages fetched with --keep-links/,
    );
    assert.deepEqual(
      (await archivedIn(without)).filter(({ type }) => type === 'metadata'),
      [],
    );
    const none = await runBinary(crawlWords(join(home, 'none'), '--keep', 'none', '--keep-links'));
    assertCode(none, 2);
    assert.match(none.stderr, /--keep-links puts the links of pages into the archive, and --keep none has none/);
    assert.equal(existsSync(join(home, 'none')), false);
  } finally {
    await site.close();
  }
});

test('pages of a time with --keep text are left out of the index, all others are in it', () =>
  onStage(plainPlan(3, 30, 15), async (stage) => {
    assertCode(await stage.crawl({ 'max-pages': 10 }), 0);
    assertCode(await stage.resume({ 'max-pages': 'none', keep: 'text' }), 0);
    const ran = await stage.gossamer('export', stage.dir, '--format', 'cdxj');
    assert.deepEqual(
      linesOf(ran.stdout)
        .map((line) => (JSON.parse(line.slice(line.indexOf('{'))) as { url: string }).url)
        .toSorted(),
      (await stage.pages())
        .slice(0, 10)
        .map(({ url }) => url)
        .toSorted(),
    );
  }));

test('a crawl that runs can be exported, and is not held up', async () => {
  const sites = await serveHeldSites();
  const dir = join(home, 'running');
  const run = startBinary([
    'crawl',
    seedFile(sites.seeds),
    '--dir',
    dir,
    '--email',
    'test@example.org',
    '--delay',
    '10ms',
    '--timeout',
    '10m',
    '--keep-links',
    '--disk-reserve',
    '10MiB',
    '--connect-to',
    sites.connectTo[0]!,
  ]);
  try {
    await until('every site holds a response back', () => sites.holding() === sites.seeds.length);
    for (const words of [
      ['--format', 'csv'],
      ['--format', 'cdxj'],
      ['--format', 'csv', '--links'],
    ]) {
      const ran = await runBinary(['export', dir, ...words]);
      assertCode(ran, 0);
      assert.ok(linesOf(ran.stdout).length >= sites.seeds.length, words.join(' '));
    }
    sites.release();
    assertCode(await run.ended, 0);
    assert.equal(
      linesOf((await runBinary(['export', dir, '--format', 'csv'])).stdout, '\r\n').length,
      sites.pages.length + 1,
    );
  } finally {
    sites.release();
    await run.ended;
    await sites.close();
  }
});

describe('on a crawl of 20,000 pages', () => {
  const dir = join(home, 'made');
  const outDir = join(home, 'out');
  before(async () => {
    mkdirSync(outDir);
    await makeCrawl({ dir, sites: 100, pages: 20_000, waiting: 0, keep: 'none', fileBytesMax: 2 ** 30 });
  });

  test('Ctrl-C ends an export in order, and no part of its file is left', async () => {
    const path = join(outDir, 'pages.parquet');
    let isStopped = false;
    while (!isStopped) {
      const run = startBinary(['export', dir, '--format', 'parquet', '--out', path]);
      await until('the export has begun', () => readdirSync(outDir).length > 0);
      run.send('SIGINT');
      const ran = await run.ended;
      // An export that was whole before the signal came tells nothing.
      if (ran.code === 0 && existsSync(path)) rmSync(path);
      else {
        assertCode(ran, 3);
        assert.match(ran.stderr, /^gossamer: stopped; ".*pages\.parquet" was not written\n$/);
        assert.deepEqual(readdirSync(outDir), []);
        isStopped = true;
      }
    }
  });

  test('a reader that stops early ends an export quietly', async () => {
    const shell = `"${process.execPath}" "${GOSSAMER}" export "${dir}" --format jsonl | head -n 1; echo "code \${PIPESTATUS[0]}"`;
    const ran = await runBinary([], { command: ['bash', '-c', shell] });
    assert.match(ran.stdout, /^\{"url":.*\}\ncode 0\n$/);
    assert.equal(ran.stderr, '');
  });

  test('a full disk ends an export with its own exit code, and no part of its file is left', async (t) => {
    const disk = join(home, 'disk');
    if (!(await mountDisk(disk))) return t.skip('no file system can be mounted here');
    try {
      await fillDisk(disk, 4);
      const ran = await runBinary(['export', dir, '--format', 'csv', '--out', join(disk, 'pages.csv')]);
      assertCode(ran, 4);
      assert.match(ran.stderr, /^gossamer: the disk is full/);
      assert.deepEqual(readdirSync(disk), []);
    } finally {
      unmountDisk(disk);
    }
  });
});

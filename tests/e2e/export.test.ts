/**
 * `gossamer export` with the real binary: every format has what `pages` has, links are those of the pages, and a file
 * is whole or not there.
 */

import assert from 'node:assert/strict';
import { createReadStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { CDXIndexer } from 'warcio';
import { readRecordAt } from '../../src/archive/reader.ts';
import { PAGE_TABLE } from '../../src/results/export/columns.ts';
import { tinyPlan } from '../../src/world/presets.ts';
import { archivedIn } from '../support/archive-check.ts';
import { endBinaries } from '../support/binary.ts';
import { withDuck, type DuckRow } from '../support/duck.ts';
import { assertCode, openStage, type ListedPage, type Stage } from '../support/stage.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-export-e2e-'));
after(() => {
  endBinaries();
  rmSync(home, { recursive: true });
});

const linesOf = (text: string, end = '\n'): string[] => text.split(end).slice(0, -1);

/** Numbers and texts as JSON has them. */
const plain = (row: DuckRow): DuckRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? Number(value) : value instanceof Date ? value.toISOString() : value,
    ]),
  );

/** RFC 4180, read by hand. */
const cellsOf = (text: string): string[][] => {
  const rows: string[][] = [[]];
  for (const [, quoted, bare, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)!.push(quoted === undefined ? bare! : quoted.replaceAll('""', '"'));
    if (end === '\r\n') rows.push([]);
  }
  return rows.slice(0, -1);
};

describe('on a crawl of a web with everything that is odd', () => {
  let stage: Stage;
  let pages: ListedPage[];
  before(async () => {
    stage = await openStage(tinyPlan);
    assertCode(await stage.crawl({ 'keep-links': true }), 0);
    pages = await stage.pages();
  });
  after(() => stage.close());

  const exported = async (...words: readonly string[]): Promise<string> => {
    const ran = await stage.gossamer('export', stage.dir, ...words);
    assertCode(ran, 0);
    assert.equal(ran.stderr, '');
    return ran.stdout;
  };

  test('JSON lines, CSV and Parquet have every page and every value, in the order of pages', async () => {
    assert.ok(
      pages.length > 150 &&
        pages.some(({ status }) => status === null) &&
        pages.some(({ warc_file }) => warc_file === null),
    );
    const rows: readonly DuckRow[] = pages;
    assert.deepEqual(
      linesOf(await exported('--format', 'jsonl')).map((line) => JSON.parse(line) as DuckRow),
      rows,
    );

    const [head, ...cells] = cellsOf(await exported('--format', 'csv'));
    assert.deepEqual(
      head,
      PAGE_TABLE.map(({ name }) => name),
    );
    const cell = (value: unknown): string => (value === null ? '' : String(value).replace(/^[=+\-@\t\r]/, "'$&"));
    assert.deepEqual(
      cells,
      rows.map((row) => head.map((name) => cell(row[name]))),
    );

    const ran = await stage.gossamer('export', stage.dir, '--format', 'parquet', '--out', 'pages.parquet');
    assertCode(ran, 0);
    assert.equal(ran.stderr, `${pages.length} pages in pages.parquet\n`);
    await withDuck(stage.home, async (query) =>
      assert.deepEqual((await query("FROM 'pages.parquet'")).map(plain), rows),
    );
  });

  test('the flags of pages choose the same pages', async () => {
    const site = pages.find(({ status }) => status === 404)!.site;
    const words = ['--site', site, '--status', '404', '--limit', '2'];
    const wanted = (await stage.pages({ site, status: '404', limit: 2 })).map(({ url }) => url);
    assert.ok(wanted.length > 0);
    assert.deepEqual(
      linesOf(await exported('--format', 'jsonl', ...words)).map((line) => (JSON.parse(line) as DuckRow).url),
      wanted,
    );
    assert.equal(linesOf(await exported('--format', 'cdxj', ...words)).length, wanted.length);
  });

  test('the index has every response of a page at its place, sorted by bytes, as another indexer finds it', async () => {
    const lines = linesOf(await exported('--format', 'cdxj'));
    assert.deepEqual(
      lines,
      lines.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    const entries = lines.map((line) => {
      const [, key, stamp, json] = /^(\S+) (\d{14}) (\{.*\})$/.exec(line)!;
      return {
        key,
        stamp,
        ...(JSON.parse(json!) as Record<
          'url' | 'mime' | 'status' | 'digest' | 'length' | 'offset' | 'filename',
          string
        >),
      };
    });
    const robots = new Set(
      (await archivedIn(stage.dir)).filter((record) => record.robots).map(({ file, offset }) => `${file} ${offset}`),
    );
    const others: unknown[] = [];
    for (const filename of readdirSync(join(stage.dir, 'warc'))) {
      for await (const line of new CDXIndexer({}).iterIndex([
        { filename, reader: createReadStream(join(stage.dir, 'warc', filename)) },
      ])) {
        if (line.status === null || line.status === undefined || robots.has(`${filename} ${line.offset}`)) continue;
        others.push([
          line.url,
          line.timestamp,
          String(line.mime ?? 'unk').split(' ')[0],
          String(line.status),
          line.digest,
          String(line.length),
          String(line.offset),
          filename,
        ]);
      }
    }
    const mine = entries.map((entry) => [
      entry.url,
      entry.stamp,
      entry.mime,
      entry.status,
      entry.digest,
      entry.length,
      entry.offset,
      entry.filename,
    ]);
    assert.deepEqual(mine.toSorted(), others.toSorted());
    for (const { filename, offset, length, url } of entries) {
      const record = readRecordAt(join(stage.dir, 'warc', filename), Number(offset));
      assert.deepEqual(
        [record.length, record.headers['warc-type'], record.headers['warc-target-uri']],
        [Number(length), 'response', url],
      );
    }
  });

  test('the links are those of the pages: every page that was found has one from where it was found', async () => {
    const links = new Set(
      linesOf(await exported('--links', '--format', 'jsonl'))
        .map((line) => JSON.parse(line) as { from: string; to: string })
        .map(({ from, to }) => `${from} ${to}`),
    );
    const redirects = new Set(
      pages.filter(({ redirect }) => redirect !== '').map(({ url, redirect }) => `${url} ${redirect}`),
    );
    const found = pages
      .filter(({ via }) => via !== '')
      .map(({ via, url }) => `${via} ${url}`)
      .filter((link) => !redirects.has(link));
    assert.ok(found.length > 100);
    assert.deepEqual(
      found.filter((link) => !links.has(link)),
      [],
    );
    assertCode(await stage.gossamer('verify', stage.dir), 0);
  });

  test('what cannot be exported is said in one sentence, and nothing is written', async () => {
    writeFileSync(join(stage.home, 'there'), 'dear reader');
    mkdirSync(join(stage.home, 'folder'), { recursive: true });
    const WRONG: readonly (readonly [readonly string[], RegExp])[] = [
      [[stage.dir], /--format is missing: choose one of parquet, jsonl, csv, cdxj/],
      [[stage.dir, '--format', 'xml'], /--format "xml" is not known: choose one of/],
      [[stage.dir, '--format', 'parquet'], /--format parquet is for a file: give its name by --out/],
      [[stage.dir, '--format', 'cdxj', '--links'], /--format cdxj is an index of pages, not of links/],
      [[stage.dir, '--format', 'csv', '--force'], /--force replaces the file of --out, which is missing/],
      [
        [stage.dir, '--format', 'csv', '--out', 'there'],
        /"there" is there already: choose another --out, or give --force/,
      ],
      [[stage.dir, '--format', 'csv', '--out', 'folder'], /"folder" is there already/],
      [[stage.dir, '--format', 'csv', '--out', 'folder', '--force'], /"folder" is a folder: choose another --out/],
      [
        [stage.dir, '--format', 'csv', '--out', 'no/such/file'],
        /"no\/such\/file" cannot be written .*: choose another --out/,
      ],
      [[stage.dir, '--format', 'csv', '--outcome', 'fetchd'], /--outcome "fetchd" is not known/],
      [['nowhere', '--format', 'csv'], /there is no crawl in "nowhere"/],
      [['--format', 'csv'], /the directory of the crawl is missing/],
    ];
    for (const [words, says] of WRONG) {
      const ran = await stage.gossamer('export', ...words);
      assertCode(ran, 2);
      assert.match(ran.stderr, says);
      assert.equal(ran.stdout, '');
    }
    assert.equal(readFileSync(join(stage.home, 'there'), 'utf8'), 'dear reader');
    assert.deepEqual(
      readdirSync(stage.home).filter((name) => name.endsWith('.part')),
      [],
    );
    assertCode(
      await stage.gossamer('export', stage.dir, '--format', 'csv', '--out', 'there', '--force', '--limit', '1'),
      0,
    );
    assert.equal(cellsOf(readFileSync(join(stage.home, 'there'), 'utf8')).length, 2);
  });
});

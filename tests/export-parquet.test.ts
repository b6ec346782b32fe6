/** Parquet files as DuckDB reads them: every row, every value, every type. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { COLUMN_KINDS, LINK_COLUMNS, PAGE_TABLE, type Column } from '../src/results/export/columns.ts';
import { OutFile } from '../src/results/export/out.ts';
import { openParquet } from '../src/results/export/parquet.ts';
import type { CanonicalUrl } from '../src/model/link.ts';
import { NO_PLACE, type PageRow } from '../src/model/page.ts';
import { withDuck, type DuckRow } from './support/duck.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-parquet-'));
after(() => rmSync(home, { recursive: true }));

const written = async <Row>(name: string, columns: readonly Column<Row>[], rows: Iterable<Row>): Promise<void> => {
  const out = new OutFile(join(home, name), false);
  const parquet = await openParquet(columns, out);
  for (const row of rows) {
    parquet.add(row);
    if (parquet.isFull()) await parquet.writeGroup();
  }
  await parquet.finish();
  out.keep();
};

const pageOf = (n: number): PageRow => ({
  url: `http://s${n % 7}.example/${n}` as CanonicalUrl,
  site: `s${n % 7}.example`,
  outcome: n % 3 ? 'fetched' : 'robots-denied',
  status: n % 3 ? 200 : null,
  time: Date.UTC(2026, 0, 1) + n * 1_000 + 0.75,
  duration_ms: n / 8,
  content_type: 'text/html',
  bytes: n * 2 ** 31,
  title: n % 2 ? `“t” ${n}` : '',
  language: '',
  redirect: '',
  digest: `sha1:${n}`,
  truncated: '',
  noindex: n % 5 === 0,
  depth: n % 4,
  via: '',
  tries: 1,
  robots: 'no rule',
  detail: '192.0.2.1',
  extracted: n % 11 ? null : JSON.stringify({ n }),
  tls: n % 2 ? 'unverified' : '',
  charset: n % 3 ? 'windows-1251' : '',
  charset_guessed: n % 6 === 1,
  ...(n % 3
    ? { warc_file: 'a.warc.gz', warc_offset: n * 2 ** 33, warc_length: n, warc_group_length: n + 1 }
    : NO_PLACE),
});

/** As DuckDB gives it. */
const expected = (page: PageRow): DuckRow =>
  Object.fromEntries(
    PAGE_TABLE.map(({ name, kind, of }) => {
      const value = of(page);
      return [
        name,
        value === null
          ? null
          : kind === 'int64'
            ? BigInt(value as number)
            : kind === 'time'
              ? new Date(value as number)
              : value,
      ];
    }),
  );

test('every value of a page comes back, nulls and large numbers too, and each column has its type', async () => {
  const pages = Array.from({ length: 500 }, (_, n) => pageOf(n));
  await written('pages.parquet', PAGE_TABLE, pages);
  await withDuck(home, async (query) => {
    assert.deepEqual(await query("FROM 'pages.parquet'"), pages.map(expected));
    const types = await query("DESCRIBE FROM 'pages.parquet'");
    assert.deepEqual(
      types.map(({ column_name, column_type }) => [column_name, column_type]),
      PAGE_TABLE.map(({ name, kind }) => [name, COLUMN_KINDS[kind].parquet]),
    );
  });
});

test('more rows than one group are written in several, and an export of nothing is a file with columns and no rows', async () => {
  const links = Array.from({ length: 120_000 }, (_, n) => ({
    from: `http://a.example/${n >> 4}`,
    to: `http://b.example/${n}`,
  }));
  await written('links.parquet', LINK_COLUMNS, links);
  const large = Array.from({ length: 30 }, (_, n) => ({ from: 'x'.repeat(3_000_000), to: String(n) }));
  await written('large.parquet', LINK_COLUMNS, large);
  await written('none.parquet', LINK_COLUMNS, []);
  await withDuck(home, async (query) => {
    assert.deepEqual(
      await query(
        `SELECT count(*) AS n, count(DISTINCT "from") AS pages, count(DISTINCT "to") AS targets FROM 'links.parquet'`,
      ),
      [{ n: 120_000n, pages: 7_500n, targets: 120_000n }],
    );
    assert.deepEqual(
      await query("SELECT DISTINCT row_group_num_rows AS n FROM parquet_metadata('links.parquet') ORDER BY n"),
      [{ n: 20_000n }, { n: 50_000n }],
    );
    assert.deepEqual(await query("SELECT count(DISTINCT row_group_id) AS n FROM parquet_metadata('large.parquet')"), [
      { n: 3n },
    ]);
    assert.deepEqual(await query("SELECT count(*) AS n FROM 'none.parquet'"), [{ n: 0n }]);
  });
});

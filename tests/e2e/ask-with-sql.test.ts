/** The questions of docs/how-to/ask-with-sql.md, asked as they stand there about a real crawl. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { tinyPlan } from '../../src/world/presets.ts';
import { withDuck } from '../support/duck.ts';
import { assertCode, onStage, type ListedPage } from '../support/stage.ts';

const page = readFileSync(new URL('../../docs/how-to/ask-with-sql.md', import.meta.url), 'utf8');
const questions = [...page.matchAll(/^## (.*)\n\n```sql\n([^]*?)\n```/gm)].map(([, title, sql]) => ({
  title: title!,
  sql: sql!,
}));

const countBy = (pages: readonly ListedPage[], name: 'site' | 'digest'): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const one of pages) counts.set(one[name], (counts.get(one[name]) ?? 0) + 1);
  return counts;
};

/** The highest counts first, those of one count by name; names and counts. */
const ranked = (counts: ReadonlyMap<string, number>): [string, number][] =>
  [...counts].toSorted(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).slice(0, 20);

test('the five questions have the answers that the pages give', () =>
  onStage({ ...tinyPlan, https: false }, async (stage) => {
    assertCode(await stage.crawl({ 'keep-links': true, 'max-pages-per-site': 25 }), 0);
    assertCode(await stage.gossamer('export', stage.dir, '--format', 'parquet', '--out', 'pages.parquet'), 0);
    assertCode(
      await stage.gossamer('export', stage.dir, '--format', 'parquet', '--out', 'links.parquet', '--links'),
      0,
    );
    const links = (await stage.gossamer('export', stage.dir, '--format', 'jsonl', '--links')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { from: string; to: string });
    const pages = await stage.pages();
    const fetched = pages.filter(({ outcome }) => outcome === 'fetched');
    assert.equal(questions.length, 5);
    await withDuck(stage.home, async (query) => {
      const [largest, errors, same, uncrawled, growth] = await Promise.all(questions.map(({ sql }) => query(sql)));
      const pairs = (rows: typeof largest, name: string, count: string): unknown[] =>
        rows!.map((row) => [row[name], Number(row[count])]);

      assert.deepEqual(pairs(largest, 'site', 'pages'), ranked(countBy(fetched, 'site')));

      const kinds = ['good', 'redirects', 'client_errors', 'server_errors', 'unanswered'];
      const kindOf = ({ status }: ListedPage): string =>
        status === null ? 'unanswered' : kinds[Math.floor(status / 100) - 2]!;
      assert.deepEqual(
        errors!.map((row) => kinds.map((kind) => Number(row[kind]))),
        errors!.map((row) =>
          kinds.map((kind) => pages.filter((one) => one.site === row.site && kindOf(one) === kind).length),
        ),
      );
      assert.ok(errors!.length > 5 && Number(errors![0]!.client_errors) + Number(errors![0]!.unanswered) > 0);

      const digests = countBy(
        fetched.filter(({ bytes }) => bytes > 0),
        'digest',
      );
      assert.deepEqual(pairs(same, 'digest', 'copies'), ranked(new Map([...digests].filter(([, n]) => n > 1))));
      assert.ok(same!.length > 0);

      const known = new Set(pages.map(({ url }) => url as string));
      const targets = new Map<string, number>();
      for (const { to } of links) if (!known.has(to)) targets.set(to, (targets.get(to) ?? 0) + 1);
      assert.deepEqual(pairs(uncrawled, 'url', 'linked_from'), ranked(targets));
      assert.ok(uncrawled!.length > 0);

      const answered = pages.filter(({ status }) => status !== null).length;
      assert.equal(Number(growth!.at(-1)!.so_far), answered);
      assert.equal(
        growth!.reduce((sum, row) => sum + Number(row.pages), 0),
        answered,
      );
      assert.equal(growth!.at(-1)!.main_language, 'en');
    });
  }));

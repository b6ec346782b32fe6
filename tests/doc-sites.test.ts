/** What `npm run doc-sites` expects of a crawl, and what it says of one that did something else. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { compare } from '../tools/doc-sites/compare.ts';
import { walkWeb, SCOPES } from '../tools/doc-sites/walk.ts';
import { layOut } from '../tools/doc-sites/web.ts';

const home = mkdtempSync(join(tmpdir(), 'gossamer-doc-sites-test-'));
after(() => rmSync(home, { recursive: true }));

const manual = (name: string, files: Readonly<Record<string, string>>): { name: string; folder: string } => {
  const folder = join(home, name);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return { name, folder };
};

const web = join(home, 'web');
const sites = layOut(web, [
  manual('a', {
    'index.html': `<meta http-equiv="Refresh" content="0; url='refreshed.html'"><link rel=next href=next.html>
      <a href="odd%7ename.html#here">1</a> <a href="odd~name.html">2</a> <a href="part">3</a> <a href="part/data.csv">4</a>
      <noscript><a href="in%20noscript.html">5</a></noscript> <a rel=nofollow href="nobody.html">6</a>
      <a href="gone.html">7</a> <a href="part/index.html?q">8</a> <a href="mailto:a@example.org">9</a>
      <a href="/a/manual/../../beside/deep.html">10</a>`,
    'refreshed.html': '',
    'next.html': '<meta name=robots content="noindex, nofollow"><a href="nobody.html">1</a>',
    'odd~name.html': '',
    'nobody.html': '',
    'in noscript.html': '',
    'part/index.html': '<base href="../elsewhere/"><a href="../based.html">1</a> <a href="../part/../index.html">2</a>',
    'part/data.csv': '',
    'based.html': '',
  }),
  manual('b', { 'index.html': '<a href="c.html">1</a>', 'c.html': '', 'deep.html': '' }),
  manual('c', { 'index.html': '' }),
]);

const IN_PATH = [
  '',
  'manual/based.html',
  'manual/in%20noscript.html',
  'manual/index.html',
  'manual/next.html',
  'manual/odd~name.html',
  'manual/part/',
  'manual/part/index.html?q',
  'manual/refreshed.html',
].map((path) => `http://docs.a.test/a/${path}`);
const ON_HOST = ['c.html', 'deep.html', 'index.html'].map((page) => `http://docs.a.test/beside/${page}`);

test('the pages of a scope are those that links lead to, from the seed on', () => {
  const found = SCOPES.map((scope) => walkWeb(web, sites[0]!.seed, scope));
  assert.deepEqual(
    found.map(({ pages }) => [...pages.keys()].toSorted()),
    [IN_PATH, [...IN_PATH, ...ON_HOST], [...IN_PATH, ...ON_HOST, 'http://www.a.test/away/index.html']],
  );
  assert.deepEqual(
    found.map(({ broken }) => [...broken]),
    found.map(() => [['http://docs.a.test/a/manual/gone.html', { page: IN_PATH[3], href: 'gone.html' }]]),
  );
});

test('a comparison names what a crawl lacks with the link to it, and what it has besides', () => {
  const expected = walkWeb(web, sites[0]!.seed, 'path');
  const good = [
    ...IN_PATH.map((url) => ({ url, outcome: 'fetched' })),
    { url: 'http://docs.a.test/a/manual/part', outcome: 'redirected' },
    { url: 'http://docs.a.test/a/manual/gone.html', outcome: 'client-error' },
  ];
  const same = compare('a', expected, good);
  assert.deepEqual(same, { site: 'a', expected: 9, fetched: 9, broken: 1, missing: [], extra: [] });

  const other = compare('a', expected, [
    ...good.filter(({ url }) => !/based|gone/.test(url)),
    { url: 'http://docs.a.test/a/manual/based.html', outcome: 'failed-reset' },
    { url: 'http://docs.a.test/a/manual/nobody.html', outcome: 'fetched' },
    { url: 'http://docs.a.test/a/manual/odd%7Ename.html', outcome: 'fetched' },
    { url: 'http://docs.a.test/a/manual/invented', outcome: 'client-error' },
  ]);
  const { missing, extra, fetched } = other;
  assert.equal(fetched, 10);
  assert.deepEqual(missing, [
    `${IN_PATH[1]}: failed-reset, not fetched; link "../based.html" of ${IN_PATH[7]}`,
    `http://docs.a.test/a/manual/gone.html: never asked for, not client-error; link "gone.html" of ${IN_PATH[3]}`,
  ]);
  assert.deepEqual(extra, [
    'http://docs.a.test/a/manual/nobody.html: no link within the scope leads there',
    'http://docs.a.test/a/manual/odd~name.html: asked for in two spellings',
    'http://docs.a.test/a/manual/invented: no link within the scope leads there',
  ]);
});

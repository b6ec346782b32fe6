/** Where links stand besides `<a href>`: refreshes, frames, what is written for browsers without frames. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePage } from '../src/parse/page.ts';
import { refreshTarget } from '../src/parse/refresh.ts';

const find = (body: string, headers: Record<string, string> = {}) =>
  parsePage({
    url: 'http://example.org/dir/page',
    headers: { 'content-type': 'text/html', ...headers },
    body: Buffer.from(body),
    textBytesMax: 1024 ** 2,
    productToken: 'gossamer',
  }).findings;

const hrefsIn = (body: string, headers?: Record<string, string>): readonly string[] => find(body, headers).hrefs;

/** HTML standard, shared declarative refresh steps; empty where they end without an address. */
const REFRESHES: readonly (readonly [content: string, target: string])[] = [
  ['3; url=/a', '/a'],
  ['3;url=/a', '/a'],
  ['3,URL=/a', '/a'],
  ['3 url=/a', '/a'],
  [' \t\n\f3 \r;\n Url \t=\n /a', '/a'],
  ['0.5;url=/a', '/a'],
  ['.;url=/a', '/a'],
  ['..5..;url=/a', '/a'],
  ['3;/a', '/a'],
  ['3 /a', '/a'],
  [`3;url='/a'`, '/a'],
  [`3;url="/a" and more`, '/a'],
  [`3;'/a`, '/a'],
  [`3;url="/a'b`, `/a'b`],
  ['3;url=/a;b', '/a;b'],
  ['3;;url=/a', ';url=/a'],
  ['3;u', 'u'],
  ['3;urn', 'urn'],
  ['3;url', 'url'],
  ['3;url"/a"', 'url"/a"'],
  ['3;url==/a', '=/a'],
  ['3', ''],
  ['3;', ''],
  ['3;url=', ''],
  ['', ''],
  [';url=/a', ''],
  ['url=/a', ''],
  ['-1;url=/a', ''],
  ['+1;url=/a', ''],
  ['3x;url=/a', ''],
  ['\u00a03;url=/a', ''],
];

for (const [content, target] of REFRESHES) {
  test(`a refresh of ${JSON.stringify(content)} leads to "${target}"`, () => {
    assert.equal(refreshTarget(content), target);
  });
}

test('a meta refresh is a link, in the head, in the body and in noscript, and its references are decoded', () => {
  assert.deepEqual(hrefsIn('<meta http-equiv=refresh content="3; url=/a?b&amp;c">'), ['/a?b&c']);
  assert.deepEqual(
    hrefsIn('<p>x<META content="0;URL=/b" HTTP-EQUIV=" Refresh"><meta HTTP-EQUIV=REFRESH content=0;/c>'),
    ['/c'],
  );
  assert.deepEqual(hrefsIn('<noscript><meta http-equiv=refresh content="0;url=/plain"></noscript>'), ['/plain']);
  assert.deepEqual(hrefsIn('<meta http-equiv=refresh content=300><meta name=refresh content="0;url=/no">'), []);
  assert.deepEqual(hrefsIn('<template><meta http-equiv=refresh content="0;url=/no"></template>'), []);
  assert.deepEqual(hrefsIn('<meta http-equiv=refresh content="0;url=javascript:x()">'), []);
});

test('a Refresh field is a link, before those of the page, also of a page without markup', () => {
  assert.deepEqual(hrefsIn('<a href=/b><a href=/a>', { refresh: '0; url=/a' }), ['/a', '/b']);
  assert.deepEqual(hrefsIn('<a href=/b>', { refresh: '30' }), ['/b']);
  assert.deepEqual(hrefsIn('words', { 'content-type': 'text/plain', refresh: '0;url="/a"' }), ['/a']);
  const raw = Buffer.from('0;url=/zürich').toString('latin1');
  assert.deepEqual(hrefsIn('', { refresh: raw }), ['/zürich']);
});

test('a page that says nofollow gives no link of any kind', () => {
  const page = '<meta http-equiv=refresh content="0;url=/a"><iframe src=/b></iframe><noframes><a href=/c></noframes>';
  assert.deepEqual(hrefsIn(page, { refresh: '0;url=/d', 'x-robots-tag': 'nofollow' }), []);
  assert.deepEqual(hrefsIn(`<noframes><meta name=robots content=nofollow></noframes>${page}`), []);
  assert.deepEqual(hrefsIn('<iframe src=/a rel=nofollow></iframe>'), []);
});

test('an iframe is a link to what it shows, but not for what it holds', () => {
  assert.deepEqual(hrefsIn('<iframe src=" /a&amp;b "><a href=/no></iframe><iframe srcdoc="<a href=/no>"></iframe>'), [
    '/a&b',
  ]);
  assert.deepEqual(hrefsIn('<div hidden><iframe src=/a></iframe></div><noscript><iframe src=/b></iframe></noscript>'), [
    '/a',
    '/b',
  ]);
  assert.deepEqual(hrefsIn('<template><iframe src=/no></iframe></template><svg><iframe src=/no></svg>'), []);
});

test('the frames of a frameset are links, those in a frameset inside it too; others are no frames', () => {
  const page = '<frameset><frame src=/a><frameset><frame src="/b"></frameset><frame src=/c></frameset><frame src=/no>';
  assert.deepEqual(hrefsIn(page), ['/a', '/b', '/c']);
  assert.deepEqual(hrefsIn('<p>words<frame src=/no>'), []);
});

test('a link that a frameset replaced is one again where a frame has it', () => {
  assert.deepEqual(hrefsIn('<a href=/a></a><a href=/b></a><frameset><frame src=/b>'), ['/b']);
});

test('what is written for browsers without frames is read for links and not for text', () => {
  const inFrameset = find(
    '<title>T</title><frameset><frame src=/a><noframes><body><title>no</title>Words <a href=/b>b</a></noframes>',
  );
  assert.deepEqual([inFrameset.hrefs, inFrameset.text, inFrameset.title], [['/a', '/b'], '', 'T']);
  const inPage = find(
    '<p>seen<noframes>unseen <!-- <a href=/no> --><a href=/a><a href=/no rel=nofollow></noframes>too',
  );
  assert.deepEqual([inPage.hrefs, inPage.text], [['/a'], 'seentoo']);
});

test('what stands in a noframes stays in it: its base, its comments and quotes that do not end', () => {
  assert.equal(find('<noframes><base href=/no/></noframes><a href=x>').base, 'http://example.org/dir/page');
  assert.deepEqual(hrefsIn('<noframes><!-- </noframes><a href=/a>'), ['/a']);
  assert.deepEqual(hrefsIn('<noframes><a href="/no></noframes><a href=/a>"'), ['/a']);
  assert.deepEqual(hrefsIn('<template><noframes><a href=/no></noframes></template>'), []);
});

test('a noframes in a noframes is read on, and no page is read more than twice', () => {
  assert.deepEqual(hrefsIn('<noframes><noframes><a href=/a></noframes><a href=/b>'), ['/a', '/b']);
  const many = '<noframes><a href=/a></noframes>'.repeat(1_000);
  assert.deepEqual(hrefsIn(`${many}<noframes><a href=/late></noframes><a href=/b>`), ['/a', '/b']);
});

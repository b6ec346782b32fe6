/** From the bytes of a page to its findings: encodings, kinds of pages, directives and text. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { decodeText, isText, parsePage } from '../src/parse/page.ts';

const MIB = 1024 * 1024;
const HTML = 'text/html; charset=utf-8';

const parse = (
  body: string | Uint8Array,
  headers: Record<string, string> = { 'content-type': HTML },
  textBytesMax = MIB,
) =>
  parsePage({
    url: 'http://example.org/dir/page',
    headers,
    body: Buffer.from(body),
    textBytesMax,
    productToken: 'gossamer',
  });

const find = (body: string | Uint8Array, headers?: Record<string, string>) => parse(body, headers).findings;
const textOf = (body: string): string => find(body).text;
const fixture = (name: string): Buffer => readFileSync(join(import.meta.dirname, 'fixtures', 'pages', name));

// Kinds of pages

test('text, HTML, XML and responses without a type count as text', () => {
  for (const type of [
    'text/html',
    'Text/HTML; charset=x',
    'text/plain',
    'application/xhtml+xml',
    'application/xml',
    'application/rss+xml',
    'text/csv',
    '',
  ]) {
    assert.equal(isText(type), true, type);
  }
  for (const type of ['image/png', 'application/pdf', 'application/json', 'application/octet-stream', 'video/mp4']) {
    assert.equal(isText(type), false, type);
  }
  assert.equal(isText('', Buffer.from('%PDF-1.4\n\0\x01')), false);
  assert.equal(isText('', Buffer.from('<p>x')), true);
});

test('plain text keeps its lines and gives no links', () => {
  const found = find('a  b\r\n\r\n\r\n<a href=x>\x07 &amp;\n', { 'content-type': 'text/plain' });
  assert.deepEqual([found.text, found.hrefs, found.title], ['a  b\n\n<a href=x> &amp;', [], '']);
});

test('a feed gives its text, and its own address in it is no link', () => {
  const feed =
    '<?xml version="1.0"?><rss><!-- no --><title>News &amp; more</title><link>http://a.example/</link><description><![CDATA[<b>Bold</b>]]></description></rss>';
  const found = find(feed, { 'content-type': 'application/rss+xml' });
  assert.deepEqual([found.text, found.hrefs], ['News & more\nhttp://a.example/\n<b>Bold</b>', []]);
});

test('a page without a type is told by its first bytes', () => {
  assert.deepEqual(find('  <!doctype html><a href=x>y</a>', {}).hrefs, ['x']);
  assert.equal(find('Dear reader, <a href=x>', {}).text, 'Dear reader, <a href=x>');
  assert.equal(find('\x7fELF\0\0', {}).text, '');
});

test('robots.txt is UTF-8, and its content-encoding is undone', () => {
  assert.equal(
    decodeText(
      { 'content-encoding': 'gzip', 'content-type': 'text/plain; charset=latin1' },
      gzipSync('\ufeffDisallow: /ü'),
    ),
    'Disallow: /ü',
  );
});

// Base, language, canonical, directives

test('the base is the first one with an address, against the page, unless it is no place', () => {
  assert.equal(find('<a href=x>').base, 'http://example.org/dir/page');
  assert.equal(find('<base target=x><base href=../up/><base href=/no>').base, 'http://example.org/up/');
  assert.equal(find('<base href="http://[bad"><base href=/no>').base, 'http://example.org/dir/page');
  assert.equal(find('<base href="data:text/html,x">').base, 'http://example.org/dir/page');
});

test('the language is that of the html element, then that of the header', () => {
  const headers = { 'content-type': HTML, 'content-language': 'de, en' };
  assert.equal(find('<html lang=fr>', headers).language, 'fr');
  assert.equal(find('<html xml:lang=it>', headers).language, 'it');
  assert.equal(find('<p lang=fr>', headers).language, 'de');
  assert.equal(find('<p lang=fr>').language, '');
});

test('the canonical address is recorded and followed', () => {
  const found = find(
    '<link rel="x CANONICAL" href=" /a&amp;b "><link rel=canonical href=/second><link rel=stylesheet href=/no>',
  );
  assert.deepEqual([found.canonical, found.hrefs], ['/a&b', ['/a&b', '/second']]);
});

test('a page that says nofollow gives no links, and its text all the same', () => {
  for (const content of ['nofollow', 'NOINDEX,NoFollow', 'none', 'noarchive nofollow']) {
    for (const name of ['robots', 'ROBOTS', 'Gossamer']) {
      const found = find(`<a href=x>y</a><meta name=${name} content="${content}">`);
      assert.deepEqual([found.nofollow, found.hrefs, found.text], [true, [], 'y'], content);
    }
  }
  const other = find('<meta name=otherbot content=none><meta name=robots content="index, follow"><a href=x>');
  assert.deepEqual([other.noindex, other.nofollow, other.hrefs], [false, false, ['x']]);
});

const robotsTags: readonly (readonly [string, boolean, boolean])[] = [
  ['noindex', true, false],
  ['NOFOLLOW', false, true],
  ['none', true, true],
  ['otherbot: noindex, nofollow', false, false],
  ['otherbot: noindex, gossamer: nofollow', false, true],
  ['Gossamer: noindex, nofollow', true, true],
  ['all', false, false],
  ['unavailable_after: 25 Jun 2030 15:00:00 PST, noindex', true, false],
  ['max-snippet:-1, nofollow', false, true],
  ['*: noindex', true, false],
  ['', false, false],
];

for (const [tag, noindex, nofollow] of robotsTags) {
  test(`X-Robots-Tag "${tag}" means noindex ${noindex}, nofollow ${nofollow}`, () => {
    const found = find('<a href=x>', { 'content-type': HTML, 'x-robots-tag': tag });
    assert.deepEqual([found.noindex, found.nofollow, found.hrefs.length], [noindex, nofollow, nofollow ? 0 : 1]);
  });
}

// Text

test('the text of an article is what a reader sees', () => {
  assert.equal(
    find(fixture('article.html')).text,
    [
      'Home',
      'News',
      'About',
      '',
      'Otters return to the river Lym',
      '',
      'By Ann Lee, 2 May',
      '',
      'After forty years, otters have been seen again below the old mill. They were filmed at dawn — twice.',
      '',
      'Photo: J. Reed',
      '',
      'Read more: an advertisement, notes, write to us, share.',
    ].join('\n'),
  );
});

test('preformatted text keeps its lines and its indentation, with one empty line at the most', () => {
  assert.match(
    find(fixture('docs.html')).text,
    /^Prev Next\n\nif \(a < b\) \{\n {4}return {3}less;\n\n\}\n\noption\nWhat it does\nother\nmore/,
  );
});

test('cells are set off by tabs and rows by lines', () => {
  assert.equal(textOf('<table><tr><td>1<td>2</td><th> 3 </th></tr><tr><td>4</table>5'), '1\t2\t3\n4\n\n5');
});

test('what is hidden is not in the text', () => {
  assert.equal(find(fixture('hidden.html')).text.replace(/\s+/g, ' '), 'Seen 1 Seen 2 Seen 3Seen 4Seen 5');
});

test('white space and control characters are made sane', () => {
  assert.equal(
    textOf(' a\n\t b&nbsp;&nbsp; c\x00\x07d <i> e</i> f<br>g <br> <br><br> h&Tab;i&#13;j <p></p><p></p> k '),
    'a b c d e f\ng\n\nh i j\n\nk'.replace('c d', 'cd'),
  );
});

test('words are parted by blocks and not by inline elements', () => {
  assert.equal(textOf('<div>a<b>b</b>c<span>d</span></div><div>e</div>f<section>g</section>'), 'abcd\ne\nf\ng');
});

test('a less-than sign that begins no tag is text', () => {
  assert.equal(textOf('1 < 2 <3 <- a<b>c</b> &lt;b&gt; & &amp; &unknown; x&'), '1 < 2 <3 <- ac <b> & & &unknown; x&');
});

test('a frameset has no text, and a page without body has its own', () => {
  assert.equal(find(fixture('frames.html')).text, '');
  assert.equal(find(fixture('bare.txt.html')).text, 'Just words, bold ones, and one link');
  assert.equal(textOf('<html><head><title>t</title></head>'), '');
});

// Without text

test('where the text is not wanted, all else of a page is found just the same', () => {
  const folder = join(import.meta.dirname, 'fixtures', 'pages');
  for (const name of readdirSync(folder)) {
    const type = name.endsWith('.xhtml') ? 'application/xhtml+xml' : name.endsWith('.txt') ? 'text/plain' : 'text/html';
    const source = {
      url: 'http://example.org/dir/page',
      headers: { 'content-type': type },
      body: fixture(name),
      textBytesMax: MIB,
      productToken: 'gossamer',
    };
    const { findings } = parsePage(source);
    assert.deepEqual(parsePage({ ...source, text: false }).findings, { ...findings, text: '' }, name);
  }
});

test('a base with a host without end counts for nothing', () => {
  const page = `<base href="http://${'ü'.repeat(4_000)}/"><a href="x">x</a>`;
  assert.equal(find(page).base, 'http://example.org/dir/page');
});

test('a robots.txt in UTF-16 is read by its byte order mark', () => {
  const text = 'User-agent: *\nDisallow: /ü\n';
  const little = Buffer.from(`\ufeff${text}`, 'utf16le');
  assert.equal(decodeText({}, little), text);
  assert.equal(decodeText({}, Buffer.from(little).swap16()), text);
});

test('what hides an element without an end tag of its own ends where the element does', () => {
  assert.equal(textOf('<ul><li hidden>a<li>b</ul><p>article'), 'b\n\narticle');
  assert.equal(textOf('<ul><li hidden>a<ul><li>inner</ul><li>b</ul>after'), 'b\n\nafter');
  assert.equal(textOf('<div><video>no video here</div><p>article'), 'article');
  assert.equal(textOf('<section><canvas><p>old</section><p>article'), 'article');
  assert.equal(textOf('<dl><dt hidden>a<dd>b</dl>after'), 'b\n\nafter');
  assert.equal(textOf('<table><tr hidden><td>a<tr><td>b</table>after'), 'b\n\nafter');
  assert.equal(textOf('<span><div hidden>a</span>still hidden</div>after'), 'after');
  assert.equal(textOf('<div hidden><div>a</div>b</div>after'), 'after');
});

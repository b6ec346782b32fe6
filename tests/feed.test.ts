/** The links of a feed, as a page of its own, as a page of another type, and named as a sitemap. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HREFS_PER_PAGE_MAX } from '../src/model/findings.ts';
import { SITEMAP_ENTRIES_MAX } from '../src/model/sitemap.ts';
import { parsePage } from '../src/parse/page.ts';
import { parseSitemap } from '../src/parse/sitemap.ts';
import { createChance } from './support/broken-pages.ts';
import { assertInProportion } from './support/in-proportion.ts';

const URL_OF_FEED = 'http://a.example/blog/feed';

const find = (body: string | Uint8Array, type: string, headers: Record<string, string> = {}) =>
  parsePage({
    url: URL_OF_FEED,
    headers: { 'content-type': type, ...headers },
    body: Buffer.from(body),
    textBytesMax: 16 * 1024 ** 2,
    productToken: 'gossamer',
  }).findings;

const hrefsIn = (body: string, type = 'application/xml'): readonly string[] => find(body, type).hrefs;

const listed = (body: string, headers: Record<string, string> = {}, whole = true) =>
  parseSitemap({ url: URL_OF_FEED, headers, body: Buffer.from(body), productToken: 'gossamer', whole }).findings;

const rss = (...items: readonly string[]): string =>
  `<?xml version="1.0"?><!-- a feed --><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>` +
  `<title>News</title><link>http://a.example/front</link><image><link>http://a.example/logo</link></image>` +
  `${items.map((item) => `<item>${item}</item>\n`).join('')}</channel></rss>`;

const atom = (...entries: readonly string[]): string =>
  `<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://a.example/front"/><link rel="self" href="/self"/>` +
  `${entries.map((entry) => `<entry>${entry}</entry>`).join('')}</feed>`;

const A = 'http://a.example/a';
const B = 'http://a.example/b?x=1&y=2';

test('the items of RSS give the addresses in their link and guid, each once', () => {
  const feed = rss(
    `<title>A</title><link>\n ${A} </link><guid>${A}</guid>`,
    `<link><![CDATA[${B}]]></link><guid isPermaLink="false">http://a.example/not-this</guid>`,
    `<guid isPermaLink="true">http://a.example/c</guid>`,
    `<guid>http://a.example/d</guid>`,
    `<guid>just-a-number-17</guid><guid isPermaLink='true'>tag:a.example,2026:1</guid>`,
    `<link>/relative?a=1&amp;b=2</link>`,
  );
  const links = [A, B, 'http://a.example/c', 'http://a.example/d', '/relative?a=1&b=2'];
  assert.deepEqual(hrefsIn(feed), links);
  assert.deepEqual(listed(feed).hrefs, links);
});

test('only what is directly in an item is its link', () => {
  const feed = rss(
    `<source url="http://b.example/feed"><link>http://b.example/</link></source><link>${A}</link>` +
      `<atom:link rel="self" href="/self"/><atom:link rel="replies" href="/replies"/><enclosure url="/film.mp4"/>` +
      '<description>&lt;a href="/no"&gt; <![CDATA[<item><link>http://a.example/no</link></item>]]></description>',
  );
  assert.deepEqual(hrefsIn(feed), [A]);
});

test('the entries of Atom give the address of their alternate link, under any prefix', () => {
  const feed = atom(
    `<link href="${A}"/>`,
    `<link rel="edit" href="/edit"/><link rel='alternate' type="text/html" href='/b?x=1&amp;y=2' title="a > b"></link>`,
    '<link rel="enclosure" href="/film"/><link rel="related" href="/related"/><id>http://a.example/id</id>',
    '<source><link href="/source"/></source><content type="xhtml"><div><link href="/no"/></div></content><link href="c"/>',
  );
  const links = [A, '/b?x=1&y=2', 'c'];
  assert.deepEqual(hrefsIn(feed), links);
  assert.deepEqual(hrefsIn(feed.replace(/<(\/?)(?=[a-z])/g, '<$1atom:')), links);
  assert.deepEqual(listed(feed).hrefs, links);
});

test('the address that an Atom feed gives as its base is the base of its links', () => {
  const feed = atom('<link href="a"/>').replace('<feed', '<feed xml:base="/news/"');
  for (const found of [find(feed, 'application/atom+xml'), listed(feed)])
    assert.deepEqual([found.hrefs, found.base], [['a'], 'http://a.example/news/']);
  assert.equal(find(atom(), 'application/atom+xml').base, URL_OF_FEED);
});

test('RSS 1.0 and 0.90, which are RDF, give the links of their items', () => {
  const feed = `<?xml version="1.0"?><rdf:RDF xmlns="http://purl.org/rss/1.0/"><channel rdf:about="/x"><link>/front</link>
    <items><rdf:Seq><rdf:li resource="/no"/></rdf:Seq></items></channel><item rdf:about="/no"><link>${A}</link></item>
    <textinput><link>/no</link></textinput></rdf:RDF>`;
  assert.deepEqual(hrefsIn(feed, 'application/rdf+xml'), [A]);
  assert.deepEqual(listed(feed).hrefs, [A]);
});

test('a feed is known by its type or, where that is a general one, by its root element', () => {
  const feed = rss(`<link>${A}</link>`);
  for (const type of ['application/rss+xml', 'text/xml', 'application/xml', 'text/html', 'text/plain', ''])
    assert.deepEqual(hrefsIn(feed, type), [A], type);
  const afterNoise = `Warning: deprecated\n${feed}`;
  assert.deepEqual(hrefsIn(afterNoise, 'Application/RSS+xml; charset=utf-8'), [A]);
  assert.deepEqual(hrefsIn(afterNoise, 'text/xml'), []);
  assert.deepEqual(hrefsIn(`<root>${feed}</root>`, 'application/xml'), []);
  assert.deepEqual(hrefsIn(`<svg><item><link>${A}</link></item></svg>`, 'image/svg+xml'), []);
  assert.deepEqual(hrefsIn(`<!doctype html><p><rss><item><link>${A}</link></item><a href=/b>`, 'text/html'), ['/b']);
  assert.deepEqual(find(Buffer.from(`\ufeff${feed}`, 'utf16le'), 'text/html').hrefs, [A]);
});

test('the text of a feed is what stands between its tags, whatever its type', () => {
  const feed = '<rss><item><title>A &amp; B</title><description><![CDATA[<b>Bold</b>]]></description></item></rss>';
  for (const type of ['application/rss+xml', 'text/html'])
    assert.equal(find(feed, type).text, 'A & B\n<b>Bold</b>', type);
});

test('a feed that says nofollow gives no links, and a Refresh field is a link of it', () => {
  const feed = rss(`<link>${A}</link>`);
  assert.deepEqual(find(feed, 'text/xml', { 'x-robots-tag': 'nofollow' }).hrefs, []);
  assert.deepEqual(find(feed, 'text/xml', { refresh: '1;url=/next' }).hrefs, ['/next', A]);
  assert.deepEqual(listed(feed, { 'x-robots-tag': 'nofollow' }).hrefs, []);
});

test('a broken feed gives what was read until there', () => {
  const feed = rss(`<link>${A}</link>`, `<link>${A}2</link>`);
  const cut = feed.slice(0, feed.indexOf(`${A}2`) + 10);
  assert.deepEqual(hrefsIn(cut), [A]);
  assert.deepEqual(listed(cut, {}, false).hrefs, [A]);
  assert.deepEqual(hrefsIn('<feed><entry><link href="/a"/></entry><entry><link href="/b'), ['/a']);
  const unclosed =
    '<rss><channel><item><title>x<br>y</title><link>/a</link><item><b><link>/no</link><item><link>/c</link>';
  assert.deepEqual(hrefsIn(unclosed).includes('/c'), true, 'the next item begins anew');
});

test('no more is taken of a feed than of another page, or of another sitemap', () => {
  const items = Array.from({ length: SITEMAP_ENTRIES_MAX + 10 }, (_, n) => `<link>http://a.example/${n}</link>`);
  const feed = rss(...items);
  assert.equal(hrefsIn(feed).length, HREFS_PER_PAGE_MAX);
  assert.equal(listed(feed).hrefs.length, SITEMAP_ENTRIES_MAX);
});

test('the first feed that a page names as its alternate is a link, and other alternates are none', () => {
  const page =
    '<link rel="alternate nofollow" type=application/rss+xml href=/no><link rel=alternate type="application/rss+xml" href=/rss><link rel="ALTERNATE home" type="Application/Atom+XML; x=y" href=/atom>' +
    '<link rel=alternate type=application/rdf+xml href=/rdf><link rel=alternate hreflang=de href=/de>' +
    '<link rel=alternate type=application/json href=/json><link type=application/rss+xml href=/no>' +
    '<link rel="alternate nofollow" type=application/rss+xml href=/no>';
  assert.deepEqual(hrefsIn(page, 'text/html'), ['/rss']);
});

/** 4 MiB: linear time is a tenth of a second or so, quadratic time minutes. */
const HOSTILE_BYTES = 4 * 1024 ** 2;

const HOSTILE: readonly (readonly [name: string, before: string, part: string])[] = [
  ['opened items', '<rss>', '<item>'],
  ['opened links', '<rss><item>', '<link>'],
  ['links that do not close', '<rss><item>', '<link>http://a.example/'],
  ['links with quotes that do not close', '<feed><entry>', '<link href="'],
  ['attributes in one link', '<feed><entry><link ', 'a=b '],
  ['comments before the root', '', '<!---->'],
  ['declarations before the root', '', '<!x>'],
  ['white space before the root', '', ' '],
  ['deep elements', '<rss><item>', '<x>'],
  ['less-than signs', '<rss><item>', '<'],
];

for (const [name, before, part] of HOSTILE) {
  test(`a feed of ${name} does not hang the parser`, () => {
    assertInProportion(name, HOSTILE_BYTES, (bytes) => {
      const text = before + part.repeat(bytes / part.length);
      find(text, 'application/rss+xml');
      listed(text);
    });
  });
}

test('nothing a server sends makes the parser throw', () => {
  const parts =
    '<rss> <feed> <item> </item> <entry> <link> </link> <link/> <link href="/a"/> <guid> <![CDATA[ ]]> <!-- -->'
      .split(' ')
      .concat(['<rdf:RDF xml:base="', '" ', '<', '>', '&', 'http://a.example/', '<link href=', ' isPermaLink=false>']);
  for (let seed = 0; seed < 2_000; seed += 1) {
    const chance = createChance(seed);
    const text = Array.from({ length: chance(60) }, () => parts[chance(parts.length)]).join('');
    find(text, ['application/rss+xml', 'text/html', 'text/xml'][chance(3)] ?? '');
    listed(text, {}, chance(2) === 0);
  }
});

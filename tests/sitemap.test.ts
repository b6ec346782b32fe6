/** What a sitemap lists, however it is written, packed, cut or meant. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Answered } from '../src/model/exchange.ts';
import { SITEMAP_ENTRIES_MAX, SITEMAP_TEXT_BYTES_MAX } from '../src/model/sitemap.ts';
import { listedIn, parseSitemap } from '../src/parse/sitemap.ts';
import { createPageWork } from '../src/threads/page-work.ts';
import { createChance } from './support/broken-pages.ts';
import { assertInProportion } from './support/in-proportion.ts';

const pagesIn = (text: string, whole = true): readonly string[] => listedIn(text, whole).pages;

const parse = (body: Uint8Array, headers: Record<string, string> = {}, whole = true) =>
  parseSitemap({ url: 'http://a.example/sitemap.xml', headers, body, productToken: 'gossamer', whole });

const urlset = (...locs: readonly string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${locs
    .map((loc) => `<url><loc>${loc}</loc><priority>0.5</priority></url>\n`)
    .join('')}</urlset>`;

const A = 'http://a.example/a';
const B = 'http://a.example/b';

test('the addresses of a sitemap are its pages, in their order', () => {
  assert.deepEqual(listedIn(urlset(A, B), true), { pages: [A, B], sitemaps: [] });
});

test('the addresses of an index are sitemaps', () => {
  const text = `<sitemapindex><sitemap><loc>${A}</loc></sitemap><sitemap><lastmod>2026-01-01</lastmod><loc>${B}</loc></sitemap></sitemapindex>`;
  assert.deepEqual(listedIn(text, true), { pages: [], sitemaps: [A, B] });
});

test('white space around an address, marked sections, references and comments are read as XML means them', () => {
  const text = urlset(
    `\n\t ${A} \n`,
    `<![CDATA[${A}?x=1&y=2&amp;]]>`,
    `${A}?x=1&amp;y=&#50;&#x32;`,
    `http://a.exa<!-- no -->mple/c`,
    ' <![CDATA[http://a.example/]]>d ',
  );
  assert.deepEqual(pagesIn(text), [
    A,
    `${A}?x=1&y=2&amp;`,
    `${A}?x=1&y=22`,
    'http://a.example/c',
    'http://a.example/d',
  ]);
});

test('a no-break space around an address is no part of it', () => {
  assert.deepEqual(pagesIn(urlset(`\u00a0${A}\u00a0`, `&#160;${B}`)), [A, B]);
});

test('an ampersand that somebody forgot to escape stays what it is', () => {
  assert.deepEqual(pagesIn(urlset(`${A}?x=1&copy=2&y`)), [`${A}?x=1&copy=2&y`]);
});

test('an address counts under any prefix of its own kind, and not under one of images or videos', () => {
  const text = `<s:urlset><s:url foo="bar"><s:loc>${A}</s:loc><image:image><image:loc>${B}</image:loc></image:image></s:url></s:urlset>`;
  assert.deepEqual(pagesIn(text), [A]);
  assert.deepEqual(
    pagesIn(`<urlset><url><image:image><image:loc>${B}</image:loc></image:image><loc>${A}</loc></url></urlset>`),
    [A],
  );
});

test('what stands in a comment, a marked section or no entry at all is not listed', () => {
  const text =
    `<urlset><!-- > <url><loc>${B}</loc></url> --><![CDATA[ > <url><loc>${B}</loc></url>]]><loc>${B}</loc><url></url><loc>${B}</loc>` +
    `<url><loc/>${B}</url><url><loc></loc><loc>${A}</loc></url></urlset>`;
  assert.deepEqual(pagesIn(text), [A]);
});

test('a declared entity is not unfolded', () => {
  const text = `<!DOCTYPE urlset [<!ENTITY a "http://b.example/"><!ENTITY b "&a;&a;&a;">]><urlset><url><loc>${A}?&b;</loc></url></urlset>`;
  assert.deepEqual(pagesIn(text), [`${A}?&b;`]);
});

test('a page of HTML that stands where a sitemap should be lists nothing', () => {
  assert.deepEqual(listedIn(`<!doctype html><title>Not found</title><p>See <a href="${A}">url</a>\n${B}`, true), {
    pages: [],
    sitemaps: [],
  });
});

test('a plain text lists an address on each line, and words are none', () => {
  assert.deepEqual(pagesIn(`${A}\r\n\n  ${B}  \rnot an address\nmailto:x@a.example\nHTTPS://a.example/c`), [
    A,
    B,
    'HTTPS://a.example/c',
  ]);
});

test('of a text that was cut the last line is left, because half an address is another one', () => {
  assert.deepEqual(pagesIn(`${A}\n${B}`, false), [A]);
  assert.deepEqual(pagesIn(`${A}\n${B}\n`, false), [A, B]);
  assert.deepEqual(pagesIn(`<urlset><url><loc>${A}</loc></url><url><loc>${B}`, false), [A]);
  assert.deepEqual(pagesIn(`<urlset><url><loc>${A}</loc></url><url><loc><![CDATA[${B}`, false), [A]);
});

test('an address that no crawl would take is left, also when its references would make it short', () => {
  assert.deepEqual(pagesIn(urlset(`${A}?${'x'.repeat(9_000)}`, `${A}?${'&amp;'.repeat(3_000)}`, B)), [B]);
  assert.deepEqual(pagesIn(`${A}?${'x'.repeat(9_000)}\n${B}`), [B]);
});

test('no more is taken than the protocol allows', () => {
  const locs = Array.from({ length: SITEMAP_ENTRIES_MAX + 10 }, (_, n) => `http://a.example/${n}`);
  for (const text of [urlset(...locs), locs.join('\n')]) {
    const pages = pagesIn(text);
    assert.equal(pages.length, SITEMAP_ENTRIES_MAX);
    assert.equal(pages.at(-1), `http://a.example/${SITEMAP_ENTRIES_MAX - 1}`);
  }
});

test('a sitemap is read in the encoding it is in', () => {
  assert.deepEqual(parse(Buffer.from(`\ufeff${urlset('http://a.example/é')}`)).findings.hrefs, ['http://a.example/é']);
  assert.deepEqual(parse(Buffer.from(`\ufeff${urlset('http://a.example/é')}`, 'utf16le')).findings.hrefs, [
    'http://a.example/é',
  ]);
  const latin = urlset('http://a.example/é').replace('UTF-8', 'ISO-8859-1');
  assert.deepEqual(parse(Buffer.from(latin, 'latin1')).findings.hrefs, ['http://a.example/é']);
});

test('a packed file is known by its first bytes, with or without a content-encoding on top', () => {
  const packed = gzipSync(urlset(A));
  for (const headers of [
    {},
    { 'content-type': 'application/x-gzip' },
    { 'content-type': 'text/xml', 'content-encoding': 'gzip' },
  ]) {
    assert.deepEqual(parse(packed, headers).findings.hrefs, [A]);
  }
  assert.deepEqual(parse(gzipSync(packed), { 'content-encoding': 'gzip' }).findings.hrefs, [A]);
});

test('a packed file that was cut gives what it had', () => {
  const locs = Array.from({ length: 2_000 }, (_, n) => `http://a.example/${(n * 7_919) % 104_729}/${n}`);
  const packed = gzipSync(urlset(...locs));
  const { hrefs } = parse(packed.subarray(0, packed.length >> 1), {}, false).findings;
  assert.ok(hrefs.length > 500 && hrefs.length < 2_000, String(hrefs.length));
  assert.deepEqual(hrefs, locs.slice(0, hrefs.length));
});

test('a bomb is read up to the ceiling and no further', () => {
  const bomb = gzipSync(
    Buffer.concat([
      Buffer.from(`<urlset><url><loc>${A}</loc></url>`),
      Buffer.alloc(SITEMAP_TEXT_BYTES_MAX + 30 * 1024 ** 2, ' '),
    ]),
  );
  const { findings, cut } = parse(bomb);
  assert.deepEqual([findings.hrefs, cut], [[A], true]);
});

test('a sitemap that says nofollow is not followed, and its text is not kept', () => {
  const { findings } = parse(Buffer.from(urlset(A)), { 'x-robots-tag': 'noindex, nofollow' });
  assert.deepEqual([findings.hrefs, findings.sitemaps, findings.noindex], [[], [], true]);
  assert.deepEqual(
    [parse(Buffer.from(urlset(A)), { 'x-robots-tag': 'noindex' }).findings.hrefs, findings.text],
    [[A], ''],
  );
});

test('of a sitemap that was cut on its way the last line is left', () => {
  const work = createPageWork({
    settings: { keep: 'text', bodyBytesMax: 1_000 },
    productToken: 'gossamer',
    now: () => 0,
  });
  const answer: Answered = {
    kind: 'answered',
    url: 'http://a.example/s.txt',
    startedAt: 0,
    answeredAt: 0,
    endedAt: 0,
    address: '192.0.2.1',
    requestHead: '',
    head: '',
    status: 200,
    headers: { 'content-type': 'text/plain' },
    body: new Uint8Array(Buffer.from(`${A}\n${B}`)),
    truncated: 'length',
  };
  const findingsOf = (page: Answered, sitemap: boolean) =>
    work({ lease: 1, robots: [], page, read: true, sitemap }).findings;
  assert.deepEqual(findingsOf(answer, true)?.hrefs, [A]);
  assert.deepEqual(findingsOf({ ...answer, truncated: null }, true)?.hrefs, [A, B]);
  assert.deepEqual(findingsOf({ ...answer, truncated: null }, false)?.hrefs, []);
});

/** 4 MiB: linear time is a tenth of a second or so, quadratic time minutes. */
const HOSTILE_BYTES = 4 * 1024 ** 2;

const HOSTILE: readonly (readonly [name: string, before: string, part: string])[] = [
  ['less-than signs', '<', '<'],
  ['opened entries', '', '<url>'],
  ['opened addresses', '<url>', '<loc>'],
  ['addresses that do not close', '<url>', '<loc>http://a.example/'],
  ['opened comments', '', '<!--'],
  ['comments in an address', '<url><loc>', '<!---->'],
  ['comments that almost end', '<!--', '--!-'],
  ['opened marked sections', '<url><loc>', '<![CDATA['],
  ['marked sections in an address', '<url><loc>', '<![CDATA[x]]>'],
  ['marked sections that almost end', '<![CDATA[', ']]'],
  ['ampersands in an address', '<url><loc>', '&'],
  ['a number without end', '<url><loc>&#', '0'],
  ['one long tag', '<url ', 'x '],
  ['one long name', '<', 'x'],
  ['declarations', '', '<!x>'],
  ['white space', '', ' '],
  ['line breaks', 'x', '\r\n'],
  ['one long line', 'http://a.example/', 'x'],
];

for (const [name, before, part] of HOSTILE) {
  test(`a sitemap of ${name} does not hang the parser`, () => {
    assertInProportion(name, HOSTILE_BYTES, (bytes) => {
      listedIn(before + part.repeat(bytes / part.length), true);
    });
  });
}

test('nothing a server sends makes the parser throw', () => {
  const parts = [
    '<url>',
    '<loc>',
    '</loc>',
    '<![CDATA[',
    ']]>',
    '<!--',
    '-->',
    '&',
    '<',
    '>',
    '\x1f\x8b\x08',
    'http://',
    '\ufeff',
    '</sm:url>',
    '<sm:loc',
    '\n',
  ];
  for (let seed = 0; seed < 2_000; seed += 1) {
    const chance = createChance(seed);
    const text = Array.from({ length: chance(60) }, () => parts[chance(parts.length)]).join('');
    const body = chance(3) === 0 ? new Uint8Array(chance(400)).map(() => chance(256)) : Buffer.from(text);
    parse(
      chance(2) === 0 ? body : gzipSync(body).subarray(0, chance(200)),
      { 'content-encoding': ['', 'gzip', 'br'][chance(3)] ?? '' },
      chance(2) === 0,
    );
  }
});

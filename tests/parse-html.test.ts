/** Our scanner against parse5's tree: the same links, title, base and language, on good pages and on broken ones. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { HREFS_PER_PAGE_MAX } from '../src/model/findings.ts';
import { decodeBytes } from '../src/parse/charset.ts';
import { PACKED_ENTITIES } from '../src/parse/html/entities.ts';
import { scanHtml } from '../src/parse/html/scan.ts';
import { createChance, piecedPage, woundedPage } from './support/broken-pages.ts';
import { mayDiffer, oracleFindings } from './support/oracle.ts';

const FOLDER = join(import.meta.dirname, 'fixtures', 'pages');
const PIECED_PAGES = 6_000;
const WOUNDS_PER_FIXTURE = 120;

const scan = (page: string) => scanHtml(page, { productToken: 'gossamer', xhtml: false, text: true });
/** The same for a crawl that keeps no text. */
const scanLinks = (page: string) => scanHtml(page, { productToken: 'gossamer', xhtml: false, text: false });

const fixtures = readdirSync(FOLDER)
  .sort()
  .map((name) => ({
    name,
    page: decodeBytes({ bytes: readFileSync(join(FOLDER, name)), contentType: '', html: true }).text,
  }));

/** What both say, in a form that can be compared; links as a set, because a tree moves some. */
const inWords = ({ title, base, canonical, language, hrefs }: ReturnType<typeof oracleFindings>): string =>
  JSON.stringify({ title, base, canonical, language, hrefs: [...hrefs].sort() }, null, 1);

const differs = (page: string): boolean => inWords(scan(page)) !== inWords(oracleFindings(page));

for (const { name, page } of fixtures) {
  test(`${name} gives the links, title, base and language that a browser's tree has`, () => {
    assert.equal(inWords(scan(page)), inWords(oracleFindings(page)));
  });
}

test('thousands of pages of random markup give what their trees have', () => {
  let allowed = 0;
  for (let seed = 0; seed < PIECED_PAGES; seed += 1) {
    const page = piecedPage(createChance(seed), seed % 3 === 0 ? 0 : 12);
    if (!differs(page)) continue;
    if (!mayDiffer(page)) {
      assert.equal(inWords(scan(page)), inWords(oracleFindings(page)), `seed ${seed}: ${JSON.stringify(page)}`);
    }
    allowed += 1;
  }
  assert.ok(allowed <= PIECED_PAGES / 500, `${allowed} pages differ in the ways that are known`);
});

test('good pages that were cut, doubled, shuffled and bitten give what their trees have', () => {
  let allowed = 0;
  for (const { name, page } of fixtures) {
    for (let seed = 0; seed < WOUNDS_PER_FIXTURE; seed += 1) {
      const wounded = woundedPage(createChance(seed), page);
      if (!differs(wounded)) continue;
      if (!mayDiffer(wounded)) {
        assert.equal(inWords(scan(wounded)), inWords(oracleFindings(wounded)), `${name}, seed ${seed}`);
      }
      allowed += 1;
    }
  }
  assert.ok(
    allowed <= (fixtures.length * WOUNDS_PER_FIXTURE) / 200,
    `${allowed} pages differ in the ways that are known`,
  );
});

const FOREIGN = [
  '<div><svg><g></div><title>T</title>',
  '<svg><![CDATA[ > <a href=/no> ]]><a href=/yes></svg>',
  '<![CDATA[ > <a href=/yes> ]]>',
  '<math><annotation-xml><svg><desc><style><a href=/no></style>',
  '<math><annotation-xml><title><a href=/yes></title>',
  '<math><annotation-xml encoding=text/html><title><a href=/no></title>',
  '<svg><style><a href=/yes></style>',
  '<svg><p><style><a href=/no></style>',
  '<svg><font><style><a href=/yes></style>',
  '<svg><font size=1><style><a href=/no></style>',
  '<svg><desc><style><a href=/no></style></desc><style><a href=/yes></style>',
  '<svg></p><style><a href=/no></style>',
  '<math><mi><style><a href=/no></style><mglyph><style><a href=/yes>',
  '<template><svg><template></template><a href=/no>',
  '<svg><title><title>T</title><a href=/yes></title><title><a href=/too></title>',
  '<form><svg></form><base href=/no>',
  '<svg><link rel=next href=/no><area href=/no><base href=/no><a href=/yes xlink:href=/no>',
  '<svg/><style><a href=/no></style>',
];

for (const page of FOREIGN) {
  test(`svg and math are read as a tree reads them: ${page}`, () => {
    assert.equal(inWords(scan(page)), inWords(oracleFindings(page)));
  });
}

test('every named character reference is decoded as a tree decodes it, in text and in attributes', () => {
  const names = PACKED_ENTITIES.trim()
    .split(/\s/)
    .map((entry) => entry.replace(/[=!].*/, ''));
  assert.equal(names.length, 2_125);
  for (const name of names) {
    const page = `<title>[&${name};|&${name}|&${name}x|&${name}=]</title><a href="/&${name};|&${name}|&${name}x|&${name}=1">`;
    assert.equal(inWords(scan(page)), inWords(oracleFindings(page)), name);
  }
});

test('numeric character references follow the standard, the forbidden ones too', () => {
  const numbers = [
    0, 9, 10, 13, 65, 127, 128, 130, 150, 159, 160, 0x20ac, 0xd800, 0xdfff, 0xffff, 0x10ffff, 0x110000, 1e15,
  ];
  for (const number of numbers) {
    const page = `<a href="/&#${number};|&#${number}|&#x${number.toString(16)};|&#X${number.toString(16)}g|&#|&#x|&#;">`;
    assert.equal(inWords(scan(page)), inWords(oracleFindings(page)), String(number));
  }
});

test('links stand in the order of the page, each once', () => {
  assert.deepEqual(scan('<a href=b><a href=a><table><a href=c></table><a href=b>').hrefs, ['b', 'a', 'c']);
});

test('links that lead nowhere are left out, whatever their case', () => {
  const page =
    '<a href="JavaScript:x()"><a href="\x01java\nscript:y"><a href=MAILTO:a@b.example><a href=tel:1><a href="data:,x"><a href="#top"><a href=" ">';
  assert.deepEqual(scan(page).hrefs, []);
  assert.deepEqual(scan('<a href=telephone><a href=data/x><a href="java script:x">').hrefs, [
    'telephone',
    'data/x',
    'java script:x',
  ]);
});

test('a page gives no more links than the ceiling', () => {
  let page = '';
  for (let i = 0; i < HREFS_PER_PAGE_MAX + 10; i += 1) page += `<a href=${i}>`;
  const { hrefs } = scan(page);
  assert.equal(hrefs.length, HREFS_PER_PAGE_MAX);
  assert.equal(hrefs.at(-1), String(HREFS_PER_PAGE_MAX - 1));
});

test('links to places in one page are one link, as first written: an index of many places loses no pages', () => {
  assert.deepEqual(scan('<a href="b#1"><a href=a><a href=b><a href="b#2"><a href="b #3"><a href="b?#4">').hrefs, [
    'b#1',
    'a',
    'b #3', // its path ends with a space
    'b?#4',
  ]);
  let index = '';
  for (let i = 0; i < HREFS_PER_PAGE_MAX + 10; i += 1) index += `<a href="first#${i}">`;
  assert.deepEqual(scan(`${index}<a href=last>`).hrefs, ['first#0', 'last']);
  assert.deepEqual(oracleFindings(`${index}<a href=last>`).hrefs, ['first#0', 'last']);
  // A frameset replaces what stood before it: the page may then be found again.
  assert.deepEqual(scan('<a href="b#1"></a><frameset><frame src="b#2">').hrefs, ['b#2']);
});

test('a title is cut at its ceiling', () => {
  assert.equal(scan(`<title>${'long '.repeat(1_000)}</title>`).title.length, 1_000);
});

test('in XHTML an empty script ends at once and CDATA is text', () => {
  const page = '<html><script src="x"/><p>a <![CDATA[<b> & c]]></p><a href="d"/><title/><a href="e"/></html>';
  const { hrefs, text } = scanHtml(page, { productToken: 'gossamer', xhtml: true, text: true });
  assert.deepEqual(hrefs, ['d', 'e']);
  assert.equal(text, 'a <b> & c');
});

/** What may stand before a frameset, and whether it then still replaces the body. */
const BEFORE_FRAMESET = [
  '\0',
  ' \0 ',
  '\0\0\n',
  'x\0',
  '\0x',
  '&#0;',
  '&#32;',
  '&#x20;\0&Tab;',
  '&#32x',
  '&amp;',
  '\u00a0',
  '&nbsp;',
  '\ufeff',
  '\u2003',
  '\v',
  '<b>\0</b>',
  '<svg>\0</svg>',
  '<svg> </svg>',
  '<svg>x</svg>',
  '<p hidden>\0</p>',
  '<div hidden>&#32;</div>',
];

test('a NUL and white space do not keep a frameset from replacing the body; all other characters do', () => {
  for (const text of BEFORE_FRAMESET) {
    for (const start of ['', '<html>', '<head><title>t</title></head>', '<html><body>']) {
      const page = `${start}${text}<a href=/body></a><frameset><frame src=/frame></frameset>`;
      for (const read of [scan, scanLinks])
        assert.equal(inWords(read(page)), inWords(oracleFindings(page)), JSON.stringify(page));
    }
  }
});

test('a NUL begins the body: what follows it is what a frameset replaces', () => {
  for (const page of [
    '<title>t</title>\0<link rel=next href=/n><frameset><frame src=/frame>',
    ' \0<base href=/b><title>t</title><frameset><frame src=/frame>',
  ])
    for (const read of [scan, scanLinks])
      assert.equal(inWords(read(page)), inWords(oracleFindings(page)), JSON.stringify(page));
});

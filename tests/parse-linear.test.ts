/** A hostile page costs time in proportion to its size, and nothing makes the parser throw. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAttributes } from '../src/parse/html/attributes.ts';
import { closeForeign, createForeign, openForeign } from '../src/parse/html/foreign.ts';
import { tagNamed } from '../src/parse/html/tags.ts';
import { parsePage } from '../src/parse/page.ts';
import { createChance } from './support/broken-pages.ts';
import { assertInProportion } from './support/in-proportion.ts';

/** As large as a body may be by default: in linear time some tenths of a second. */
const PAGE_BYTES = 2 * 1024 * 1024;

const parse = (body: Uint8Array, headers: Record<string, string> = { 'content-type': 'text/html' }) =>
  parsePage({ url: 'http://example.org/', headers, body, textBytesMax: 2 * PAGE_BYTES, productToken: 'gossamer' });

/** `[name, beginning, repeated part]` */
const HOSTILE: readonly (readonly [name: string, before: string, part: string])[] = [
  ['opened divs', '', '<div>'],
  ['opened and wrongly closed tags', '', '<b><i></b></p><p>'],
  ['less-than signs', '', '<'],
  ['ends of nothing', '', '</'],
  ['opened comments', '', '<!--'],
  ['comments that almost end', '<!--', '--!-'],
  ['dashes in a comment', '<!--', '-'],
  ['ampersands', '', '&'],
  ['names that are no references', '', '&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'],
  ['a number without end', '&#', '0'],
  ['quotes that do not close', '', '<a href="'],
  ['single quotes that do not close', "<p title='", '<a href=x>'],
  ['titles that do not close', '', '<title>'],
  ['a title full of ends of others', '<title>', '</titl'],
  ['scripts that do not close', '', '<script>'],
  ['a script that escapes again and again', '<script>', '<!--<script></script>-->'],
  ['a script of less-than signs', '<script><!--', '</'],
  ['attributes in one tag', '<a ', 'b=c '],
  ['attributes of one name', '<a ', 'href=x '],
  ['slashes in one tag', '<a ', '/'],
  ['equals signs in one tag', '<a ', '='],
  ['deep svg', '<svg>', '<g>'],
  ['deep svg with ends that match nothing', '<svg>', '<g></x>'],
  ['deep html in svg', '<svg><foreignObject>', '<div><svg><desc></nav>'],
  ['end tags in deep svg', `<svg>${'<g>'.repeat(300)}`, '</x>'],
  ['marked sections', '<svg>', '<![CDATA['],
  ['templates', '', '<template>'],
  ['tables in tables', '', '<table><tr><td>'],
  ['links in links', '', '<a href=x>'],
  ['hidden in hidden', '', '<div hidden>'],
  ['white space', '<pre>', ' \n'],
  ['spaces in preformatted text', '<pre>', ' '],
  ['line breaks', '', '<br>'],
  ['a long word', '', 'x'],
  ['control characters', '', '\x01'],
  ['framesets', '', '<frameset>'],
  ['frames', '<frameset>', '<frame src=x>'],
  ['noframes that do not close', '', '<noframes>'],
  ['noframes that close', '', '<noframes><a href=x></noframes>'],
  ['spaces in a refresh', '<meta http-equiv=refresh content="3', ' '],
  ['one long tag name', '<', 'x'],
  ['meta elements that declare nothing', ' '.repeat(1_024), '<meta charset='],
  ['meta elements without end', '', '<meta '],
];

for (const [name, before, part] of HOSTILE) {
  test(`a page of ${name} does not hang the parser`, () => {
    assertInProportion(name, PAGE_BYTES, (bytes) => {
      parse(Buffer.from(before + part.repeat(bytes / part.length)));
    });
  });
}

/** Open elements in svg, and an end tag that ends none of them. */
const ENDS_OF_NOTHING: readonly (readonly [what: string, open: readonly string[], end: string, outside: boolean])[] = [
  ['no element has its name', ['svg', ...many('g')], 'x', false],
  ['its element is behind HTML', ['svg', 'y', 'foreignobject', 'div', 'svg', ...many('g')], 'y', false],
  ['its element is outside, behind a foreignObject', ['svg', 'foreignobject', 'svg', ...many('g')], 'div', true],
  ['its element is behind a special one', ['svg', 'foreignobject', 'q', 'div', ...many('b')], 'q', false],
  ['it is that of a template', ['svg', 'foreignobject', ...many('i')], 'template', false],
];

function many(name: string): string[] {
  return Array.from({ length: 240 }, () => name);
}

for (const [what, names, end, outside] of ENDS_OF_NOTHING) {
  test(`an end tag that ends nothing looks at few of the open elements of svg: ${what}`, () => {
    let looks = 0;
    const open = new Proxy([], {
      get: (list, key, self) => {
        if (typeof key === 'string' && /^\d+$/.test(key)) looks += 1;
        return Reflect.get(list, key, self);
      },
    });
    const foreign = createForeign(open);
    for (const name of names) openForeign(foreign, tagNamed(name), createAttributes(''));
    looks = 0;
    for (let i = 0; i < 100; i += 1) closeForeign(foreign, tagNamed(end), outside);
    assert.equal(foreign.open.length, names.length);
    assert.ok(looks <= 500, `${looks} looks for 100 end tags`);
  });
}

test('nothing a server sends makes the parser throw', () => {
  const types = [
    '',
    'text/html',
    'text/html; charset=utf-16',
    'text/plain; charset=nonsense',
    'application/xml',
    'image/png',
    ';;;',
    'application/xhtml+xml',
    'text/html; charset="',
  ];
  const encodings = ['', 'gzip', 'deflate', 'br', 'gzip, br', 'zstd', 'gzip,gzip,gzip,gzip,gzip', ',', 'identity'];
  for (let seed = 0; seed < 2_000; seed += 1) {
    const chance = createChance(seed);
    const body = new Uint8Array(chance(400)).map(() => chance(256));
    const headers = {
      'content-type': types[chance(types.length)] ?? '',
      'content-encoding': encodings[chance(encodings.length)] ?? '',
      'x-robots-tag': body.length % 2 === 0 ? ':,:, ,a:b:c' : '',
    };
    const { findings } = parsePage({
      url: seed % 2 === 0 ? 'not a url' : 'http://a.example/',
      headers,
      body,
      textBytesMax: 300,
      productToken: '',
    });
    assert.ok(findings.text.length <= 300);
  }
});

/** A hostile page costs time in proportion to its size, and nothing makes the parser throw. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
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

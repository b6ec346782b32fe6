/** Curios in bodies: charsets, encodings, lengths and types. */

import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Curio, Place } from './curio.ts';
import { curio, curioPage, pageWithLeaves } from './curio.ts';
import { htmlText } from './page.ts';
import type { Sheet } from './sheet.ts';
import { anchor, escapeHtml, sheetOf, textSheet } from './sheet.ts';

/** The titles that a right decoder reads from the charset curios. */
export const CHARSET_TITLES: Readonly<Record<string, string>> = {
  'windows-1251': 'Тихая река',
  'shift-jis': '日本の表テスト',
  'utf-16': 'Łódź, naïve café ✓',
  'meta-charset': 'Смородина',
  'bom-wins': 'Größe ✓',
  'joined-charset': 'Яблоня',
};

/** What a reader sees of the curio `hidden-unended`, and what not. */
export const HIDDEN_TEXT = { seen: ['plain-apple', 'plain-pear', 'plain-plum'], unseen: 'secret-quince' };

const HIDDEN_PAGE =
  `<title>Hidden</title><ul><li hidden>${HIDDEN_TEXT.unseen}<li>${HIDDEN_TEXT.seen[0]}</ul>` +
  `<table><tr hidden><td>${HIDDEN_TEXT.unseen}<tr><td>${HIDDEN_TEXT.seen[1]}</table>` +
  `<div><video>${HIDDEN_TEXT.unseen}</div><p>${HIDDEN_TEXT.seen[2]}`;

const page = (place: Place, title: string, declared: string): string =>
  htmlText({ key: 1, title, site: place.site.name, bytes: 0, links: [anchor(`${place.home}/leaf`, 'leaf')] }).replace(
    '<meta charset="utf-8">',
    declared,
  );

const cyrillic = (text: string): Buffer =>
  Buffer.from(
    [...text].map((c) => {
      const code = c.codePointAt(0) as number;
      return code >= 0x410 && code <= 0x44f ? code - 0x410 + 0xc0 : code;
    }),
  );

/** The title in Shift_JIS; its fourth character ends with the byte of a backslash. */
const SHIFT_JIS_TITLE = Buffer.from('93fa967b82cc955c836583588367', 'hex');

const shiftJis = (place: Place): Buffer =>
  Buffer.concat(
    page(place, '@TITLE@', '<meta charset="shift_jis">')
      .split('@TITLE@')
      .flatMap((part, n) => (n === 0 ? [Buffer.from(part)] : [SHIFT_JIS_TITLE, Buffer.from(part)])),
  );

interface Encoded {
  readonly type: string;
  /** The server names the type in two header fields. */
  readonly twice?: true;
  readonly about: string;
  readonly bytes: (place: Place, title: string) => Uint8Array;
}

const charset = (name: string, { type, twice, about, bytes }: Encoded): Curio =>
  curio(name, about, (place, rest) => {
    const leaf = `${place.home}/leaf`;
    if (rest === '/leaf') return curioPage(place, `A leaf: ${about}`);
    if (rest !== '') return null;
    return sheetOf({
      headers: { 'content-type': type, ...(twice ? { 'Content-Type': type } : {}) },
      links: [anchor(leaf, 'leaf')],
      body: () => bytes(place, CHARSET_TITLES[name] as string),
    });
  });

/** A page through a compressor, with a leaf that is linked only inside. */
const compressed = (name: string, about: string, squeeze: (bytes: Uint8Array) => Uint8Array): Curio => {
  const plain = pageWithLeaves(name, about, (_, leaf) => ({ links: [anchor(leaf, 'leaf')] }));
  const encoding = name === 'brotli' ? 'br' : name;
  return curio(name, about, (place, rest) => {
    const sheet = plain.sheet(place, rest);
    if (!sheet || rest !== '') return sheet;
    return { ...sheet, headers: { ...sheet.headers, 'content-encoding': encoding }, body: () => squeeze(sheet.body()) };
  });
};

/** Inflates past the usual ceiling of 2 MiB, and stays small to serve. */
const BOMB_BYTES = 16 * 1024 * 1024;
let bombMade: Uint8Array | null = null;
const bomb = (): Uint8Array =>
  (bombMade ??= gzipSync(
    Buffer.concat([Buffer.from('<!doctype html><title>A bomb</title><p>'), Buffer.alloc(BOMB_BYTES, 'boom ')]),
  ));

const PNG = Buffer.from(
  '89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082',
  'hex',
);
const PDF = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n');

const only =
  (sheet: (place: Place) => Sheet): Curio['sheet'] =>
  (place, rest) =>
    rest === '' ? sheet(place) : null;

export const BODY_CURIOS: readonly Curio[] = [
  charset('windows-1251', {
    type: 'text/html; charset=windows-1251',
    about: 'windows-1251, said in the header',
    bytes: (place, title) => cyrillic(page(place, title, '')),
  }),
  charset('shift-jis', { type: 'text/html', about: 'Shift_JIS, said in a meta element', bytes: shiftJis }),
  charset('utf-16', {
    type: 'text/html',
    about: 'UTF-16, said by a byte order mark',
    bytes: (place, title) => Buffer.from(`\ufeff${page(place, title, '')}`, 'utf16le'),
  }),
  charset('meta-charset', {
    type: 'text/html',
    about: 'a charset in an http-equiv meta element only',
    bytes: (place, title) =>
      cyrillic(page(place, title, '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">')),
  }),
  charset('bom-wins', {
    type: 'text/html; charset=iso-8859-1',
    about: 'a header that says latin1 and a byte order mark that says UTF-8',
    bytes: (place, title) => Buffer.from(`\ufeff${page(place, title, '')}`, 'utf8'),
  }),
  charset('joined-charset', {
    type: 'text/html; charset=windows-1251',
    twice: true,
    about: 'windows-1251, said in two header fields',
    bytes: (place, title) => cyrillic(page(place, title, '')),
  }),
  compressed('gzip', 'a body in gzip', gzipSync),
  compressed('deflate', 'a body in deflate', deflateSync),
  compressed('brotli', 'a body in brotli', brotliCompressSync),
  curio(
    'gzip-bomb',
    'a few KB of gzip that inflate to 16 MiB',
    only(() => sheetOf({ headers: { 'content-type': 'text/html', 'content-encoding': 'gzip' }, body: bomb })),
  ),
  curio(
    'endless',
    'a body that never ends',
    only((place) => ({ ...curioPage(place, 'Without end'), delivery: 'endless' })),
  ),
  curio('chunked', 'a body in chunks of odd sizes, with a leaf linked only inside', (place, rest) => {
    if (rest === '/leaf') return curioPage(place, 'A leaf of chunks');
    if (rest !== '') return null;
    return { ...curioPage(place, 'In chunks', { links: [anchor(`${place.home}/leaf`, 'leaf')] }), delivery: 'chunked' };
  }),
  curio(
    'empty',
    'a page without a byte',
    only(() => textSheet('text/html', () => new Uint8Array(0))),
  ),
  curio(
    'hidden-unended',
    'hidden elements that have no end tag',
    only(() => textSheet('text/html', () => Buffer.from(HIDDEN_PAGE))),
  ),
  curio(
    'plain-text',
    'plain text',
    only((place) => textSheet('text/plain; charset=utf-8', () => place.prose.blocks[0] as Buffer)),
  ),
  curio(
    'octets',
    'text that calls itself octets',
    only((place) => textSheet('application/octet-stream', () => place.prose.blocks[1] as Buffer)),
  ),
  curio(
    'image-as-html',
    'an image that calls itself HTML',
    only(() => textSheet('text/html', () => PNG)),
  ),
  curio(
    'image-unnamed',
    'an image whose address does not tell',
    only(() => textSheet('image/png', () => PNG)),
  ),
  curio(
    'pdf-unnamed',
    'a PDF whose address does not tell',
    only(() => textSheet('application/pdf', () => PDF)),
  ),
  curio('odd-markup', 'unclosed tags, stray quotes and a null byte, with a leaf', (place, rest) => {
    if (rest === '/leaf') return curioPage(place, 'A leaf after odd markup');
    if (rest !== '') return null;
    const leaf = anchor(`${place.home}/leaf`, 'leaf');
    return sheetOf({
      headers: { 'content-type': 'text/html' },
      links: [leaf],
      body: () =>
        Buffer.from(`<title>Odd ${escapeHtml('<markup>')}</title><p <b a"b=c>x\0y<div></p></i>${leaf.markup}<table><a`),
    });
  }),
];

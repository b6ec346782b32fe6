/** In which encoding a page is read, and that its text is what the Encoding Standard says. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { decodeBytes } from '../src/parse/charset.ts';
import { decoderOf } from '../src/parse/encodings/labels.ts';
import { parsePage } from '../src/parse/page.ts';

const find = (body: string | Uint8Array, headers: Record<string, string>) =>
  parsePage({
    url: 'http://example.org/dir/page',
    headers,
    body: Buffer.from(body),
    textBytesMax: 1024 * 1024,
    productToken: 'gossamer',
  }).findings;
const fixture = (name: string): Buffer => readFileSync(join(import.meta.dirname, 'fixtures', 'pages', name));

const titles: readonly (readonly [string, string, string])[] = [
  ['windows-1251.html', 'windows-1251', 'Новости дня'],
  ['shift_jis.html', 'shift_jis', '東京の天気'],
  ['gbk.html', 'gbk', '天气预报'],
  ['euc-kr.html', 'euc-kr', '날씨'],
  ['utf-16le.html', 'utf-16le', 'Größe'],
  ['unlabelled-latin1.html', 'windows-1252', 'Été à la plage'],
  ['unlabelled-utf8.html', 'utf-8', 'Καιρός'],
  ['iso-8859-2.xhtml', 'iso-8859-2', 'Počasí'],
  ['big5.html', 'big5', '天氣'],
];

for (const [name, charset, title] of titles) {
  test(`${name} is read as ${charset}`, () => {
    const found = find(fixture(name), { 'content-type': 'text/html' });
    assert.deepEqual([found.charset, found.title], [charset, title]);
  });
}

/** The Encoding Standard gives each index an identifier: the SHA-256 of its list, as Python prints it. */
const identifierOf = (index: readonly (number | null)[]): string =>
  createHash('sha256')
    .update(`[${index.map((codePoint) => codePoint ?? 'None').join(', ')}]`)
    .digest('hex');

const decoded = (charset: string, ...bytes: number[]): string =>
  decodeBytes({ bytes: Uint8Array.from(bytes), contentType: `text/plain; charset=${charset}`, html: false }).text;

/** The code point of every pair, as many trail bytes to a lead byte as given; null where it means not one character. */
const indexOf = (charset: string, trails: readonly number[]): (number | null)[] =>
  Array.from({ length: 126 * trails.length }, (_, pointer) => {
    const lead = 0x81 + Math.floor(pointer / trails.length);
    const text = decoded(charset, lead, trails[pointer % trails.length]!);
    return text.startsWith('\ufffd') || Array.from(text).length > 1 ? null : text.codePointAt(0)!;
  });

const between = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, n) => first + n);

test('euc-kr has every character of its index in the Encoding Standard, and no other', () => {
  assert.equal(
    identifierOf(indexOf('euc-kr', between(0x41, 0xfe))),
    '1d97134cbf187263585bc8f593ca4196654ed4c7a673f5672eaad4f5d9fdc4ba',
  );
  assert.equal(decoded('windows-949', 0x81, 0x41, 0xc6, 0x52), '갂힣');
});

test('big5 has every character of its index in the Encoding Standard, and no other', () => {
  assert.equal(
    identifierOf(indexOf('big5', [...between(0x40, 0x7e), ...between(0xa1, 0xfe)])),
    '8dfc771062e7be0810919082c2c06baa2236147909e0ecc235b1cb9ad782ac82',
  );
  assert.equal(decoded('big5-hkscs', 0x88, 0x62, 0x88, 0x64, 0x88, 0xa3, 0x88, 0xa5), 'Ê̄Ê̌ê̄ê̌');
  assert.equal(decoded('big5', 0x87, 0x45), '𧉧');
});

test('a lead byte without its trail byte is one character that cannot be read, and ASCII after it is itself', () => {
  for (const charset of ['euc-kr', 'big5']) {
    assert.equal(decoded(charset, 0x61, 0x81, 0x3c, 0x62), 'a\ufffd<b', charset);
    assert.equal(decoded(charset, 0x61, 0xa4), 'a\ufffd', `${charset}: at the end`);
    assert.equal(decoded(charset, 0x80, 0xff, 0x62), '\ufffd\ufffdb', `${charset}: neither leads`);
    assert.equal(decoded(charset, 0x81, 0xff, 0x62), '\ufffdb', `${charset}: a trail byte that no pair has`);
  }
});

test('a byte order mark beats the header, and the header beats the page', () => {
  const page = '<meta charset=koi8-r><title>é</title>';
  assert.equal(find(`\ufeff${page}`, { 'content-type': 'text/html; charset=iso-8859-1' }).charset, 'utf-8');
  assert.equal(find(`\ufeff${page}`, {}).title, 'é');
  assert.equal(find(page, { 'content-type': 'text/html; Charset="ISO-8859-1"' }).charset, 'windows-1252');
  assert.equal(find(page, { 'content-type': 'text/html' }).charset, 'koi8-r');
});

test('a label that names no encoding is passed over', () => {
  const page = '<meta charset=nonsense><meta charset=koi8-r>';
  assert.equal(find(page, { 'content-type': 'text/html; charset=none-such' }).charset, 'koi8-r');
});

test('in a meta element utf-16 means utf-8 and x-user-defined means windows-1252', () => {
  assert.equal(find('<meta charset=utf-16be>', { 'content-type': 'text/html' }).charset, 'utf-8');
  assert.equal(find('<meta charset=x-user-defined>', { 'content-type': 'text/html' }).charset, 'windows-1252');
});

test('a meta element counts only outside comments and with its pragma', () => {
  const type = { 'content-type': 'text/html' };
  assert.equal(find('<!-- <meta charset=koi8-r> --><meta charset=big5>', type).charset, 'big5');
  assert.equal(
    find('<meta content="text/html; charset=koi8-r"><p title="<meta charset=koi8-r>">', type).charset,
    'utf-8',
  );
  assert.equal(find('<meta content="text/html; charset=koi8-r" http-equiv=content-type>', type).charset, 'koi8-r');
});

test('a meta element behind the first 1,024 bytes counts where nothing named an encoding before', () => {
  const type = { 'content-type': 'text/html' };
  const late = '<meta charset=koi8-r><title>\xee</title>';
  const pages = [
    ' '.repeat(1_024),
    `<!-- ${'x'.repeat(2_000)} -->`,
    `<html><head><style>${'a{}'.repeat(20_000)}</style><script>'<meta charset=big5>'</script>`,
    `<title>${'<meta charset=big5>'.repeat(60)}</title>`.replace(/^/, ' '.repeat(1_024)),
    `<meta charset=nonsense>${' '.repeat(1_024)}<p>`,
  ];
  for (const before of pages) {
    const page = Buffer.from(`${before}${late}`, 'latin1');
    assert.equal(find(page, type).charset, 'koi8-r', before.slice(0, 40));
    assert.equal(find(page, { 'content-type': 'text/html; charset=big5' }).charset, 'big5');
  }
  assert.equal(find(Buffer.from(`${pages[0]}${late}`, 'latin1'), type).title, 'Н');
  assert.equal(find(`<meta charset=big5>${pages[0]}${late}`, type).charset, 'big5', 'the first counts');
  assert.equal(find(`${' '.repeat(1_024)}<!-- ${late} --><script>'${late}'</script>`, type).charset, 'utf-8');
  assert.equal(find(`${' '.repeat(128 * 1_024)}${late}`, type).charset, 'utf-8', 'not without end');
  assert.equal(find(`${' '.repeat(1_024)}${late}`, { 'content-type': 'text/plain' }).charset, 'utf-8');
});

test('findings say whether anything named the encoding', () => {
  const guessed = (body: string | Uint8Array, type: string): boolean =>
    find(body, { 'content-type': type }).charsetGuessed;
  assert.equal(guessed('<p>é', 'text/html'), true);
  assert.equal(guessed(Buffer.from('<p>\xe9', 'latin1'), 'text/html; charset=none-such'), true);
  assert.equal(guessed('<p>é', 'text/html; charset=utf-8'), false);
  assert.equal(guessed('<meta charset=utf-8><p>é', 'text/html'), false);
  assert.equal(guessed(`${' '.repeat(2_000)}<meta charset=utf-8><p>é`, 'text/html'), false);
  assert.equal(guessed('<?xml version="1.0" encoding="utf-8"?><p>é', 'application/xhtml+xml'), false);
  assert.equal(guessed('\ufeff<p>é', 'text/html'), false);
});

test('UTF-8 without a label is known also when it was cut within a character', () => {
  const bytes = Buffer.from('<p>Größe ß');
  assert.equal(find(bytes.subarray(0, -1), { 'content-type': 'text/html' }).charset, 'utf-8');
  assert.equal(find(Buffer.from('<p>caf\xe9', 'latin1'), { 'content-type': 'text/html' }).text, 'café');
});

test('of two Content-Type fields that were joined the first charset counts', () => {
  const body = Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]); // in windows-1251
  const { text } = find(body, { 'content-type': 'text/html; charset=windows-1251, text/html; charset=windows-1251' });
  assert.equal(text, 'Привет');
});

/** Bytes of a text in an encoding of one or two bytes a character, by turning its decoder round. */
const encoded = (text: string, label: string): Uint8Array => {
  const decoder = decoderOf(label)!;
  const codes = new Map<string, readonly number[]>();
  const learn = (...code: readonly number[]): void => {
    const decoded = decoder.decode(Uint8Array.from(code));
    if (decoded.length === 1 && !codes.has(decoded)) codes.set(decoded, code);
  };
  for (let one = 0; one < 256; one++) learn(one);
  if (/jis|euc|big5|gb/.test(label))
    for (let lead = 0x81; lead < 0xff; lead++) for (let trail = 0x40; trail < 0xff; trail++) learn(lead, trail);
  return Uint8Array.from([...text].flatMap((character) => [...codes.get(character)!]));
};

for (const [label, text] of [
  ['windows-1251', 'Вечером мы вышли к реке и долго смотрели, как медленно плывут облака над старым городом.'],
  ['koi8-r', 'Вечером мы вышли к реке и долго смотрели, как медленно плывут облака над старым городом.'],
  ['windows-1253', 'Το βράδυ κατεβήκαμε στη θάλασσα και κοιτάζαμε για ώρα τα σύννεφα πάνω από την παλιά πόλη.'],
  ['windows-1255', 'בערב ירדנו אל הנהר והבטנו זמן רב בעננים שעברו לאט מעל העיר הישנה והשקטה'],
  ['windows-1256', 'في المساء نزلنا إلى النهر ونظرنا طويلا إلى الغيوم وهي تمر ببطء فوق المدينة القديمة'],
  ['shift_jis', '夕方、私たちは川まで歩いて、古い町の上をゆっくりと流れる雲を長いあいだ眺めていました。'],
  ['euc-jp', '夕方、私たちは川まで歩いて、古い町の上をゆっくりと流れる雲を長いあいだ眺めていました。'],
  ['euc-kr', '저녁에 우리는 강가로 내려가 오래된 도시 위로 천천히 흘러가는 구름을 오랫동안 바라보았다.'],
  [
    'windows-1252',
    'Le soir, nous sommes allés près de la rivière ; les nuages étaient très légers, là-bas, à côté du château.',
  ],
] as const) {
  test(`a page that names no encoding is read as ${label} where its letters look like that, and says that it was a guess`, () => {
    const page = encoded(`<html><body class="a page"><p>${text}</p><p>${text}</p></body></html>`, label);
    const { text: read, guessed } = decodeBytes({ bytes: page, contentType: 'text/html', html: true });
    assert.ok(read.includes(text), read);
    assert.equal(guessed, true);
  });
}

test('a page with few letters to guess from is read as windows-1252', () => {
  const bytes = Buffer.from('<p>a naïve café</p>', 'latin1');
  const { text, charset, guessed } = decodeBytes({ bytes, contentType: 'text/html', html: true });
  assert.deepEqual([text, charset, guessed], ['<p>a naïve café</p>', 'windows-1252', true]);
});

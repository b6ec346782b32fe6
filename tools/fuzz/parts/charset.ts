/** Encodings: sniffed from the head of a body and from a Content-Type, and decoded. */

import { decodeBytes } from '../../../src/parse/charset.ts';
import { decodeText } from '../../../src/parse/page.ts';
import type { Part } from '../growth.ts';

const LABELS = [
  'utf-8',
  'utf-16',
  'shift_jis',
  'gb18030',
  'euc-kr',
  'big5',
  'iso-2022-jp',
  'windows-1251',
  'x-user-defined',
];

export const charset: Part = {
  name: 'charset',
  pieces: [
    ...[
      'charset=',
      'charset="',
      "charset='",
      'CHARSET',
      'c',
      'charset',
      'text/html',
      ';',
      ',',
      ' ',
      '\t',
      '=',
      '"',
      "'",
      '\\',
    ],
    ...LABELS,
    ...LABELS.map((label) => `<meta charset=${label}>`),
    ...[
      '<meta ',
      '<meta http-equiv=content-type content="',
      '<meta content="charset=',
      '<?xml encoding="',
      '<',
      '>',
      '<!--',
      '-->',
    ],
    ...[
      '\xff\xfe',
      '\xfe\xff',
      '\xef\xbb\xbf',
      '\x1b$B',
      '\x1b(B',
      '\x81',
      '\x8e',
      '\xa1',
      '\xe9',
      '\xf0\x90',
      '\xc3\xa4',
      '\0',
      'a',
    ],
    ...['\n', '/', 'a#=b '],
  ],
  charactersMin: 8 * 1024,
  charactersMax: 512 * 1024,
  harmlessMs: 30,
  work: (input) => {
    const bytes = Buffer.from(input, 'latin1');
    // A head has at most 64 KiB, and so has a Content-Type.
    const contentType = input.slice(0, 64 * 1024);
    decodeBytes({ bytes, contentType: '', html: true });
    decodeBytes({ bytes, contentType, html: false });
    decodeBytes({
      bytes: Buffer.from(`<meta ${input}`, 'latin1'),
      contentType: `text/html;${contentType}`,
      html: true,
    });
    for (const label of LABELS) decodeBytes({ bytes, contentType: `text/html;charset=${label}`, html: true });
    decodeText({}, bytes);
  },
};

/** Pages: links, text, title, encoding, directives. */

import { parsePage } from '../../../src/parse/page.ts';
import { keptLinksOf } from '../../../src/url/page-links.ts';
import type { Part } from '../growth.ts';
import { VARIED } from '../shapes.ts';

const TAGS = [
  'a',
  'b',
  'p',
  'div',
  'svg',
  'math',
  'g',
  'title',
  'script',
  'style',
  'textarea',
  'template',
  'table',
  'tr',
];
const MORE_TAGS = ['td', 'li', 'ul', 'select', 'option', 'noscript', 'iframe', 'plaintext', 'frameset', 'body', 'html'];
const OTHER_TAGS = [
  'head',
  'foreignObject',
  'desc',
  'mi',
  'mtext',
  'annotation-xml',
  'br',
  'base',
  'meta',
  'x-y',
  'video',
];

export const html: Part = {
  name: 'html',
  pieces: [
    ...[...TAGS, ...MORE_TAGS, ...OTHER_TAGS].flatMap((name) => [`<${name}>`, `</${name}>`, `<${name} `, `<${name}/>`]),
    ...['<', '</', '<!', '<!--', '-->', '--!>', '--', '-', '<!doctype', '<![CDATA[', ']]>', ']', '<?', '?>', '>', '/>'],
    ...['&', '&#', '&#x', '&amp', '&amp;', '&notin', '&notit;', '&#0;', '&#99999999;', '&a', '0', ';', '"', "'", '='],
    ...[' a=', ' a#=b', ' href=', ' href="/p#"', " href='/q#'", ' rel=nofollow', ' hidden', ' style="display:none"'],
    ...[VARIED, ' lang=en', ' xlink:href=#', ' a', ' ', '\n', '\t', '\r\n', '\f', '\0', 'x', 'word ', 'ä', '😀', ' /'],
    ...['<a href="/l#">', '<a href="/l#">t</a>', '<base href="/b#/">', '<base href="http://', ':', '@', '%'],
    ...['<meta name=robots content="', 'noindex,', '<meta charset=', '<link rel=canonical href=/c#>', '<div hidden>'],
    ...['<script><!--<script>', '</script', '</scrip', '</titl', '</style', '<!--<!', '<p hidden><p>'],
  ],
  charactersMin: 8 * 1024,
  charactersMax: 1024 * 1024,
  harmlessMs: 30,
  work: (input) => {
    const { findings } = parsePage({
      url: 'http://a.example/',
      headers: { 'content-type': 'text/html' },
      body: Buffer.from(input),
      textBytesMax: input.length,
      productToken: 'gossamer',
    });
    keptLinksOf(findings);
  },
};

/** Sitemaps, and the text of XML documents. */

import { listedIn, parseSitemap } from '../../../src/parse/sitemap.ts';
import { plainText, xmlText } from '../../../src/parse/xml.ts';
import type { Part } from '../growth.ts';

export const sitemap: Part = {
  name: 'sitemap',
  pieces: [
    ...['<?xml version="1.0"?>', '<?', '?>', '<urlset>', '</urlset>', '<sitemapindex>', '<sitemap>', '<url>', '</url>'],
    ...[
      '<loc>',
      '</loc>',
      '<loc/>',
      '<loc>http://a.example/#</loc>',
      '<x:loc>',
      '<loc ',
      '<urlset xmlns="',
      '"',
      "'",
      '=',
    ],
    ...[
      '<![CDATA[',
      ']]>',
      ']]',
      ']',
      '<!--',
      '-->',
      '--',
      '<!DOCTYPE',
      '[',
      '<!ENTITY a "',
      '&a;',
      '&',
      '&#',
      '&amp;',
      ';',
    ],
    ...[
      '<',
      '</',
      '>',
      '/>',
      '/',
      'http://a.example/#\n',
      'https://',
      '\n',
      '\r',
      ' ',
      '\t',
      'a',
      'ä',
      ':',
      '<a:b>',
      '<loc><loc>',
    ],
    ...['<url><loc>', '</', '<lastmod>', '\u00a0', '\0', '<LOC>', '</LOC>', '<![', '<!'],
  ],
  charactersMin: 8 * 1024,
  charactersMax: 1024 * 1024,
  harmlessMs: 30,
  work: (input) => {
    listedIn(input, true);
    listedIn(`<urlset>${input}`, false);
    const source = { url: 'http://a.example/sitemap.xml', productToken: 'gossamer', whole: true };
    parseSitemap({ ...source, headers: { 'content-type': 'text/xml' }, body: Buffer.from(input) });
    xmlText(input);
    plainText(input);
  },
};

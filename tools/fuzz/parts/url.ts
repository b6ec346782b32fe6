/** Addresses: canonicalisation and routing, as for each link of a page. */

import { createScope, NO_RULES } from '../../../src/url/scope.ts';
import { canonicalize, resolverOf } from '../../../src/url/canonical.ts';
import { readLocation } from '../../../src/url/location.ts';
import { readExcluded, readSeed } from '../../../src/url/seed.ts';
import { createSiteSet } from '../../../src/url/site-set.ts';
import { createPatterns } from '../../../src/url/link-patterns.ts';
import { siteOf } from '../../../src/url/site.ts';
import { surtOf } from '../../../src/url/surt.ts';
import type { Part } from '../growth.ts';
import { VARIED } from '../shapes.ts';

const BASE = 'https://a.example/b/c';
const resolve = resolverOf(BASE);
const scope = createScope({
  ...NO_RULES,
  excluded: createSiteSet(['b.example']),
  exclude: createPatterns(['*/x*y*z']),
});

export const url: Part = {
  name: 'url',
  pieces: [
    ...['http://', 'https://', '//', '/', '\\', '?', '#', ':', '@', '%', '%2', '%2f', '%2E', '%c3%a4', '.', '..'],
    ...[
      '/../',
      '/./',
      '/%2e%2e/',
      'a',
      'A',
      'a/',
      'a.',
      '[',
      ']',
      '[::',
      '1:',
      '::1',
      '0x',
      '1.',
      '-',
      'xn--',
      'ä',
      '。',
    ],
    ...['é̀', '­', '\u200d', '&a=b', '=', ';', ' ', '\t', '\n', '\0', 'example', '.example', '://', 'user:pass@'],
    ...[
      VARIED,
      `${VARIED}.`,
      'a#/',
      'page#.html',
      '?a=#',
      '\ud800',
      '😀',
      '%ff',
      '+',
      '~',
      '|',
      '^',
      "'",
      '"',
      '<',
      '.zip',
      '.html',
    ],
  ],
  // Longer ones are not even parsed; the least is a length that pages have.
  charactersMin: 500,
  charactersMax: 8_000,
  harmlessMs: 2,
  work: (input) => {
    for (const address of [resolve(input), canonicalize(input), canonicalize(`https://${input}`)]) {
      if (typeof address === 'string') continue;
      scope.judge(address, siteOf(address.host), 1);
      surtOf(address.url);
    }
    canonicalize('x', `https://a.example/${input}`);
    readLocation(input);
    readSeed(input);
    readExcluded(input);
  },
};

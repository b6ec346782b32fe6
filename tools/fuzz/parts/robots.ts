/** robots.txt: reading it, and asking it about a path that fits nearly every rule. */

import { robotsDecision, robotsStance, parseRobots } from '../../../src/politeness/robots.ts';
import type { Part } from '../growth.ts';

/** As long as a path of a canonical address can be. */
const PATH_CHARS = 1_900;
const PATHS = ['a', '/', '%2A', 'ab', '/a', '$', '%c3%a4'].map(
  (piece) => `/${piece.repeat(PATH_CHARS / piece.length)}`,
);

export const robots: Part = {
  name: 'robots',
  pieces: [
    ...[
      'User-agent: *\n',
      'User-agent: gossamer\n',
      'user-agent:',
      'Disallow: ',
      'Allow: ',
      'Disallow: /a#*b$\n',
      'Allow: /\n',
    ],
    ...[
      'Disallow: *a*a*a\n',
      'Crawl-delay: #\n',
      'Sitemap: http://a.example/#\n',
      ':',
      '#',
      '\n',
      '\r',
      '\r\n',
      ' ',
      '\t',
    ],
    ...[
      '*',
      '$',
      '/',
      'a',
      '%',
      '%2',
      '%2a',
      '%c3',
      '%C3%A4',
      'ä',
      '😀',
      '\0',
      '\ufeff',
      '?',
      '=',
      '*a',
      '/*',
      '**',
      'disallow',
    ],
    ...['Disallow: /*/*/*/*/*x\n', 'Disallow: /#\n', 'Allow: /a*$\n', '#'.repeat(3), ' : '],
  ],
  charactersMin: 8 * 1024,
  charactersMax: 512 * 1024,
  harmlessMs: 30,
  work: (input) => {
    const rules = parseRobots(input, 'gossamer');
    const all = parseRobots(`User-agent: gossamer\nDisallow: ${input}`, 'gossamer');
    for (const { verdict, rules: text, crawlDelayMs } of [rules, all]) {
      const record = {
        origin: 'http://a.example',
        fetchedAt: 0,
        expiresAt: 0,
        verdict,
        rules: text,
        crawlDelayMs,
        failures: 0,
      };
      robotsStance(record);
      for (const path of PATHS) robotsDecision(record, path);
    }
  },
};

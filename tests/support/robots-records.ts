/** The rules of an origin, for tests: from a robots.txt, or as they are kept. */

import type { RobotsRecord } from '../../src/model/robots.ts';
import { parseRobots } from '../../src/politeness/robots.ts';

export const recordOf = (text: string): RobotsRecord => {
  const { verdict, rules, crawlDelayMs } = parseRobots(text, 'Gossamer');
  return { origin: 'https://example.org', fetchedAt: 0, expiresAt: 1, verdict, rules, crawlDelayMs, failures: 0 };
};
/** Rules as a store keeps them. */
export const written = (rules: string): RobotsRecord => ({
  origin: 'https://example.org',
  fetchedAt: 0,
  expiresAt: 1,
  verdict: 'rules',
  rules,
  crawlDelayMs: null,
  failures: 0,
});

/** May this path be fetched, by the robots.txt of its origin? RFC 9309. */

import { ROBOTS_BYTES_MAX, ROBOTS_RECORD_BYTES_MAX } from '../model/robots.ts';
import type { RobotsRecord } from '../model/robots.ts';
import { comparedPath, comparedPattern, matches } from './pattern.ts';

/** Sitemaps kept of one robots.txt; large sites list some dozens. */
export const SITEMAPS_MAX = 100;

export interface RobotsRules {
  readonly verdict: RobotsRecord['verdict'];
  readonly rules: string;
  readonly crawlDelayMs: number | null;
  /** As written. */
  readonly sitemaps: string[];
}

type Directive = 'agent' | 'allow' | 'disallow' | 'delay' | 'sitemap';

/** Misspellings that are common enough to be understood by the large search engines. */
const DIRECTIVES = new Map<string, Directive>([
  ['user-agent', 'agent'], ['useragent', 'agent'], ['user agent', 'agent'], ['user_agent', 'agent'],
  ['allow', 'allow'],
  ['disallow', 'disallow'], ['dissallow', 'disallow'], ['dissalow', 'disallow'], ['disalow', 'disallow'],
  ['diasllow', 'disallow'], ['disallaw', 'disallow'],
  ['crawl-delay', 'delay'], ['crawldelay', 'delay'], ['crawl delay', 'delay'], ['crawl_delay', 'delay'],
  ['sitemap', 'sitemap'], ['site-map', 'sitemap'],
]);

/** What the groups for one kind of reader (us by name, or `*`) say together. */
interface Gathered {
  named: boolean;
  readonly rules: Set<string>;
  delayMs: number | null;
}

const gathered = (): Gathered => ({ named: false, rules: new Set(), delayMs: null });

/**
 * Reduce a robots.txt to what it says to us: the groups that name our product token, merged, or
 * else those for `*`.
 *
 * A text of ROBOTS_BYTES_MAX was cut there by whoever read it, so its last line is ignored if it
 * has no end: half a rule is another rule.
 */
export const parseRobots = (text: string, productToken: string): RobotsRules => {
  const token = agentOf(productToken);
  const ours = gathered();
  const everyones = gathered();
  const sitemaps: string[] = [];
  const groups = new Set<Gathered>(); // those that the current group speaks to
  let inRules = false;

  for (const line of linesOf(text)) {
    const read = readLine(line);
    if (read === null) continue;
    const { directive, value } = read;
    switch (directive) {
      case 'agent': {
        if (inRules) groups.clear();
        inRules = false;
        const agent = agentOf(value);
        const group = agent === '*' ? everyones : agent !== '' && agent === token ? ours : null;
        if (group !== null) {
          group.named = true;
          groups.add(group);
        }
        break;
      }
      case 'allow':
      case 'disallow': {
        inRules = true;
        const pattern = patternOf(value);
        if (pattern !== '') for (const group of groups) group.rules.add((directive === 'allow' ? '+' : '-') + pattern);
        break;
      }
      case 'delay': {
        // RFC 9309, 2.2.4: other records must not interfere, so this one does not end the agent lines.
        const delayMs = delayOf(value);
        if (delayMs !== null) for (const group of groups) group.delayMs = Math.max(group.delayMs ?? 0, delayMs);
        break;
      }
      case 'sitemap':
        if (value !== '' && sitemaps.length < SITEMAPS_MAX) sitemaps.push(value);
        break;
    }
  }

  const { rules, delayMs: crawlDelayMs } = ours.named ? ours : everyones;
  const reduced = Array.from(rules).join('\n'); // ASCII only, so characters are bytes
  if (reduced.length > ROBOTS_RECORD_BYTES_MAX) return { verdict: 'too-large', rules: '', crawlDelayMs, sitemaps };
  return { verdict: reduced === '' ? 'all' : 'rules', rules: reduced, crawlDelayMs, sitemaps };
};

/** The lines of the text, however they end. */
const linesOf = (text: string): string[] => {
  const lines = text.split(/\r\n|\n|\r/);
  // A byte order mark of three bytes may be gone already.
  const cut = text.length * 3 >= ROBOTS_BYTES_MAX - 3 && Buffer.byteLength(text) >= ROBOTS_BYTES_MAX - 3;
  return cut ? lines.slice(0, -1) : lines;
};

const readLine = (line: string): { readonly directive: Directive; readonly value: string } | null => {
  const hash = line.indexOf('#');
  const text = (hash < 0 ? line : line.slice(0, hash)).trim(); // a byte order mark too
  if (text === '') return null;
  const colon = text.indexOf(':');
  // Without a colon, white space divides, as large search engines read it; but only two words are a rule.
  const divided = colon < 0 ? text.split(/\s+/, 3) : [text.slice(0, colon), text.slice(colon + 1)];
  if (divided.length !== 2) return null;
  const directive = DIRECTIVES.get((divided[0] ?? '').trim().toLowerCase());
  return directive === undefined ? null : { directive, value: (divided[1] ?? '').trim() };
};

/** The product token of a user-agent line: `Gossamer/1.0 (x)` is `gossamer`; `*` stands for everyone. */
const agentOf = (value: string): string => {
  const text = value.trim();
  if (/^\*(?:\s|$)/.test(text)) return '*';
  return (/^[^\s/(;,*]+/.exec(text)?.[0] ?? '').toLowerCase();
};

/** A pattern that forgot its slash is meant from the root; an empty one says nothing. */
const patternOf = (value: string): string => {
  if (value === '') return '';
  return comparedPattern(value.startsWith('/') || value.startsWith('*') ? value : `/${value}`);
};

/** Seconds, also with a fraction. The ceiling is the pace's to apply; here only what a number can hold. */
const delayOf = (value: string): number | null => {
  const seconds = Number.parseFloat(value.replace(',', '.'));
  if (!(seconds >= 0)) return null;
  return Math.min(Math.ceil(seconds * 1_000), Number.MAX_SAFE_INTEGER);
};

export interface RobotsDecision {
  readonly allowed: boolean;
  /** The rule that decided, or why none did. */
  readonly rule: string;
}

/**
 * The longest rule that matches wins, and allowing wins a tie (RFC 9309, 2.2.2).
 *
 * This runs for every visit on the text of the record: the lines are walked in place, and those too
 * short to change the answer are not matched.
 */
export const robotsDecision = (record: RobotsRecord, path: string): RobotsDecision => {
  if (path === '/robots.txt') return { allowed: true, rule: 'robots.txt itself' };
  if (record.verdict === 'all') return { allowed: true, rule: 'no rules for us' };
  if (record.verdict === 'too-large') return { allowed: false, rule: 'rules over the ceiling' };

  const { rules } = record;
  const sought = comparedPath(path);
  let best = '';
  for (let at = 0; at < rules.length;) {
    const newline = rules.indexOf('\n', at);
    const end = newline < 0 ? rules.length : newline;
    const longer = end - at > best.length;
    const tied = end - at === best.length && rules.charCodeAt(at) === ALLOWS;
    if ((longer || tied) && matches(rules.slice(at + 1, end), sought)) best = rules.slice(at, end);
    at = end + 1;
  }
  if (best === '') return { allowed: true, rule: 'no rule matches' };
  const allowed = best.charCodeAt(0) === ALLOWS;
  return { allowed, rule: `${allowed ? 'Allow' : 'Disallow'}: ${best.slice(1)}` };
};

const ALLOWS = 0x2b; // +

/**
 * What the status of a robots.txt means (RFC 9309, 2.3.1). 429 is a 4xx that says "not now", so it
 * is trouble, as Google reads it too: a server that cannot keep up did not allow everything.
 */
export const robotsVerdict = (status: number): 'read' | 'allow' | 'follow' | 'trouble' => {
  if (status >= 200 && status < 300) return 'read';
  if (status >= 300 && status < 400) return 'follow';
  if (status >= 400 && status < 500 && status !== 429) return 'allow';
  return 'trouble';
};

/** May this path be fetched, by the robots.txt of its origin? RFC 9309. */

import { isInTrouble, ROBOTS_BYTES_MAX, ROBOTS_RECORD_BYTES_MAX } from '../model/robots.ts';
import type { RobotsRecord } from '../model/robots.ts';
import { finished } from '../lib/steps.ts';
import { comparedPath, comparedPattern, matches, writtenOctets } from './pattern.ts';

/** Sitemaps kept of one robots.txt; large sites list some dozens. */
export const SITEMAPS_MAX = 100;

/** Lines read in one step: a millisecond or two. */
const LINES_PER_STEP = 1_000;

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
  ['user-agent', 'agent'],
  ['useragent', 'agent'],
  ['user agent', 'agent'],
  ['user_agent', 'agent'],
  ['allow', 'allow'],
  ['disallow', 'disallow'],
  ['dissallow', 'disallow'],
  ['dissalow', 'disallow'],
  ['disalow', 'disallow'],
  ['diasllow', 'disallow'],
  ['disallaw', 'disallow'],
  ['crawl-delay', 'delay'],
  ['crawldelay', 'delay'],
  ['crawl delay', 'delay'],
  ['crawl_delay', 'delay'],
  ['sitemap', 'sitemap'],
  ['site-map', 'sitemap'],
]);

/** What the groups for one kind of reader (us by name, or `*`) say together. */
interface Gathered {
  named: boolean;
  /** Each rule with the number of the first line that has it. */
  readonly rules: Map<string, number>;
  /** How long each pattern counts. Rules that differ in spelling alone are equivalent: the longest counts for all. */
  readonly octets: Map<string, number>;
  delayMs: number | null;
}

const gathered = (): Gathered => ({ named: false, rules: new Map(), octets: new Map(), delayMs: null });

/**
 * Reduce a robots.txt to what it says to us: the groups that name our product token, merged, or
 * else those for `*`.
 *
 * A text of ROBOTS_BYTES_MAX was cut there by whoever read it, so its last line is ignored if it
 * has no end: half a rule is another rule.
 */
export const parseRobots = (text: string, productToken: string): RobotsRules =>
  finished(parseRobotsInSteps(text, productToken));

/** Reduces a robots.txt piece by piece: whoever runs it may do something else whenever it yields. */
export function* parseRobotsInSteps(text: string, productToken: string): Generator<void, RobotsRules> {
  const token = agentOf(productToken);
  const ours = gathered();
  const everyones = gathered();
  const sitemaps: string[] = [];
  const groups = new Set<Gathered>(); // those that the current group speaks to
  // A Crawl-delay is no rule, so agent lines after it still belong to the group (RFC 9309, 2.2.4). But whoever writes
  // agent, delay, agent, delay means two readers with a delay each.
  const delayed = new Set<Gathered>();
  let inDelays = false;
  let inRules = false;
  let lineNumber = 0;

  for (const line of linesOf(text)) {
    lineNumber += 1;
    if (lineNumber % LINES_PER_STEP === 0) yield;
    const read = readLine(line);
    if (read === null) continue;
    const { directive, value } = read;
    switch (directive) {
      case 'agent': {
        if (inRules) groups.clear();
        if (inRules || inDelays) delayed.clear();
        [inRules, inDelays] = [false, false];
        const agent = agentOf(value);
        const group = agent === '*' ? everyones : agent !== '' && agent === token ? ours : null;
        if (group !== null) {
          group.named = true;
          groups.add(group);
          delayed.add(group);
        }
        break;
      }
      case 'allow':
      case 'disallow': {
        inRules = true;
        if (value === '') break; // says nothing
        const written = fromRoot(value);
        const pattern = comparedPattern(written);
        const octets = writtenOctets(written);
        const rule = (directive === 'allow' ? '+' : '-') + pattern;
        for (const group of groups) {
          if (!group.rules.has(rule)) group.rules.set(rule, lineNumber);
          if (octets > (group.octets.get(pattern) ?? 0)) group.octets.set(pattern, octets);
        }
        break;
      }
      case 'delay': {
        inDelays = true;
        const delayMs = delayOf(value);
        if (delayMs !== null) for (const group of delayed) group.delayMs = Math.max(group.delayMs ?? 0, delayMs);
        break;
      }
      case 'sitemap':
        if (value !== '' && sitemaps.length < SITEMAPS_MAX) sitemaps.push(value);
        break;
    }
  }

  const { rules, octets, delayMs: crawlDelayMs } = ours.named ? ours : everyones;
  if (bytesOf(rules.keys()) > ROBOTS_RECORD_BYTES_MAX)
    return { verdict: 'too-large', rules: '', crawlDelayMs, sitemaps };
  const reduced = Array.from(rules, ([rule, line]) => {
    const pattern = rule.slice(1);
    const counted = octets.get(pattern)!;
    return `${line}${counted === pattern.length ? '' : `:${counted}`}${rule}`;
  }).join('\n');
  return { verdict: reduced === '' ? 'all' : 'rules', rules: reduced, crawlDelayMs, sitemaps };
}

/** What the rules take, a line each; ASCII only, so characters are bytes. Their numbers are ours and do not count. */
const bytesOf = (rules: Iterable<string>): number => {
  let bytes = -1; // the last one has no line end
  for (const rule of rules) bytes += rule.length + 1;
  return bytes;
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

/** A pattern that forgot its slash is meant from the root. */
const fromRoot = (value: string): string => (value.startsWith('/') || value.startsWith('*') ? value : `/${value}`);

/** Seconds, also with a fraction. The ceiling is the pace's to apply; here only what a number can hold. */
const delayOf = (value: string): number | null => {
  const seconds = Number.parseFloat(value.replace(',', '.'));
  if (!(seconds >= 0)) return null;
  return Math.min(Math.ceil(seconds * 1_000), Number.MAX_SAFE_INTEGER);
};

export interface RobotsDecision {
  readonly allowed: boolean;
  /** The rule that decided, with its line in robots.txt, or why none did. */
  readonly rule: string;
  /** The number of that line; null when no rule decided, or in a record that an older program wrote. */
  readonly line: number | null;
}

/**
 * Characters of paths that are looked through for one decision, some tens of milliseconds at worst: 50,000 rules with
 * an address of 100 characters, or 2,500 with the longest there can be. Rules made to cost more forbid the address.
 */
const MATCHED_CHARS_MAX = 5_000_000;
const TOO_MUCH_WORK: RobotsDecision = { allowed: false, rule: 'rules that take too long to match', line: null };

/**
 * The longest rule that matches wins, and allowing wins a tie (RFC 9309, 2.2.2). The length is that of the pattern as
 * it was written: `%20` has three octets.
 *
 * This runs for every visit on the text of the record: the lines are walked in place, and those too
 * short to change the answer are not matched.
 */
export const robotsDecision = (record: RobotsRecord, path: string): RobotsDecision => {
  if (path === '/robots.txt') return { allowed: true, rule: 'robots.txt itself', line: null };
  if (record.verdict === 'all') return { allowed: true, rule: 'no rules for us', line: null };
  if (record.verdict === 'too-large') return { allowed: false, rule: 'rules over the ceiling', line: null };
  if (isInTrouble(record)) return { allowed: false, rule: 'robots.txt could not be read', line: null };

  const { rules } = record;
  const sought = comparedPath(path);
  let best = ''; // sign and pattern
  let bestOctets = 0;
  let bestAt = 0;
  let work = 0;
  for (let at = 0; at < rules.length; ) {
    const newline = rules.indexOf('\n', at);
    const end = newline < 0 ? rules.length : newline;
    const signAt = signFrom(rules, at);
    if (mayMatch(rules, signAt, sought)) {
      const octets = countedOctets(rules, at, signAt) || end - signAt - 1;
      const wins = octets > bestOctets || (octets === bestOctets && rules.charCodeAt(signAt) === ALLOWS);
      // A pattern may look through the whole path for what stands behind its star.
      if (wins && (work += sought.length) > MATCHED_CHARS_MAX) return TOO_MUCH_WORK;
      if (wins && matches(rules.slice(signAt + 1, end), sought)) {
        best = rules.slice(signAt, end);
        bestOctets = octets;
        bestAt = at;
      }
    }
    at = end + 1;
  }
  if (best === '') return { allowed: true, rule: 'no rule matches', line: null };
  const allowed = best.charCodeAt(0) === ALLOWS;
  const line = Number.parseInt(rules.slice(bestAt, signFrom(rules, bestAt)), 10) || null;
  return {
    allowed,
    line,
    rule: `${line === null ? '' : `line ${line}: `}${allowed ? 'Allow' : 'Disallow'}: ${best.slice(1)}`,
  };
};

/** The length that a rule states where it was written in another one, `12:7-/~joe`; 0 where it states none. */
const countedOctets = (rules: string, at: number, signAt: number): number => {
  for (let colon = at; colon < signAt; colon += 1)
    if (rules.charCodeAt(colon) === COLON) return Number(rules.slice(colon + 1, signAt));
  return 0;
};

/** Where the sign is, after the line number and length: both signs come before digits and the colon in ASCII. */
const signFrom = (rules: string, at: number): number => {
  let signAt = at;
  while (rules.charCodeAt(signAt) > SLASH) signAt += 1;
  return signAt;
};

/** Most rules differ from the path in the character after its first slash: those need not be cut out of the text. */
const mayMatch = (rules: string, signAt: number, path: string): boolean => {
  if (rules.charCodeAt(signAt + 1) !== SLASH) return true;
  const second = rules.charCodeAt(signAt + 2);
  // a line's end is no greater than a dollar sign
  return second === path.charCodeAt(1) || !(second > DOLLAR) || second === STAR;
};

const DOLLAR = 0x24;
const STAR = 0x2a;
const SLASH = 0x2f; // the last before the digits
const COLON = 0x3a;

/** What a record says on the whole, for a person who looks at many. */
export const robotsStance = (
  record: RobotsRecord,
): 'allows-all' | 'has-rules' | 'forbids-all' | 'too-large' | 'unreadable' => {
  if (record.verdict === 'all') return 'allows-all';
  if (record.verdict === 'too-large') return 'too-large';
  if (isInTrouble(record)) return 'unreadable';
  return FORBIDS_ALL.test(record.rules) && !ALLOWS_SOME.test(record.rules) ? 'forbids-all' : 'has-rules';
};

const FORBIDS_ALL = /^[\d:]*-(?:\/|\/?\*+\$?)$/m;
const ALLOWS_SOME = /^[\d:]*\+/m;

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

/** What the robots.txt of each host says, as text to serve and as rules to judge by. */

import type { Site } from './sites.ts';
import type { WorldPlan } from './plan.ts';
import { mix, pick } from './random.ts';

export interface Policy {
  readonly status: number;
  readonly text: string;
  /** The lines that apply to gossamer: allow or forbid, then the pattern. */
  readonly rules: readonly (readonly ['allow' | 'forbid', string])[];
  readonly crawlDelayMs: number;
}

const OPEN: Policy = { status: 200, text: 'User-agent: *\nDisallow:\n', rules: [], crawlDelayMs: 0 };

/** On every site whose rules are `PRIVATE`, these two are linked from the front page. */
export const FORBIDDEN_PATH = '/private/diary';
export const EXCEPTED_PATH = '/private/open/door';

const PRIVATE_TEXT = 'User-agent: *\nDisallow: /private/\nAllow: /private/open/\n';
const PRIVATE: Policy = {
  status: 200,
  text: PRIVATE_TEXT,
  rules: [
    ['forbid', '/private/'],
    ['allow', '/private/open/'],
  ],
  crawlDelayMs: 0,
};

const GROUPS: Policy = {
  status: 200,
  text:
    '# Two groups: the first is for us, the second for the rest\n' +
    'User-agent: Gossamer\nAllow: /private/open/\nDisallow: /private/\nDisallow: /*.cgi$\nDisallow: /*?*session=\n\n' +
    'User-agent: *\nDisallow: /\n',
  rules: [
    ['allow', '/private/open/'],
    ['forbid', '/private/'],
    ['forbid', '/*.cgi$'],
    ['forbid', '/*?*session='],
  ],
  crawlDelayMs: 0,
};

/** Linked on sites with `GROUPS`, beside the two above: the path, and whether it is allowed. */
export const GROUPS_PATHS: readonly (readonly [string, boolean])[] = [
  ['/tools/count.cgi', false],
  ['/tools/count.cgi/manual', true],
  ['/list?page=2&session=9', false],
  ['/list?page=2', true],
];

const NO_ONE: Policy = { status: 200, text: 'User-agent: *\nDisallow: /\n', rules: [['forbid', '/']], crawlDelayMs: 0 };

const refusal = (status: number): Policy => ({ ...OPEN, status, text: 'no rules here\n' });

/** With a BOM, CRLF, odd case, spaces and comments: the same rules as `PRIVATE`. */
const SHOUTED: Policy = {
  ...PRIVATE,
  text: '\ufeff' + 'USER-AGENT :  *   # all\r\nDISALLOW:/private/  # not this\r\n\r\nallow: /private/open/\r\n',
};

/** Larger than the 500 KiB that a crawler reads (RFC 9309, 2.5), most of it for others. */
const HUGE_BYTES = 640_000;
const HUGE_SECOND_AT = 300_000;

const hugeText = (): string => {
  const lines = ['\ufeffUser-agent: *', 'Disallow: /private/', ''];
  let bytes = 0;
  let second = false;
  for (let n = 0; bytes < HUGE_BYTES; n++) {
    const line = n % 100 === 0 ? `User-agent: otherbot-${n}` : `Disallow: /a-place-that-only-others-may-not-see/${n}/`;
    if (!second && bytes > HUGE_SECOND_AT && n % 100 === 0) {
      lines.push('', 'User-agent: *', 'Allow: /private/open/', '');
      second = true;
    }
    lines.push(line);
    bytes += line.length + 2;
  }
  return lines.join('\r\n');
};

let hugeMade: Policy | null = null;
const huge = (): Policy => (hugeMade ??= { ...PRIVATE, text: hugeText() });

const plainPolicies: readonly Policy[] = [PRIVATE, refusal(404), SHOUTED, refusal(403), OPEN];

/** As content management systems and their owners write them; four of five sites have one. */
const ordinary = (more: string): Policy => ({ ...PRIVATE, text: `${PRIVATE_TEXT}${more}` });
const BOTS = ['ahrefsbot', 'semrushbot', 'mj12bot', 'dotbot', 'blexbot', 'petalbot', 'bytespider', 'gptbot', 'ccbot'];
const ordinaryPolicies: readonly Policy[] = [
  refusal(404),
  ordinary(''),
  ordinary('Disallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\nDisallow: /?s=\nSitemap: /sitemap.xml\n'),
  ordinary(
    ['cart', 'checkout', 'search', 'account', 'tag', 'print', 'cgi-bin']
      .map((name) => `Disallow: /${name}/\n`)
      .join(''),
  ),
  ordinary(BOTS.map((name) => `\nUser-agent: ${name}\nDisallow: /\n`).join('')),
];

/** The rules in force on a host, wherever its robots.txt redirects to. */
export const policyOf = (plan: WorldPlan, site: Site, host: string): Policy => {
  if (plan.shape !== 'plain') return pick(ordinaryPolicies, mix(plan.seed, site.index));
  if (!plan.oddities) return OPEN;
  switch (site.trait) {
    case 'robots-groups':
      return GROUPS;
    case 'crawl-delay': {
      const crawlDelayMs = plan.crawlDelaySeconds * 1_000;
      return { ...PRIVATE, text: `${PRIVATE_TEXT}Crawl-delay: ${plan.crawlDelaySeconds}\n`, crawlDelayMs };
    }
    case 'robots-500':
      return { ...NO_ONE, status: 500, text: 'something broke\n' };
    case 'robots-moved':
    case 'robots-moved-away':
      return PRIVATE;
    case 'robots-per-host':
      return host.startsWith('blog.') ? NO_ONE : OPEN;
    case 'robots-huge':
      return huge();
    case 'all-reset':
      return { ...NO_ONE, status: 0 };
    case 'plain':
    case 'http-only':
    case 'upgrade':
      return plainPolicies[site.ordinal % plainPolicies.length] as Policy;
    case 'slow':
    case 'tls-refused':
    case 'garbage':
    case 'hang':
      return OPEN;
  }
};

/** Turns a pattern into an expression; our own patterns are few and harmless. */
const expressionOf = (pattern: string): RegExp => {
  const ends = pattern.endsWith('$');
  const literal = (ends ? pattern.slice(0, -1) : pattern)
    .split('*')
    .map((part) => part.replace(/[.?+^$()[\]{}|\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('.*')}${ends ? '$' : ''}`);
};
const expressions = new Map<string, RegExp>();

/** RFC 9309, 2.2.2: the longest pattern decides, and of two equal ones the one that allows. */
export const allowedBy = (policy: Policy, path: string): boolean => {
  let longest = -1;
  let allowed = true;
  for (const [verdict, pattern] of policy.rules) {
    let expression = expressions.get(pattern);
    if (!expression) expressions.set(pattern, (expression = expressionOf(pattern)));
    if (!expression.test(path) || pattern.length < longest) continue;
    allowed = verdict === 'allow' || (pattern.length === longest && allowed);
    longest = pattern.length;
  }
  return allowed;
};

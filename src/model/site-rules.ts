/** What differs by site: values for a domain or a host and all below it, as a person gives them. */

import { readDurationMs } from '../lib/units.ts';
import { headerComplaint } from './request-headers.ts';
import { SCOPE_KINDS, type ScopeKind } from './scope-kind.ts';

export type RobotsUse = 'obey' | 'ignore';

export interface SiteRule {
  /** A domain or a host: the rule holds for it and for all below it. */
  readonly name: string;
  /** Instead of `delayMs` of the crawl. */
  readonly delayMs?: number;
  /** Instead of `maxPagesPerSite` of the crawl; null for no limit. Only where the name is a site. */
  readonly maxPages?: number | null;
  /** Whoever crawls runs the site: its delay is the one given here, and nothing makes it longer but failures. */
  readonly own?: boolean;
  /** `ignore`, only with `own`: robots.txt is not even asked for. */
  readonly robots?: RobotsUse;
  /** Instead of `scope` of the crawl, for seeds there; `any`: all of it is wanted, with or without a seed. */
  readonly scope?: ScopeKind;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type RuleValueName = Exclude<keyof SiteRule, 'name'>;

/** More rules than a person writes by hand; each claim carries the budgets among them. */
export const SITE_RULES_MAX = 10_000;
/** Header fields of one rule: a request has some ten of its own. */
export const RULE_HEADERS_MAX = 50;

/** How a value of a rule is written, in a file and in the reference page. */
export interface RuleSpec {
  /** How the value is called in a file. */
  readonly called: string;
  readonly kind: 'duration' | 'count' | 'switch' | 'choice' | 'headers';
  readonly choices?: readonly string[];
  readonly says: string;
}

export const RULE_VALUES: { readonly [K in RuleValueName]-?: RuleSpec } = {
  delayMs: { called: 'delay', kind: 'duration', says: 'instead of `delay`' },
  maxPages: {
    called: 'max-pages',
    kind: 'count',
    says: 'instead of `max-pages-per-site`; only for a site, not for a host below one',
  },
  own: { called: 'own', kind: 'switch', says: 'you run the site: its delay is the configured one alone, 0 included' },
  robots: {
    called: 'robots',
    kind: 'choice',
    choices: ['obey', 'ignore'],
    says: '`ignore` does not ask for robots.txt; only together with `own: true`',
  },
  scope: {
    called: 'scope',
    kind: 'choice',
    choices: SCOPE_KINDS,
    says: 'instead of `scope`, for seeds there; `any`: all of it is wanted, with or without a seed',
  },
  headers: { called: 'headers', kind: 'headers', says: 'header fields of every request, by name' },
};
export const RULE_VALUE_NAMES = Object.keys(RULE_VALUES) as RuleValueName[];

/** How a value of this kind is written, completing "... is not understood: ". */
export const ruleAdvice = ({ kind, choices }: RuleSpec): string => {
  switch (kind) {
    case 'duration':
      return 'write a time, in seconds or with its unit, such as 2, 500ms, 10m or 24h';
    case 'count':
      return 'write a whole number, or none';
    case 'switch':
      return 'write true or false';
    case 'choice':
      return `choose one of ${choices!.join(', ')}`;
    case 'headers':
      return 'write names and values, such as X-Purpose: research';
    default:
      return kind satisfies never;
  }
};

/** The value that a text in a file stands for; undefined when it stands for none. */
export const readRuleText = ({ kind, choices }: RuleSpec, text: string): unknown => {
  switch (kind) {
    case 'duration':
      return readDurationMs(text) ?? undefined;
    case 'count':
      return text === 'none' ? null : /^\d+$/.test(text) ? Number(text) : undefined;
    case 'choice':
      return choices!.includes(text) ? text : undefined;
    case 'switch':
    case 'headers':
      return undefined;
    default:
      return kind satisfies never;
  }
};

/** What is wrong with a list of rules, completing "sites ..."; null when nothing is. Names are looked at elsewhere. */
export const rulesComplaint = (rules: unknown): string | null => {
  if (!Array.isArray(rules)) return 'is not a list of rules';
  if (rules.length > SITE_RULES_MAX)
    return `has ${rules.length} rules, and ${SITE_RULES_MAX} are the most: rules for a domain hold for all hosts below it`;
  for (const rule of rules as readonly unknown[]) {
    if (typeof rule !== 'object' || rule === null || typeof (rule as SiteRule).name !== 'string')
      return 'has a rule without a name: give the domain or host that it is for';
    const why = ruleComplaint(rule as SiteRule);
    if (why !== null) return `"${(rule as SiteRule).name}": ${why}`;
  }
  return null;
};

/** What is wrong with one rule; null when nothing is. */
export const ruleComplaint = (rule: SiteRule): string | null => {
  for (const key of Object.keys(rule)) {
    if (key === 'name') continue;
    if (!Object.hasOwn(RULE_VALUES, key)) return `there is no value "${key}"`;
    const spec = RULE_VALUES[key as RuleValueName];
    const why = valueComplaint(spec, rule[key as RuleValueName]);
    if (why !== null) return `${spec.called} ${why}`;
  }
  return rule.robots === 'ignore' && rule.own !== true
    ? 'robots: ignore is for sites of your own: say own: true beside it, or omit it'
    : null;
};

/** What is wrong with one value, completing "delay ..."; null when nothing is. */
export const valueComplaint = (spec: RuleSpec, value: unknown): string | null => {
  switch (spec.kind) {
    case 'duration':
      return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? null : unclear(spec, value);
    case 'count':
      if (value === null) return null;
      return Number.isInteger(value) && (value as number) >= 1 ? null : unclear(spec, value);
    case 'switch':
      return typeof value === 'boolean' ? null : unclear(spec, value);
    case 'choice':
      return spec.choices!.includes(value as string) ? null : unclear(spec, value);
    case 'headers':
      return headersComplaint(spec, value);
    default:
      return spec.kind satisfies never;
  }
};

const unclear = (spec: RuleSpec, value: unknown): string =>
  `${JSON.stringify(value)} is not understood: ${ruleAdvice(spec)}`;

const headersComplaint = (spec: RuleSpec, value: unknown): string | null => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return unclear(spec, value);
  const fields = Object.entries(value);
  if (fields.length > RULE_HEADERS_MAX) return `has ${fields.length} fields, and ${RULE_HEADERS_MAX} are the most`;
  const seen = new Set<string>();
  for (const [name, text] of fields) {
    const why = ruleHeaderComplaint(name, text);
    if (why !== null) return why;
    if (seen.has(name.toLowerCase())) return `has ${name} twice`;
    seen.add(name.toLowerCase());
  }
  return null;
};

/** What is wrong with one header, completing "headers ..."; null when nothing is. */
export const ruleHeaderComplaint = (name: string, text: unknown): string | null =>
  typeof text === 'string'
    ? headerComplaint([name, text], 'is a secret, and rules are kept with the crawl: give it by --credentials FILE')
    : `${name} has no value: write a text`;

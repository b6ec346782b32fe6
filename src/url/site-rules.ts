/** Which rules hold for a host? The most specific rule that names a value gives it. */

import type { RuleValueName, SiteRule } from '../model/site-rules.ts';
import { rulesComplaint } from '../model/site-rules.ts';
import { readExcluded } from './seed.ts';
import { siteOf } from './site.ts';

/** The values in force for a host. */
export type RuleInForce = Omit<SiteRule, 'name'>;

export interface SiteRules {
  readonly size: number;
  /** The values for this canonical host; none that no rule names. */
  of(host: string): RuleInForce;
}

const NOTHING: RuleInForce = {};
export const NO_SITE_RULES: SiteRules = { size: 0, of: () => NOTHING };

/** The name of a rule in its canonical form, or why it is none: `why` completes "line 12: ...". */
export const readRuleName = (text: string): { readonly name: string } | { readonly why: string } => {
  const read = readExcluded(text);
  if (read.kind === 'name') return { name: read.name };
  return { why: read.kind === 'bad' ? read.why : `${JSON.stringify(text)} is not a domain or host` };
};

/** Why this rule cannot have the budget that it names; null when it can. */
export const budgetComplaint = ({ name, maxPages }: SiteRule): string | null => {
  const site = siteOf(name);
  return maxPages === undefined || site === name
    ? null
    : `max-pages is the budget of a site, and ${name} is a part of the site ${site}: say it for ${site}`;
};

/** Rules with canonical names, or what is wrong with them, completing "sites ...". */
export const canonicalRules = (rules: readonly SiteRule[]): readonly SiteRule[] | { readonly why: string } => {
  const why = rulesComplaint(rules);
  if (why !== null) return { why };
  const byName = new Map<string, SiteRule>();
  for (const rule of rules) {
    const read = readRuleName(rule.name);
    if ('why' in read) return read;
    const canonical = { ...rule, name: read.name };
    const complaint = budgetComplaint(canonical);
    if (complaint !== null) return { why: complaint };
    if (byName.has(read.name)) return { why: `has ${read.name} twice` };
    byName.set(read.name, canonical);
  }
  return [...byName.values()];
};

/** Made once per thread, of rules with canonical names. A look-up is one step for each label of the host. */
export const compileSiteRules = (rules: readonly SiteRule[] = []): SiteRules => {
  if (rules.length === 0) return NO_SITE_RULES;
  const merged = new Map<string, RuleInForce>();
  const of = (host: string): RuleInForce => {
    for (let name = host; ; ) {
      const found = merged.get(name);
      if (found) return found;
      const dot = name.indexOf('.');
      if (dot < 0) return NOTHING;
      name = name.slice(dot + 1);
    }
  };
  // Shorter names first: what a rule does not name, it has from the one above it.
  for (const { name, ...values } of rules.toSorted((a, b) => a.name.length - b.name.length))
    merged.set(name, { ...of(name), ...values });
  return { size: rules.length, of };
};

/** The rules that speak for a host, the most specific first. */
export const rulesFor = (rules: readonly SiteRule[], host: string): SiteRule[] =>
  rules
    .filter(({ name }) => host === name || host.endsWith(`.${name}`))
    .toSorted((a, b) => b.name.length - a.name.length);

/** A value with the name of the rule that gives it. */
export interface Given<Value> {
  readonly value: Value;
  readonly by: string;
}

/** A value in force for a host, and which rule gives it; null where none does. A budget is that of the site itself. */
export const valueFor = <Name extends RuleValueName>(
  rules: readonly SiteRule[] | undefined,
  host: string,
  name: Name,
): Given<NonNullable<SiteRule[Name]> | Extract<SiteRule[Name], null>> | null => {
  const site = siteOf(host);
  const speaking = rulesFor(rules ?? [], host).filter((rule) => name !== 'maxPages' || rule.name === site);
  const rule = speaking.find((one) => one[name] !== undefined);
  return rule ? { value: rule[name] as never, by: rule.name } : null;
};

/** Whether robots.txt is disregarded on this host, and by which rule. */
export const robotsIgnoredFor = (rules: readonly SiteRule[] | undefined, host: string): Given<true> | null => {
  const robots = valueFor(rules, host, 'robots');
  const isIgnored = robots?.value === 'ignore' && valueFor(rules, host, 'own')?.value === true;
  return isIgnored ? { value: true, by: robots.by } : null;
};

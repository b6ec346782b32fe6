/** `sites` in a `--config` file: a mapping of domains and hosts to what differs for them. */

import { UsageError } from '../model/read-settings.ts';
import {
  readRuleText,
  RULE_VALUE_NAMES,
  RULE_VALUES,
  ruleAdvice,
  ruleComplaint,
  rulesComplaint,
  valueComplaint,
  type RuleSpec,
  type RuleValueName,
  type SiteRule,
  ruleHeaderComplaint,
} from '../model/site-rules.ts';
import { writeSetting, type Written } from '../model/write-setting.ts';
import { budgetComplaint, readRuleName } from '../url/site-rules.ts';
import { isMapping, type Entry, type List, type Mapping, type Scalar } from './config-text.ts';
import { nearest } from '../lib/nearest.ts';

type AnyEntry = Entry<Scalar | List | Mapping>;

/** Throws a UsageError with the place of the first mistake. */
export const siteRulesOf = (entry: AnyEntry): readonly SiteRule[] => {
  const rules = new Map<string, SiteRule>();
  for (const one of mappingIn(entry, 'write domains or hosts, each with its values below it')) {
    const read = readRuleName(one.name);
    if ('why' in read) throw new UsageError(`${one.where}: ${read.why}`);
    const rule = ruleOf(read.name, one);
    if (rules.has(rule.name))
      throw new UsageError(`${one.where}: ${one.name} is given twice: both names are those of ${rule.name}`);
    rules.set(rule.name, rule);
  }
  const all = [...rules.values()];
  const why = rulesComplaint(all);
  if (why !== null) throw new UsageError(`${entry.where}: ${entry.name} ${why}`);
  return all;
};

/** The entries of a value that has to be a mapping. */
const mappingIn = (entry: AnyEntry, advice: string): Mapping['entries'] => {
  if (isMapping(entry)) return entry.value.entries;
  throw new UsageError(`${entry.value.where}: ${entry.name} has no names and values: ${advice}`);
};

const ruleOf = (name: string, entry: AnyEntry): SiteRule => {
  const values: Record<string, unknown> = {};
  for (const one of mappingIn(entry, 'write them below it, such as delay: 1s')) {
    const called = RULE_VALUE_NAMES.find((value) => RULE_VALUES[value].called === one.name);
    if (called === undefined) throw unknownValue(one);
    values[called] = RULE_VALUES[called].kind === 'headers' ? headersOf(one) : givenValue(RULE_VALUES[called], one);
  }
  const rule: SiteRule = { name, ...values };
  const why = ruleComplaint(rule) ?? budgetComplaint(rule);
  if (why !== null) throw new UsageError(`${entry.where}: ${entry.name}: ${why}`);
  return rule;
};

const unknownValue = ({ name, where }: AnyEntry): UsageError => {
  const known = RULE_VALUE_NAMES.map((value) => RULE_VALUES[value].called);
  const ofLibrary = RULE_VALUE_NAMES.find((value) => value === name);
  const best = ofLibrary === undefined ? nearest(name, known) : RULE_VALUES[ofLibrary].called;
  return new UsageError(
    `${where}: a site has no value ${JSON.stringify(name)}${best === null ? `: it is one of ${known.join(', ')}` : ` (did you mean ${best}?)`}`,
  );
};

const givenValue = (spec: RuleSpec, { name, value: given }: AnyEntry): unknown => {
  const wrong = (what: string): UsageError =>
    new UsageError(`${given.where}: ${name} ${what} is not understood: ${ruleAdvice(spec)}`);
  if (given.kind !== 'scalar') throw wrong('with more than one value');
  const { value, text } = given;
  if (value === null && text === '') throw new UsageError(`${given.where}: ${name} has no value: ${ruleAdvice(spec)}`);
  // As in a flag: what was written counts, so that 1e3 is no count.
  const isLifted = value === null && spec.kind === 'count';
  const read = spec.kind === 'switch' ? value : isLifted ? null : readRuleText(spec, text);
  if (read === undefined) throw wrong(JSON.stringify(value));
  const why = valueComplaint(spec, read);
  if (why !== null) throw new UsageError(`${given.where}: ${name} ${why}`);
  return read;
};

const headersOf = (entry: AnyEntry): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const { name, where, value } of mappingIn(entry, ruleAdvice(RULE_VALUES.headers))) {
    const text = value.kind === 'scalar' && value.value !== null ? value.text : null;
    const why = ruleHeaderComplaint(name, text);
    if (why !== null) throw new UsageError(`${where}: ${entry.name} ${why}`);
    headers[name] = text!;
  }
  return headers;
};

export type WrittenRule = Readonly<Record<string, Written | Readonly<Record<string, string>>>>;
export type WrittenRules = Readonly<Record<string, WrittenRule>>;

/** Rules as a file has them; they read back as the same rules. */
export const writeSiteRules = (rules: readonly SiteRule[]): WrittenRules =>
  Object.fromEntries(
    rules.map((rule) => [
      rule.name,
      Object.fromEntries(
        RULE_VALUE_NAMES.filter((value) => rule[value] !== undefined).map((value) => [
          RULE_VALUES[value].called,
          writeRuleValue(value, rule[value]),
        ]),
      ),
    ]),
  );

export const writeRuleValue = (name: RuleValueName, value: unknown): WrittenRule[string] =>
  name === 'delayMs' ? writeSetting('delayMs', value) : (value as WrittenRule[string]);

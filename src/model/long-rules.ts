/** Long rules travel by name: who needs their text asks for it once, and not with each of a thousand visits. */

import { hash } from 'node:crypto';
import type { RobotsRecord } from './robots.ts';

/**
 * Rules of more characters are named. Very few sites have so many; and the 500 visits of a claim carry 2 MiB at the
 * most, where whole rules of 500 KiB would be 250 MiB.
 */
export const RULES_CARRIED_MAX = 4 * 1024;

/** Stands for a text of rules. */
export interface RulesName {
  readonly digest: string;
}

/** A record as visits and settlements have it: with its rules, or the name of them. */
export interface CarriedRobots extends Omit<RobotsRecord, 'rules'> {
  readonly rules: string | RulesName;
}

export interface RulesText extends RulesName {
  readonly text: string;
}

/** A record as it is stored, and the text of its rules where that is stored by itself. */
export interface StoredRobots {
  readonly record: CarriedRobots;
  readonly long: RulesText | null;
}

/** 132 bits: nobody finds rules that have the digest of those of somebody else. */
const DIGEST_CHARS = 22;

/** Takes long rules out of a record. One that has only their name stays as it is: the store has the text. */
export const withoutLongRules = (record: CarriedRobots): StoredRobots => {
  const { rules } = record;
  if (typeof rules !== 'string' || rules.length <= RULES_CARRIED_MAX) return { record, long: null };
  const digest = hash('sha256', rules, 'base64url').slice(0, DIGEST_CHARS);
  return { record: { ...record, rules: { digest } }, long: { digest, text: rules } };
};

/** The digest of rules that are not in the record; null where they are. */
export const digestOf = ({ rules }: CarriedRobots): string | null => (typeof rules === 'string' ? null : rules.digest);

/** The record with its rules; null where they are not in it, and their text is not given either. */
export const withRules = (record: CarriedRobots, text: string | null): RobotsRecord | null => {
  const rules = typeof record.rules === 'string' ? record.rules : text;
  return rules === null ? null : { ...record, rules };
};

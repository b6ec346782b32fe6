/** The sites of a world: names, hosts, schemes, sizes and traits, all from the plan. */

import type { WorldPlan } from './plan.ts';
import type { Trait } from './traits.ts';
import { TRAITS, traitOf } from './traits.ts';
import { NAMES, PEOPLE } from './prose.ts';
import { mix, pick } from './random.ts';

export interface Site {
  readonly index: number;
  /** The registrable domain. */
  readonly name: string;
  /** The first is the main one; the bare name is always among them. */
  readonly hosts: readonly string[];
  readonly scheme: 'http' | 'https';
  readonly trait: Trait;
  /** How many articles it has, the front page included. */
  readonly pages: number;
  /** Counts the sites that can carry curios; -1 for those that cannot. */
  readonly ordinal: number;
  readonly seeded: boolean;
  /** A host of the site that resets every connection; empty when it has none. */
  readonly deadHost: string;
}

/** One in so many of the sites that can carry curios has a host that is dead. */
const DEAD_HOST_EVERY = 6;
/** Every fourth site is a seed; the three after it are linked from its front page only. */
export const SEED_EVERY = 4;

const SUFFIXES = ['example', 'co.uk', 'test', 'org', 'com.au', 'example', 'net', 'de', 'co.jp', 'test', 'fr'] as const;
/** Every so many sites one lies under a private suffix. */
const SHARED_HOST_EVERY = 6;
const SHARED_HOST = 'github.io';

export const isSeeded = (index: number): boolean => index % SEED_EVERY === 0;

const nameOf = (plan: WorldPlan, index: number): string => {
  const number = String(index).padStart(4, '0');
  const key = mix(plan.seed, index);
  return plan.oddities && index % SHARED_HOST_EVERY >= SHARED_HOST_EVERY - 2
    ? `${pick(PEOPLE, index)}-${number}.${SHARED_HOST}`
    : `${pick(NAMES, key)}-${number}.${pick(SUFFIXES, key >>> 8)}`;
};

const hostsOf = (name: string, index: number, trait: Trait): readonly string[] => {
  if (trait === 'robots-per-host') return [name, `blog.${name}`];
  if (name.endsWith(SHARED_HOST)) return [name];
  switch (index % 4) {
    case 0:
      return index % 8 === 0 ? [`www.${name}`, name, `blog.${name}`] : [name];
    case 1:
      return [`www.${name}`, name];
    case 2:
      return [name, `blog.${name}`, `shop.${name}`];
    default:
      return [name];
  }
};

const schemeOf = (plan: WorldPlan, index: number, trait: Trait): 'http' | 'https' => {
  if (!plan.https) return 'http';
  if (!plan.oddities) return 'https';
  if (trait !== 'plain') return TRAITS[trait].scheme ?? (mix(plan.seed, index + 1e6) % 10 < 7 ? 'https' : 'http');
  // Of each three seeds one is http: with a bare domain as its line, https fails there first.
  if (isSeeded(index)) return (index / SEED_EVERY) % 3 === 1 ? 'http' : 'https';
  return mix(plan.seed, index + 1e6) % 10 < 7 ? 'https' : 'http';
};

/** Spreads the pages with a heavy tail; the sum is exact unless the ceilings do not allow it. */
const sizesOf = (plan: WorldPlan, ceilings: readonly number[]): number[] => {
  let stride = Math.max(1, Math.round(plan.sites * 0.618));
  while (gcd(stride, plan.sites) !== 1) stride++;
  // Hot sites must not all be among the first, where the traits are.
  const weights = ceilings.map((_, i) => (((i * stride) % plan.sites) + 1) ** -0.8);
  const sizes = ceilings.map(() => 1);
  let left = plan.pages - plan.sites;
  while (left > 0) {
    const open = weights.reduce((sum, w, i) => sum + ((sizes[i] as number) < (ceilings[i] as number) ? w : 0), 0);
    if (open === 0) break;
    const share = left / open;
    const before = left;
    for (let i = 0; i < sizes.length && left > 0; i++) {
      const room = (ceilings[i] as number) - (sizes[i] as number);
      const more = Math.min(room, left, Math.floor((weights[i] as number) * share));
      sizes[i] = (sizes[i] as number) + more;
      left -= more;
    }
    // Too little is left to share: one more for each that has room, from the first.
    const stuck = before === left;
    for (let i = 0; stuck && left > 0 && i < sizes.length; i++) {
      if ((sizes[i] as number) >= (ceilings[i] as number)) continue;
      sizes[i] = (sizes[i] as number) + 1;
      left--;
    }
  }
  return sizes;
};

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

export const makeSites = (plan: WorldPlan): readonly Site[] => {
  const indices = Array.from({ length: plan.sites }, (_, i) => i);
  const traits = indices.map((i) =>
    plan.oddities && !isSeeded(i) ? traitOf(i - 1 - Math.floor(i / SEED_EVERY)) : 'plain',
  );
  const sizes = sizesOf(
    plan,
    traits.map((trait) => Math.min(TRAITS[trait].pagesMax ?? plan.sitePagesMax, plan.sitePagesMax)),
  );
  let carriers = 0;
  return indices.map((index) => {
    const trait = traits[index] as Trait;
    const name = nameOf(plan, index);
    const ordinal = plan.oddities && !TRAITS[trait].bare ? carriers++ : -1;
    return {
      index,
      name,
      hosts: hostsOf(name, index, trait),
      scheme: schemeOf(plan, index, trait),
      trait,
      pages: sizes[index] as number,
      ordinal,
      seeded: isSeeded(index),
      deadHost: ordinal >= 0 && ordinal % DEAD_HOST_EVERY === 1 ? `old.${name}` : '',
    };
  });
};

export const originOf = (site: Site, host = 0): string => `${site.scheme}://${site.hosts[host] as string}`;

/** Which links are wanted? */

import { blockedService } from '../model/blocked-ports.ts';
import type { Link } from '../model/link.ts';
import type { ScopeRefusal } from '../model/outcome.ts';
import { portOf, type Address } from './canonical.ts';
import { namesFile } from './ending.ts';
import type { SiteSet } from './site-set.ts';
import { isTrap } from './trap.ts';

export interface ScopeRules {
  readonly depthMax: number | null;
  /** The sites of the seeds, to stay on them. */
  readonly seeded: SiteSet | null;
  /** Sites and hosts never to call. */
  readonly excluded: SiteSet | null;
  /** Whether files of this ending are wanted; without it, none that are not text. */
  readonly wantsEnding?: (ending: string) => boolean;
}

export interface Scope {
  /** Why the link is not wanted; null when it is. */
  judge(address: Address, site: string, depth: number): ScopeRefusal | null;
}

/** Why this link is not wanted. A sitemap may be a packed file, which nothing else may. */
export const judgeLink = (scope: Scope, address: Address, link: Link): ScopeRefusal | null => {
  const refusal = scope.judge(address, link.site, link.depth);
  return refusal === 'not-text' && link.sitemap ? null : refusal;
};

/** What a person said comes before what we guess, so that the name given is the one they expect. */
export const createScope = ({ depthMax, seeded, excluded, wantsEnding }: ScopeRules): Scope => ({
  judge(address, site, depth) {
    if (depthMax !== null && depth > depthMax) return 'too-deep';
    if (excluded?.hasHostOrParent(address.host)) return 'excluded';
    if (seeded !== null && !seeded.has(site)) return 'not-seeded';
    if (hasBlockedPort(address)) return 'blocked-port';
    if (namesFile(address.path, wantsEnding)) return 'not-text';
    if (isTrap(address.path)) return 'trap';
    return null;
  },
});

/** Most addresses have no port of their own, and this is asked for each. */
const hasBlockedPort = (address: Address): boolean => {
  const port = portOf(address);
  return port !== null && blockedService(port) !== null;
};

/** Which links are wanted? */

import { blockedService } from '../model/blocked-ports.ts';
import type { Link } from '../model/link.ts';
import type { ScopeRefusal } from '../model/outcome.ts';
import { portOf, type Address } from './canonical.ts';
import { namesFile } from './ending.ts';
import type { Homes } from './homes.ts';
import type { LinkPatterns } from './link-patterns.ts';
import type { SiteSet } from './site-set.ts';
import { isTrap } from './trap.ts';

export interface ScopeRules {
  readonly depthMax: number | null;
  /** Where the seeds are at home, to stay there; asked each time, because a seed that moves takes its home along. */
  readonly homes: (() => Homes) | null;
  /** Sites and hosts never to call. */
  readonly excluded: SiteSet | null;
  /** Links never to follow. */
  readonly exclude: LinkPatterns | null;
  /** The only links to follow. */
  readonly include: LinkPatterns | null;
  /** Whether files of this ending are wanted; without it, none that are not text. */
  readonly wantsEnding?: (ending: string) => boolean;
}

/** Every link is wanted that our own guesses do not refuse. */
export const NO_RULES: ScopeRules = { depthMax: null, homes: null, excluded: null, exclude: null, include: null };

export interface Scope {
  /** Why the link is not wanted; null when it is. A sitemap may lie beside what is wanted, and be a packed file. */
  judge(address: Address, site: string, depth: number, isSitemap?: boolean): ScopeRefusal | null;
}

/** Why this link is not wanted. */
export const judgeLink = (scope: Scope, address: Address, { site, depth, sitemap }: Link): ScopeRefusal | null =>
  scope.judge(address, site, depth, sitemap !== undefined);

/** What a person said comes before what we guess, so that the name given is the one they expect. */
export const createScope = ({ depthMax, homes, excluded, exclude, include, wantsEnding }: ScopeRules): Scope => ({
  judge(address, site, depth, isSitemap = false) {
    if (depthMax !== null && depth > depthMax) return 'too-deep';
    if (excluded?.hasHostOrParent(address.host) || exclude?.match(address)) return 'excluded';
    // A seed is wanted where it is, and where it leads.
    if (depth > 0) {
      if (homes && !homes().cover(address, site) && !(isSitemap && homes().touch(site))) return 'out-of-scope';
      if (include && !isSitemap && !include.match(address)) return 'not-included';
    }
    if (hasBlockedPort(address)) return 'blocked-port';
    if (!isSitemap && namesFile(address.path, wantsEnding)) return 'not-text';
    if (isTrap(address.path)) return 'trap';
    return null;
  },
});

/** Most addresses have no port of their own, and this is asked for each. */
const hasBlockedPort = (address: Address): boolean => {
  const port = portOf(address);
  return port !== null && blockedService(port) !== null;
};

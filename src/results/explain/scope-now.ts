/** What do the scope rules now in force say to one address, and which of them says it? */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredCrawl } from '../../contract/stored-crawl.ts';
import type { Link } from '../../model/link.ts';
import { portComplaint } from '../../model/blocked-ports.ts';
import { SCOPE_REFUSALS, type ScopeRefusal } from '../../model/outcome.ts';
import type { Settings } from '../../model/settings.ts';
import { portOf, type Address } from '../../url/canonical.ts';
import { createPatterns } from '../../url/link-patterns.ts';
import { judgeLink } from '../../url/scope.ts';
import { scopeOf } from '../../url/scope-of.ts';
import { FILES } from '../../folder/folder.ts';
import { homesNow } from '../../folder/home-notes.ts';
import { excludedSites } from '../../folder/seeds.ts';

export interface ScopeAnswer {
  readonly refusal: ScopeRefusal;
  /** Completes "it is not wanted: ...". */
  readonly says: string;
  /** The flag of a resume that would take it; null where there is none. */
  readonly widen: string | null;
}

export interface ScopeQuestion {
  readonly dir: string;
  readonly settings: Settings;
  readonly crawl: StoredCrawl;
  readonly address: Address;
  /** As the crawl has it, or as it would have it. */
  readonly link: Link;
}

/** Null when the link is wanted. */
export const scopeNow = async (question: ScopeQuestion): Promise<ScopeAnswer | null> => {
  const { dir, settings, address, link, crawl } = question;
  const homes = await homesNow(dir, settings, crawl);
  const scope = scopeOf(settings, homes && (() => homes), excludedSites(dir));
  const refusal = judgeLink(scope, address, link);
  const isSeeded = homes?.touch(link.site) === true;
  return refusal && { refusal, says: saysOf(refusal, question), widen: widenFor(refusal, link.depth, isSeeded) };
};

const widenFor = (refusal: ScopeRefusal, depth: number, isSeeded: boolean): string | null => {
  if (refusal === 'too-deep') return `--max-depth ${depth}`;
  return refusal === 'out-of-scope' ? `--scope ${isSeeded ? 'site' : 'any'}` : null;
};

const saysOf = (refusal: ScopeRefusal, { dir, settings, address, link }: ScopeQuestion): string => {
  switch (refusal) {
    case 'excluded': {
      const pattern = createPatterns(settings.exclude ?? [])?.match(address);
      if (pattern) return `--exclude ${pattern} matches it`;
      const by = excludedBy(dir, address.host);
      return by ? `line ${by.line} of ${join(dir, FILES.excluded)} excludes ${by.name}` : SCOPE_REFUSALS[refusal];
    }
    case 'out-of-scope':
      return settings.scope === 'any'
        ? `seeds on its site ${link.site} have a scope of their own, and it lies outside of it`
        : `--scope is ${settings.scope}, and no seed is at home there`;
    case 'not-included':
      return `no --include matches it: ${settings.include.join(', ')}`;
    case 'too-deep':
      return `it is at depth ${link.depth}, and --max-depth is ${settings.maxDepth}`;
    case 'blocked-port':
      return `its ${portComplaint(portOf(address))}`;
    default:
      return SCOPE_REFUSALS[refusal];
  }
};

/** The first line that covers the host: itself, or a name it lies below. */
const excludedBy = (dir: string, host: string): { name: string; line: number } | null => {
  const names = readFileSync(join(dir, FILES.excluded), 'utf8').split('\n');
  const at = names.findIndex((name) => name !== '' && (host === name || host.endsWith(`.${name}`)));
  return at < 0 ? null : { name: names[at]!, line: at + 1 };
};

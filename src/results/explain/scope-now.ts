/** What do the scope rules now in force say to one address, and which of them says it? */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bodyTypesOf, TEXT_KINDS } from '../../model/body-types.ts';
import type { Link } from '../../model/link.ts';
import { portComplaint } from '../../model/blocked-ports.ts';
import { SCOPE_REFUSALS, type ScopeRefusal } from '../../model/outcome.ts';
import type { Settings } from '../../model/settings.ts';
import { portOf, type Address } from '../../url/canonical.ts';
import { createScope, judgeLink } from '../../url/scope.ts';
import { FILES } from '../../folder/folder.ts';
import { excludedSites, seededSites } from '../../folder/seeds.ts';

export interface ScopeAnswer {
  readonly refusal: ScopeRefusal;
  /** Completes "it is not wanted: ...". */
  readonly says: string;
}

export interface ScopeQuestion {
  readonly dir: string;
  readonly settings: Settings;
  readonly address: Address;
  /** As the crawl has it, or as it would have it. */
  readonly link: Link;
}

/** Null when the link is wanted. */
export const scopeNow = async ({ dir, settings, address, link }: ScopeQuestion): Promise<ScopeAnswer | null> => {
  const scope = createScope({
    depthMax: settings.maxDepth,
    seeded: settings.seededOnly ? await seededSites(dir) : null,
    excluded: excludedSites(dir),
    wantsEnding: bodyTypesOf(settings.types ?? TEXT_KINDS).wantsEnding,
  });
  const refusal = judgeLink(scope, address, link);
  return refusal && { refusal, says: saysOf(refusal, { dir, settings, address, link }) };
};

const saysOf = (refusal: ScopeRefusal, { dir, settings, address, link }: ScopeQuestion): string => {
  switch (refusal) {
    case 'excluded': {
      const by = excludedBy(dir, address.host);
      return by ? `line ${by.line} of ${join(dir, FILES.excluded)} excludes ${by.name}` : SCOPE_REFUSALS[refusal];
    }
    case 'not-seeded':
      return `its site ${link.site} is not one of the seeds, and --seeded-only is set`;
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

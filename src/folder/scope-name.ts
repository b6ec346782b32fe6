/** A name for the scope of a crawl: links that it refused are kept under it, and judged again by any other. */

import type { InForce } from '../model/crawl-change.ts';
import type { Settings } from '../model/settings.ts';
import { fingerprint } from '../url/fingerprint.ts';
import { readIdentity } from './folder.ts';
import { excludedNames } from './seeds.ts';

/** What decides which links are wanted, beside the seeds and the exclude file. */
export type ScopeSettings = Pick<Settings, 'scope' | 'maxDepth' | 'include' | 'exclude' | 'types' | 'sites'>;

/** All members of a crawl have the same name for the same scope: it depends on nothing that one of them has alone. */
export const scopeName = (
  settings: ScopeSettings,
  { excluded, seeds }: Pick<InForce, 'excluded' | 'seeds'>,
): string => {
  const { scope = 'any', maxDepth, include = [], exclude = [], types = [], sites = [] } = settings;
  const scopes = sites.map((rule) => [rule.name, rule.scope ?? null]);
  const all = [scope, maxDepth, include, exclude, types, scopes, excluded, seeds];
  return fingerprint(JSON.stringify(all)).toString(16).padStart(16, '0');
};

/** The name as far as the directory knows. */
export const scopeNameIn = (dir: string, settings: ScopeSettings): string =>
  scopeName(settings, { excluded: excludedNames(dir), seeds: readIdentity(dir).journal?.seeds ?? 0 });

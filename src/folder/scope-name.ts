/** A name for the scope of a crawl: links that it refused are kept under it, and judged again by any other. */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../model/settings.ts';
import { fingerprint } from '../url/fingerprint.ts';
import { FILES } from './folder.ts';

/** What decides which links are wanted, beside the seeds and the exclude file. */
export type ScopeSettings = Pick<Settings, 'scope' | 'maxDepth' | 'include' | 'exclude' | 'types' | 'sites'>;

export const scopeName = (dir: string, settings: ScopeSettings): string => {
  const { scope = 'any', maxDepth, include = [], exclude = [], types = [], sites = [] } = settings;
  const excluded = join(dir, FILES.excluded);
  const seeds = join(dir, FILES.seeds);
  const scopes = sites.map((rule) => [rule.name, rule.scope ?? null]);
  const all = [
    ...[scope, maxDepth, include, exclude, types, scopes],
    existsSync(excluded) ? readFileSync(excluded, 'utf8') : '',
    // More seeds are more homes; a million lines are not read for it.
    existsSync(seeds) ? statSync(seeds).size : 0,
  ];
  return fingerprint(JSON.stringify(all)).toString(16).padStart(16, '0');
};

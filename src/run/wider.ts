/** Has a scope become wider? Then links that it refused before may be wanted now. */

import type { InForce } from '../model/crawl-change.ts';
import type { ScopeSettings } from '../folder/scope-name.ts';
import { SCOPE_KINDS } from '../model/scope-kind.ts';

/** True also where it cannot be told: reading pages again finds nothing then, and does no harm. */
export const isWider = (was: Partial<ScopeSettings>, is: ScopeSettings): boolean =>
  (was.maxDepth != null && (is.maxDepth === null || is.maxDepth > was.maxDepth)) ||
  SCOPE_KINDS.indexOf(is.scope) > SCOPE_KINDS.indexOf(was.scope ?? 'any') ||
  lostSome(was.exclude, is.exclude) ||
  // With none at all, everything is included.
  ((was.include ?? []).length > 0 && (is.include.length === 0 || lostSome(is.include, was.include))) ||
  (was.types !== undefined && lostSome(is.types, was.types)) ||
  JSON.stringify(scopesOf(was)) !== JSON.stringify(scopesOf(is));

/** Whether something of the first list is not in the second. */
const lostSome = (first: readonly string[] = [], second: readonly string[] = []): boolean =>
  first.some((one) => !second.includes(one));

const scopesOf = ({ sites = [] }: Partial<ScopeSettings>): unknown =>
  sites.filter(({ scope }) => scope !== undefined).map(({ name, scope }) => [name, scope]);

/** What decides which links are wanted, the lists included. */
export interface Wants {
  readonly settings: ScopeSettings;
  readonly inForce: Pick<InForce, 'excluded' | 'seeds'>;
}

/** Whether links may be wanted now that were not when the pages which have them were fetched. */
export const wantsMore = (was: Wants, now: Wants): boolean => {
  const kept = new Set(now.inForce.excluded);
  return (
    isWider(was.settings, now.settings) ||
    was.inForce.excluded.some((name) => !kept.has(name)) ||
    now.inForce.seeds > was.inForce.seeds
  );
};

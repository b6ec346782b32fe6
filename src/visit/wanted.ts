/** Is a leased link still wanted? The scope may have changed since it was admitted. */

import type { Link } from '../model/link.ts';
import type { ScopeRefusal } from '../model/outcome.ts';
import type { Address } from '../url/canonical.ts';
import { judgeLink } from '../url/scope.ts';
import type { VisitParts } from './parts.ts';

/** Why it is not; null when it is. */
export const refusalOf = async (
  { scope, homes }: Pick<VisitParts, 'scope' | 'homes'>,
  link: Link,
  address: Address,
): Promise<ScopeRefusal | null> => {
  // A seed that was redirected: what is around it belongs to the scope before any of its links is judged.
  if (link.depth === 0 && link.hops > 0) await homes?.move(link.via, link.url);
  const refusal = judgeLink(scope, address, link);
  if (refusal !== 'out-of-scope' || !homes) return refusal;
  // It may lie in a home that another member has just found.
  await homes.refresh();
  return judgeLink(scope, address, link);
};

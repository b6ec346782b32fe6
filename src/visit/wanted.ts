/** Is a leased link still wanted? The scope may have changed since it was admitted. */

import type { Link } from '../model/link.ts';
import type { ScopeRefusal } from '../model/outcome.ts';
import type { Address } from '../url/canonical.ts';
import { judgeLink } from '../url/scope.ts';
import type { VisitParts } from './parts.ts';
import type { Destination } from '../model/settlement.ts';
import type { Visit } from '../model/visit.ts';
import { refusedQueue } from '../url/side-queue.ts';

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

/** What a person said, and may say otherwise tomorrow. */
const FOR_NOW: ReadonlySet<ScopeRefusal> = new Set([
  'too-deep',
  'out-of-scope',
  'excluded',
  'not-included',
  'not-text',
]);

/** How a visit ends whose link the scope of this name refuses: it is held until the scope is another. Else null. */
export const refusedFor = ({ site, claimedAt }: Visit, refusal: ScopeRefusal, scopeName: string) => {
  if (!FOR_NOW.has(refusal)) return null;
  const to: Destination = {
    queue: refusedQueue(site, scopeName),
    first: false,
    pace: { dueAt: claimedAt, delayMs: 0, crawlDelayMs: 0, responseMs: 0, failures: 0 },
    parked: false,
    held: true,
    isNews: true,
  };
  return { fate: 'returned', event: { kind: 'no-request' }, to } as const;
};

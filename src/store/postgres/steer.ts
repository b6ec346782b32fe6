/** What a person or the supervisor changes. */

import type { Change } from '../../contract/store.ts';
import { SITE_STATE } from '../site-state.ts';
import type { Session } from './session.ts';
import { jsonOf } from './values.ts';

/** Sites of one transaction: others wait for no more than these. */
const SITES_AT_ONCE = 500;
/** Below every id. */
const FIRST = String(-(2n ** 63n));

/** In their order. An order that touches many sites is many steps; one that is broken off is given again. */
export const steer = async (session: Session, changes: readonly Change[]): Promise<void> => {
  const { call, member, run, book, dueHints, at } = session;
  for (let i = 0; i < changes.length; ) {
    const many = asideOf(changes[i]!);
    if (many) {
      await bringBack(session, many);
      i++;
      continue;
    }
    const next = changes.findIndex((change, n) => n > i && asideOf(change) !== null);
    const some = changes.slice(i, next === -1 ? changes.length : next);
    await call('steer', [member, run, jsonOf(some.map((change) => toWritten(session, change))), at()]);
    for (const change of some) if (change.kind === 'free') book.died(change.holder);
    i += some.length;
  }
  if (changes.length > 0) dueHints.forget(null);
};

/** What bring_back takes: the state of the sites, its name in counters, page limits, and a scope. */
type Aside = readonly [
  state: number,
  name: string,
  pagesMax: number | null,
  budgets: string | null,
  scope: string | null,
];

/** Null for a change that touches few rows. */
const asideOf = (change: Change): Aside | null => {
  switch (change.kind) {
    case 'retry-parked':
      return [SITE_STATE.parked, 'parked', null, null, null];
    case 'release-held': {
      const { all, sites } = change.sitePagesMax;
      return [SITE_STATE.held, 'held', all, sites ? jsonOf(sites) : null, null];
    }
    case 'release-refused':
      return [SITE_STATE.held, 'held', null, null, change.scope];
    default:
      return null;
  }
};

const bringBack = async ({ call, member, run, at }: Session, aside: Aside): Promise<void> => {
  for (let after: string = FIRST; ; ) {
    const [row]: { last: string | null }[] = await call('bring_back', [
      member,
      run,
      ...aside,
      after,
      SITES_AT_ONCE,
      at(),
    ]);
    if (row!.last === null) return;
    after = row!.last;
  }
};

/** A lease has its name in the store. */
const toWritten = ({ book }: Session, change: Change): object =>
  change.kind === 'free' && change.culprit !== undefined
    ? { ...change, culprit: `${book.run()}.${change.culprit}` }
    : change;

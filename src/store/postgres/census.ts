/** The state of the crawl as the function `census` gives it. */

import type { Census } from '../../model/census.ts';
import type { Connection } from './connection.ts';
import type { Session } from './session.ts';

interface CensusRow extends Pick<Census, 'now' | 'marks' | 'sitesDue' | 'next'> {
  readonly counters: Readonly<Record<string, number>> | null;
  /** Null for a member that is not there. */
  readonly archive: Census['archive'] | null;
}

const SETTLED = 'settled ';

const toCensus = ({ counters, archive, ...row }: CensusRow): Census => {
  const count = (name: string): number => counters?.[name] ?? 0;
  const settled = Object.entries(counters ?? {}).filter(([name]) => name.startsWith(SETTLED));
  return {
    ...row,
    waiting: count('waiting'),
    leased: count('leased'),
    parked: count('parked'),
    held: count('held'),
    settled: Object.fromEntries(settled.map(([name, n]) => [name.slice(SETTLED.length), n])),
    forgotten: count('forgotten'),
    pages: count('pages'),
    sites: { known: count('sites'), parked: count('sites_parked'), held: count('sites_held') },
    changes: count('changes'),
    archive: archive ?? { file: '', bytes: 0 },
    archivedBytes: count('archived'),
  };
};

/** What is due is looked for no more often, where time goes by itself: it costs more than all the rest. */
const DUE_MS = 2_000;

/** Censuses for the process that works on the crawl: several a second, each from counters. */
export const createCensus = (session: Session): (() => Promise<Census>) => {
  const { call, member, at, elapsed } = session;
  let due: Pick<Census, 'sitesDue' | 'next'> = { sitesDue: 0, next: null };
  let lookedAt = -Infinity;
  return async () => {
    const isDue = at() !== null || elapsed() - lookedAt >= DUE_MS;
    if (isDue) lookedAt = elapsed();
    const [row] = await call<CensusRow>('census', [member, isDue, at()]);
    if (isDue) due = { sitesDue: row!.sitesDue, next: row!.next };
    const counted = toCensus({ ...row!, ...due });
    // While the crawl is shut it may lack links that a member will send again: no two censuses are the same then.
    const census = session.trouble === null ? counted : { ...counted, changes: Number.NaN };
    return census.waiting > 0 ? census : { ...census, sitesDue: 0, next: null };
  };
};

/** The census for people, with the end of this member's archive. */
export const readCensus = async ({ rows, options }: Connection): Promise<Census> =>
  toCensus((await rows<CensusRow>('SELECT * FROM @crawl.census($1, true, NULL)', [options.member]))[0]!);

/** The state of the crawl as the function `census` gives it. */

import type { Census } from '../../model/census.ts';
import type { Connection } from './connection.ts';

export interface CensusRow extends Pick<Census, 'now' | 'marks' | 'sitesDue' | 'next'> {
  readonly counters: Readonly<Record<string, number>> | null;
  /** Null for a member that is not there. */
  readonly archive: Census['archive'] | null;
}

const SETTLED = 'settled ';

export const toCensus = ({ counters, archive, ...row }: CensusRow): Census => {
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

/** The census for people, with the end of this member's archive. */
export const readCensus = async ({ rows, options }: Connection): Promise<Census> =>
  toCensus((await rows<CensusRow>('SELECT * FROM @crawl.census($1, NULL)', [options.member]))[0]!);

/** The state of the crawl from its counters, and from the due index up to a ceiling. */

import { SITES_DUE_COUNTED_MAX, type Census } from '../../model/census.ts';
import type { Book } from './book.ts';
import { SETTINGS, SITE_READY } from './schema.ts';

export const censusFunction = (s: string): string => `
  CREATE FUNCTION ${s}.census(_member text, _shards int, _at float8, OUT now_at float8, OUT counters json, OUT marks json, OUT sites_due int,
    OUT next_site text, OUT next_due_at float8, OUT next_failures int, OUT archive_file text, OUT archive_bytes bigint)
  LANGUAGE plpgsql ${SETTINGS} AS $$
  #variable_conflict use_column
  BEGIN
    now_at := ${s}.moment(_at);
    -- One statement: the counters and the sites of one moment.
    SELECT (SELECT json_object_agg(c.name, c.n) FROM (SELECT t.name, sum(t.n) AS n FROM ${s}.tally t GROUP BY t.name) c),
      (SELECT json_object_agg(m.name, m.value) FROM ${s}.mark m),
      (SELECT count(*) FROM (
        SELECT FROM generate_series(0, _shards - 1) AS q(shard) CROSS JOIN LATERAL (
          SELECT FROM ${s}.site k WHERE k.shard = q.shard AND k.state = ${SITE_READY} AND k.due_at <= now_at LIMIT ${SITES_DUE_COUNTED_MAX}
        ) d LIMIT ${SITES_DUE_COUNTED_MAX}) due),
      m.archive_file, m.archive_bytes
    INTO counters, marks, sites_due, archive_file, archive_bytes FROM (SELECT) one
      LEFT JOIN ${s}.member m ON m.name = coalesce(_member, (SELECT min(o.name) FROM ${s}.member o HAVING count(*) = 1));
    IF sites_due > 0 THEN RETURN; END IF;
    SELECT n.name, n.due_at, n.failures INTO next_site, next_due_at, next_failures
    FROM generate_series(0, _shards - 1) AS q(shard) CROSS JOIN LATERAL (
      SELECT k.name, k.due_at, k.failures FROM ${s}.site k WHERE k.shard = q.shard AND k.state = ${SITE_READY} ORDER BY k.due_at LIMIT 1) n
    ORDER BY n.due_at LIMIT 1;
  END $$;
`;

interface CensusRow {
  readonly now_at: number;
  readonly counters: Readonly<Record<string, number>> | null;
  readonly marks: Readonly<Record<string, number>> | null;
  readonly sites_due: number;
  readonly next_site: string | null;
  readonly next_due_at: number;
  readonly next_failures: number;
  readonly archive_file: string | null;
  readonly archive_bytes: number | null;
}

const SETTLED = 'settled ';

/** The end of the archive is the member's; where nobody is asked for, that of the only one, or none. */
export const census = async ({
  call,
  member,
  shards,
  at,
}: Pick<Book, 'call' | 'shards' | 'at'> & { readonly member: string | null }): Promise<Census> => {
  const [row] = await call<CensusRow>('census', [member, shards, at()]);
  const { counters, marks, ...now } = row!;
  const count = (name: string): number => counters?.[name] ?? 0;
  const settled = Object.entries(counters ?? {})
    .filter(([name]) => name.startsWith(SETTLED))
    .map(([name, n]) => [name.slice(SETTLED.length), n]);
  return {
    now: now.now_at,
    waiting: count('waiting'),
    leased: count('leased'),
    parked: count('parked'),
    held: count('held'),
    settled: Object.fromEntries(settled) as Census['settled'],
    forgotten: count('forgotten'),
    pages: count('pages'),
    sites: { known: count('sites'), parked: count('sites_parked'), held: count('sites_held') },
    sitesDue: now.sites_due,
    next: now.next_site === null ? null : { site: now.next_site, dueAt: now.next_due_at, failures: now.next_failures },
    changes: count('changes'),
    archive: { file: now.archive_file ?? '', bytes: now.archive_bytes ?? 0 },
    archivedBytes: count('archived'),
    marks: marks ?? {},
  };
};

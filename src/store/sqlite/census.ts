/** The state of the crawl from its counters, and from the due index up to a ceiling. */

import { SITES_DUE_COUNTED_MAX, type Census } from '../../model/census.ts';
import type { Book } from './book.ts';
import { SITE_WAITING } from './schema.ts';
import type { Tally } from './tally.ts';

const AT_REST = `shard = ? AND state = ${SITE_WAITING}`;
const DUE_SQL = `SELECT count(*) AS n FROM (SELECT 1 FROM site WHERE ${AT_REST} AND due_at <= ? LIMIT ?)`;
const NEXT_SQL = `SELECT name, due_at, failures FROM site WHERE ${AT_REST} ORDER BY due_at LIMIT 1`;

export const censusOf = (
  sql: Book['sql'],
  { tally, shards, now }: { tally: Tally; shards: number; now: number },
): Census => {
  let sitesDue = 0;
  let next: Census['next'] = null;
  for (let shard = 0; shard < shards; shard++) {
    const row = sql(NEXT_SQL).get(shard) as { name: string; due_at: number; failures: number } | undefined;
    if (!row) continue;
    if (next === null || row.due_at < next.dueAt) next = { site: row.name, dueAt: row.due_at, failures: row.failures };
    if (row.due_at > now) continue;
    const room = SITES_DUE_COUNTED_MAX - sitesDue;
    if (room > 0) sitesDue += (sql(DUE_SQL).get(shard, now, room) as { n: number }).n;
  }
  const { waiting, leased, parked, held, settled, forgotten, pages, changes, archive, archivedBytes, marks } = tally;
  return {
    now,
    waiting,
    leased,
    parked,
    held,
    settled: { ...settled },
    forgotten,
    pages,
    sites: { known: tally.sites, parked: tally.sitesParked, held: tally.sitesHeld },
    sitesDue,
    next: sitesDue > 0 ? null : next,
    changes,
    archive,
    archivedBytes,
    marks: { ...marks },
  };
};

/** The state of the crawl from its counters, and from the due index up to a ceiling. */

import { SITES_DUE_COUNTED_MAX, type Census } from '../../model/census.ts';
import { SITE_STATE } from '../site-state.ts';
import type { Session } from './session.ts';

const OF_SHARD = `FROM site WHERE shard = ? AND state = ${SITE_STATE.waiting}`;
const DUE_SQL = `SELECT count(*) AS n FROM (SELECT 1 ${OF_SHARD} AND due_at <= ? LIMIT ?)`;
const NEXT_SQL = `SELECT name, due_at, failures ${OF_SHARD} ORDER BY due_at LIMIT 1`;

export const censusOf = ({ sql, tally, shards }: Pick<Session, 'sql' | 'tally' | 'shards'>, now: number): Census => {
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
  const { sites: known, sitesParked: parked, sitesHeld: held, lease: _, moment: __, ...counters } = tally;
  return {
    now,
    ...counters,
    settled: { ...tally.settled },
    marks: { ...tally.marks },
    sites: { known, parked, held },
    sitesDue,
    next: sitesDue > 0 ? null : next,
  };
};

/** Leases due sites, one link each. */

import type { Ask, Claimed } from '../../contract/store.ts';
import { pagesMaxOf } from '../../model/site-budget.ts';
import type { Visit } from '../../model/visit.ts';
import { SITE_STATE } from '../site-state.ts';
import { writeWaiting } from '../waiting-text.ts';
import { lastEntry } from './journal.ts';
import { takeFirst } from './queue.ts';
import { readRobots } from './robots.ts';
import type { Session } from './session.ts';
import { sqlFile } from './statements.ts';

type DueRow = readonly [
  id: number,
  site: string,
  waiting: number,
  pages: number,
  dueAt: number,
  delayMs: number,
  crawlDelayMs: number,
  responseMs: number,
  failures: number,
  queue: string,
  headAt: number,
];

export const DUE_SQL = sqlFile('due');
const LEASE_SQL = sqlFile('lease');
const NEXT_SQL = `SELECT due_at FROM site WHERE shard = ? AND state = ${SITE_STATE.waiting} ORDER BY due_at LIMIT 1`;

export const claim = (session: Session, ask: Ask): Claimed => {
  const now = session.clock.now();
  const visits: Visit[] = [];
  const room = roomFor(session, ask);
  const turn = session.turn++;
  let nextDueAt = Infinity;
  for (let i = 0; i < ask.shards.length; i++) {
    const shard = ask.shards[(turn + i) % ask.shards.length]!;
    while (visits.length < room && session.notBefore[shard]! <= now) {
      const wanted = room - visits.length;
      const due = session.sql(DUE_SQL, 'arrays').all(shard, now, wanted) as unknown as DueRow[];
      for (const row of due) {
        if (row[3] >= (pagesMaxOf(ask.sitePagesMax, row[1]) ?? Infinity)) hold(session, row);
        else visits.push(lease(session, row, { ask, now }));
      }
      if (due.length < wanted) session.notBefore[shard] = nextDue(session, shard);
    }
    nextDueAt = Math.min(nextDueAt, Math.max(session.notBefore[shard]!, now));
  }
  if (visits.length > 0) session.tally.changes++;
  const next = nextDueAt === Infinity ? null : nextDueAt;
  return { visits, nextDueAt: next, entry: lastEntry(session.sql), term: 0 };
};

/** Leases under way may each become a page: they count against the limit as if they had. */
const roomFor = ({ tally }: Session, ask: Ask): number =>
  ask.pagesMax === null ? ask.visits : Math.min(ask.visits, ask.pagesMax - tally.pages - tally.leased);

const nextDue = ({ sql }: Session, shard: number): number =>
  (sql(NEXT_SQL).get(shard) as { due_at: number } | undefined)?.due_at ?? Infinity;

const hold = ({ sql, tally }: Session, [id, , waiting]: DueRow): void => {
  sql(`UPDATE site SET state = ${SITE_STATE.held} WHERE id = ?`).run(id);
  tally.waiting -= waiting;
  tally.held += waiting;
  tally.sitesHeld++;
  tally.changes++;
};

const lease = (session: Session, row: DueRow, { ask, now }: { ask: Ask; now: number }): Visit => {
  const { sql, tally } = session;
  const [id, site, , , dueAt, formerDelayMs, crawlDelayMs, responseMs, failures, queue, headAt] = row;
  const ends = { queue, head_at: headAt };
  const { link, tries: formerTries } = takeFirst(session, ends, site);
  const number = ++tally.lease;
  const tries = formerTries + 1;
  const delayMs = Math.max(formerDelayMs, ask.delayMs);
  // The clock moves before the request leaves: whatever happens to this visit, the site is not early.
  sql(LEASE_SQL).run(
    id,
    ends.queue,
    ends.head_at,
    now + delayMs,
    delayMs,
    number,
    ask.holder,
    writeWaiting({ link, tries }),
    link.via,
  );
  tally.waiting--;
  tally.leased++;
  return {
    site,
    lease: number,
    link,
    tries,
    claimedAt: now,
    leaseUntil: null, // one process owns this store
    pace: { dueAt, delayMs: formerDelayMs, crawlDelayMs, responseMs, failures },
    robots: readRobots(session, new URL(link.url).origin),
  };
};

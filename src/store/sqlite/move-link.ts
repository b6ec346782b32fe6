/** Puts a link whose visit has ended into another queue of its site. */

import type { Destination } from '../../model/settlement.ts';
import type { Waiting } from '../../model/waiting.ts';
import { shardOf } from '../../url/shard.ts';
import { SITE_STATE } from '../site-state.ts';
import { findSite, type SiteRow } from './admit.ts';
import { putFirst, putLast } from './queue.ts';
import { noteDue, type Session } from './session.ts';
import { sqlFile } from './statements.ts';

const REST_SQL = sqlFile('queue-rest');

export const moveLink = (session: Session, to: Destination, waiting: Waiting): void => {
  const { sql, tally } = session;
  const known = findSite(session, to.queue);
  const queue = known ?? addQueue(session, to.queue);
  const takesOver = !known || to.isNews;
  const state = stateAfter(queue.state, takesOver ? to : null);
  (to.first ? putFirst : putLast)(session, queue, [waiting]);
  sql('UPDATE site SET state = ?, waiting = waiting + 1, queue = ?, head_at = ? WHERE id = ?').run(
    state,
    queue.queue,
    queue.head_at,
    queue.id,
  );
  if (takesOver) {
    const { dueAt, delayMs, crawlDelayMs, responseMs, failures } = to.pace;
    sql(REST_SQL).run(queue.id, dueAt, delayMs, crawlDelayMs, responseMs, failures);
  }
  tally[counterOf(queue.state)] -= queue.waiting;
  tally[counterOf(state)] += queue.waiting + 1;
  tally.sitesParked += Number(state === SITE_STATE.parked) - Number(queue.state === SITE_STATE.parked);
  // What was known of the shard may have been this queue: the next claim looks.
  if (known && takesOver) session.notBefore[queue.shard] = -Infinity;
  else if (state === SITE_STATE.waiting) noteDue(session, queue.shard, takesOver ? to.pace.dueAt : queue.due_at);
};

/** It is no new site, so it is not counted as one. */
const addQueue = ({ sql, shards }: Session, name: string): SiteRow => {
  const shard = shardOf(name, shards);
  const { idle: state } = SITE_STATE;
  const { lastInsertRowid } = sql('INSERT INTO site (name, shard, state, due_at) VALUES (?, ?, ?, 0)').run(
    name,
    shard,
    state,
  );
  return { id: Number(lastInsertRowid), shard, state, waiting: 0, due_at: 0, queue: '', head_at: 0 };
};

/** The state of a queue that has a link more; one that is leased stays so. */
const stateAfter = (state: number, news: Destination | null): number => {
  if (state === SITE_STATE.leased) return state;
  if (news) return news.parked ? SITE_STATE.parked : news.held ? SITE_STATE.held : SITE_STATE.waiting;
  return state === SITE_STATE.idle ? SITE_STATE.waiting : state;
};

const counterOf = (state: number): 'waiting' | 'parked' | 'held' =>
  state === SITE_STATE.parked ? 'parked' : state === SITE_STATE.held ? 'held' : 'waiting';

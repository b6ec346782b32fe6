/** A row of a site as it is read to look at it, whatever for. */

import type { FoundSite } from '../../contract/walk.ts';
import { siteStateOf } from '../site-state.ts';
import { readWaiting } from '../waiting-text.ts';
import type { QueueEnds } from './queue.ts';
import { sqlFile } from './statements.ts';

/** What is left of the statement follows: conditions, order, limit. */
export const SITES_SQL = sqlFile('sites');

/** In the order of `sites.sql`. */
export type SiteRow = readonly [
  id: number,
  site: string,
  shard: number,
  state: number,
  waiting: number,
  pages: number,
  dueAt: number,
  delayMs: number,
  crawlDelayMs: number,
  responseMs: number,
  failures: number,
  leased: string | null,
  via: string | null,
  queue: string,
  headAt: number,
];

export interface StoredSite extends QueueEnds {
  readonly id: number;
  readonly found: FoundSite;
}

export const readSite = (row: SiteRow): StoredSite => {
  const [id, site, shard, state, waiting, pages, dueAt, delayMs, crawlDelayMs, responseMs, failures, leased, via] = row;
  const found: FoundSite = {
    kind: 'site',
    site,
    state: siteStateOf(state),
    shard,
    waiting,
    pages,
    pace: { dueAt, delayMs, crawlDelayMs, responseMs, failures },
    leased: leased === null ? null : (readWaiting(leased, via ?? '', site) ?? 'unreadable'),
  };
  return { id, found, queue: row[13], head_at: row[14] };
};

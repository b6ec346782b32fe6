/** Ends leases: records first, then rows, in one transaction. */

import { settledOf, type Settled } from '../../contract/store.ts';
import type { NoPlace, PageRow, WarcPlace } from '../../model/page.ts';
import type { Settlement } from '../../model/settlement.ts';
import type { Waiting } from '../../model/waiting.ts';
import { appendKept, keptBytes, placeOf } from '../kept.ts';
import { PAGE_FIELDS, PAGE_MARKS, pageValues } from '../page-row.ts';
import { SITE_STATE } from '../site-state.ts';
import { readWaiting } from '../waiting-text.ts';
import { moveLink } from './move-link.ts';
import { putFirst, putLast, type QueueEnds } from './queue.ts';
import { writeRobots } from './robots.ts';
import { noteDue, type Session } from './session.ts';
import { sqlFile } from './statements.ts';
import { countSettled } from './tally.ts';

/** A site under visit. */
export interface LeasedSite extends QueueEnds {
  readonly id: number;
  readonly name: string;
  readonly shard: number;
  readonly waiting: number;
  readonly delay_ms: number;
  readonly lease: number;
  readonly leased: string;
  readonly leased_via: string;
}

export type LeasedRow = readonly [number, string, number, number, number, number, string, string, string, number];

export const leasedSite = (row: LeasedRow): LeasedSite => {
  const [id, name, shard, waiting, delay_ms, lease, leased, leased_via, queue, head_at] = row;
  return { id, name, shard, waiting, delay_ms, lease, leased, leased_via, queue, head_at };
};

const IN_FORCE_SQL = sqlFile('in-force');
const SETTLE_SQL = sqlFile('settle');

export const settle = (session: Session, settlements: readonly Settlement[]): Settled => {
  const kept = new Map<Settlement, LeasedSite>();
  const leases = new Set<number>();
  for (const settlement of settlements) {
    const site = inForce(session, settlement);
    if (!site || leases.has(settlement.lease)) continue;
    leases.add(settlement.lease);
    kept.set(settlement, site);
  }
  // Append before the rows that point there: a crash in between leaves a tail, which the next start cuts.
  const places = appendRecords(session, [...kept.keys()]);
  let i = 0;
  for (const [settlement, site] of kept) settleOne(session, { settlement, site, place: places[i++]! });
  // When all leases of the batch have ended: the other queue may have been one of them.
  for (const [{ to }, site] of kept) if (to) moveLink(session, to, untried(leasedLink(site)));
  if (kept.size > 0) session.tally.changes++;
  return settledOf(settlements, (one) => kept.has(one));
};

const inForce = ({ sql }: Session, { site, lease }: Settlement): LeasedSite | undefined => {
  const row = sql(IN_FORCE_SQL, 'arrays').get(site, lease) as unknown as LeasedRow | undefined;
  return row && leasedSite(row);
};

const appendRecords = ({ archive, tally }: Session, settlements: readonly Settlement[]): (WarcPlace | NoPlace)[] => {
  const begins = appendKept(archive, settlements);
  tally.archive = archive.end();
  return settlements.map((settlement, i) => {
    tally.archivedBytes += keptBytes(settlement).length;
    return placeOf(settlement, begins[i]!);
  });
};

interface Settling {
  readonly settlement: Settlement;
  readonly site: LeasedSite;
  readonly place: WarcPlace | NoPlace;
}

const settleOne = (session: Session, { settlement, site, place }: Settling): void => {
  const { sql, tally } = session;
  const { pace, fate } = settlement;
  let back = 1;
  let pages = 0;
  switch (fate) {
    case 'settled': {
      if (!settlement.page) throw new Error(`a settled visit of ${leasedLink(site).link.url} has no page`);
      const before = tally.pages;
      writePage(session, site.id, { ...settlement.page, ...place });
      pages = tally.pages - before;
      back = 0;
      break;
    }
    case 'retry':
      putLast(session, site, [leasedLink(site)]);
      break;
    case 'returned':
      if (settlement.to) back = 0;
      else putFirst(session, site, [untried(leasedLink(site))]);
      break;
    default:
      fate satisfies never;
  }
  if (settlement.robots) writeRobots(session, settlement.robots);
  const waiting = site.waiting + back;
  const state = settlement.parked ? SITE_STATE.parked : waiting > 0 ? SITE_STATE.waiting : SITE_STATE.idle;
  const { dueAt, delayMs, crawlDelayMs, responseMs, failures } = pace;
  sql(SETTLE_SQL).run(
    site.id,
    state,
    back,
    pages,
    dueAt,
    delayMs,
    crawlDelayMs,
    responseMs,
    failures,
    site.queue,
    site.head_at,
  );
  tally.leased--;
  tally.waiting += back;
  if (settlement.parked) {
    tally.waiting -= waiting;
    tally.parked += waiting;
    tally.sitesParked++;
  } else if (waiting > 0) noteDue(session, site.shard, dueAt);
};

const untried = ({ link, tries }: Waiting): Waiting => ({ link, tries: tries - 1 });

/** The link under visit, the claim counted. */
export const leasedLink = ({ name, leased, leased_via }: LeasedSite): Waiting => {
  const waiting = readWaiting(leased, leased_via, name);
  if (!waiting) throw new Error(`the leased link of site "${name}" cannot be read`);
  return waiting;
};

export const writePage = ({ sql, tally }: Pick<Session, 'sql' | 'tally'>, site: number, page: PageRow): void => {
  sql(`INSERT INTO page (site, ${PAGE_FIELDS}) VALUES (?, ${PAGE_MARKS})`).run(site, ...pageValues(page));
  countSettled(tally, page.outcome);
};

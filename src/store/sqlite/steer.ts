/** What a person or the supervisor changes: leases freed, sites brought back, marks set. */

import { CLAIMS_MAX, type Change, type Upkeep } from '../../contract/store.ts';
import { unansweredPage } from '../../model/unanswered-page.ts';
import type { SitePagesMax } from '../../model/site-budget.ts';
import { NO_PLACE } from '../../model/page.ts';
import { SITE_STATE } from '../site-state.ts';
import { writeEntry } from './journal.ts';
import { putFirst } from './queue.ts';
import { noteDue, type Session } from './session.ts';
import { leasedLink, leasedSite, writePage, type LeasedRow, type LeasedSite } from './settle.ts';
import { sqlFile } from './statements.ts';

const LEASED_SQL = sqlFile('leased');
const FREE_SQL = sqlFile('free');
const RETRY_PARKED_SQL = sqlFile('retry-parked');

export const steer = (session: Session, changes: readonly Change[]): void => {
  for (const change of changes) carryOut(session, change);
  if (changes.length > 0) session.tally.changes++;
};

const carryOut = (session: Session, change: Change): void => {
  switch (change.kind) {
    case 'free':
      return free(session, change);
    case 'retry-parked':
      return retryParked(session);
    case 'release-held':
      return releaseHeld(session, change.sitePagesMax);
    case 'release-refused':
      return releaseRefused(session, change.scope);
    case 'write':
      writeEntry(session.sql, change.entry, session.clock.now());
      return;
    case 'mark':
      session.tally.marks[change.name] = change.value;
      return;
    default:
      change satisfies never;
  }
};

const free = (session: Session, { holder, counted, culprit }: Extract<Upkeep, { kind: 'free' }>): void => {
  const rows = session.sql(LEASED_SQL, 'arrays').all(holder) as unknown as LeasedRow[];
  for (const site of rows.map(leasedSite)) freeOne(session, site, counted && (culprit ?? site.lease) === site.lease);
};

const freeOne = (session: Session, site: LeasedSite, counted: boolean): void => {
  const { sql, tally } = session;
  const now = session.clock.now();
  const { link, tries } = leasedLink(site);
  const claims = counted ? tries : tries - 1;
  const givenUp = claims >= CLAIMS_MAX;
  const gaveUp = { link, tries: claims, outcome: 'gave-up', at: now } as const;
  if (givenUp) writePage(session, site.id, { ...unansweredPage(gaveUp), ...NO_PLACE });
  else putFirst(session, site, [{ link, tries: claims }]);
  const waits = site.waiting > 0 || !givenUp;
  // A full delay from now: the request of the visit that died may have left a moment ago.
  const dueAt = now + site.delay_ms;
  const state = waits ? SITE_STATE.waiting : SITE_STATE.idle;
  sql(FREE_SQL).run(site.id, state, givenUp ? 0 : 1, dueAt, site.queue, site.head_at);
  tally.leased--;
  if (!givenUp) tally.waiting++;
  if (waits) noteDue(session, site.shard, dueAt);
};

const retryParked = ({ sql, tally, clock, notBefore }: Session): void => {
  sql(RETRY_PARKED_SQL).run(clock.now());
  tally.waiting += tally.parked;
  tally.parked = 0;
  tally.sitesParked = 0;
  notBefore.fill(-Infinity);
};

/** With both conditions for the state, SQLite sees that the index site_aside has them all. */
const HELD_BELOW = `state IN (${SITE_STATE.parked}, ${SITE_STATE.held}) AND state = ${SITE_STATE.held} AND pages < ?`;
const BACK = `iif(waiting > 0, ${SITE_STATE.waiting}, ${SITE_STATE.idle})`;

const releaseHeld = (session: Session, { all, sites = {} }: SitePagesMax): void => {
  const named = JSON.stringify(Object.keys(sites));
  bringBack(session, "instr(name, ' ') = 0 AND name NOT IN (SELECT value FROM json_each(?))", [all, named]);
  for (const [site, pagesMax] of Object.entries(sites)) bringBack(session, 'name = ?', [pagesMax, site]);
};

const releaseRefused = (session: Session, scope: string): void =>
  bringBack(session, "instr(name, ' !') > 0 AND NOT name LIKE '% !' || ?", [null, scope]);

const bringBack = (
  { sql, tally, notBefore }: Session,
  which: string,
  [pagesMax, named]: readonly [number | null, string],
): void => {
  const below = pagesMax ?? Number.MAX_SAFE_INTEGER;
  const { queues, sites, links } = sql(
    `SELECT count(*) AS queues, coalesce(sum(instr(name, ' ') = 0), 0) AS sites, coalesce(sum(waiting), 0) AS links
     FROM site WHERE ${HELD_BELOW} AND ${which}`,
  ).get(below, named) as { queues: number; sites: number; links: number };
  if (queues === 0) return;
  sql(`UPDATE site SET state = ${BACK} WHERE ${HELD_BELOW} AND ${which}`).run(below, named);
  tally.held -= links;
  tally.waiting += links;
  tally.sitesHeld -= sites;
  notBefore.fill(-Infinity);
};

/**
 * Puts a damaged crawl right in its database, in one transaction: what must be fetched again waits again, counters
 * follow rows.
 */

import type { Repaired, RepairPlan } from '../../contract/stored-crawl.ts';
import { createFingerprintTable, type FingerprintTable } from '../../lib/fingerprint-table.ts';
import type { CanonicalUrl, Link } from '../../model/link.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { urlKey } from '../page-row.ts';
import { SITE_STATE } from '../site-state.ts';
import { putFirst } from './queue.ts';
import { recount, restOf, type Recount } from './recount.ts';
import { repairQueues, siteFor, writeEnds, type SiteQueue } from './repair-queues.ts';
import type { Connection } from './schema.ts';
import { wrongKeys } from './self.ts';
import { logPrints, replacePrints, seenLog } from './seen-log.ts';
import { readTally, writeTally } from './tally.ts';

export const repair = (connection: Connection, plan: RepairPlan, onProgress: (linksDone: number) => void): Repaired => {
  const { db } = connection;
  db.exec('BEGIN IMMEDIATE');
  try {
    const did = repairRows(connection, plan);
    const rows = recount(connection, onProgress);
    setCounts(connection, rows, did);
    repairLog(connection, rows, did);
    repairTally(connection, { rows, plan, did });
    db.exec('COMMIT');
    return did;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
};

const repairRows = (connection: Connection, plan: RepairPlan): Repaired => {
  const { sql } = connection;
  const did: Repaired = {
    pagesBack: 0,
    pagesGone: 0,
    urlsBack: 0,
    queuesMended: 0,
    linksAdopted: 0,
    printsAdded: 0,
    printsDropped: 0,
    countersSet: 0,
  };
  for (const row of plan.pagesGone) did.pagesGone += Number(sql('DELETE FROM page WHERE id = ?').run(row).changes);
  const isAboutLinks = plan.queues.size > 0 || plan.strayBlocks || plan.urlsBack.size > 0;
  const met = isAboutLinks ? repairQueues(connection, plan, did) : createFingerprintTable();
  // The newest first: each is put at the head of its queue, so in the end they stand in their old order.
  for (const row of [...plan.pagesBack].sort((a, b) => b - a)) if (putPageBack(connection, row, met)) did.pagesBack++;
  if (plan.urlsBack.size > 0) did.urlsBack = putUrlsBack(connection, plan.urlsBack, met);
  return did;
};

/** A page that is in a queue already only goes. */
const putPageBack = (connection: Connection, row: number, met: FingerprintTable): boolean => {
  const { sql } = connection;
  const page = sql('SELECT site, url, depth, via FROM page WHERE id = ?').get(row) as
    | { site: number; url: string; depth: number; via: string }
    | undefined;
  if (!page) return false;
  sql('DELETE FROM page WHERE id = ?').run(row);
  const site = sql('SELECT id, name AS site, queue, head_at FROM site WHERE id = ?').get(page.site);
  if (met.add(fingerprint(page.url))) putLinkFirst(connection, site as unknown as SiteQueue, page);
  return true;
};

const putLinkFirst = (
  connection: Connection,
  ends: SiteQueue,
  { url, depth, via }: { url: string; depth: number; via: string },
): void => {
  const { id, site } = ends;
  const link: Link = { url: url as CanonicalUrl, site, depth, via, hops: 0, fallback: false, first: true };
  // A robots.txt leads to nothing but sitemaps. What such a sitemap lists cannot be told from a page, and waits as one.
  putFirst(connection, ends, [{ link: via.endsWith('/robots.txt') ? { ...link, sitemap: 'named' } : link, tries: 0 }]);
  writeEnds(connection, id, ends);
};

/** Only URLs that were known: what was lost with the log is found again. */
const putUrlsBack = (connection: Connection, urls: ReadonlySet<string>, met: FingerprintTable): number => {
  const wanted = new Map([...urls].map((url) => [fingerprint(url), url]));
  let count = 0;
  for (const { prints } of seenLog(connection.db)) {
    for (const print of prints) {
      const url = wanted.get(print);
      const site = url === undefined ? null : siteFor(connection, url);
      if (!site || !met.add(print)) continue;
      putLinkFirst(connection, site, { url: url!, depth: 0, via: '' });
      count++;
    }
  }
  return count;
};

const setCounts = ({ db, sql }: Connection, { sites }: Recount, did: Repaired): void => {
  for (const one of sites) {
    const { found, waiting, pages } = one;
    const state = SITE_STATE[restOf(one)!];
    sql('UPDATE site SET state = ?, waiting = ?, pages = ? WHERE name = ?').run(state, waiting, pages, found.site);
    did.countersSet += Number(found.waiting !== waiting) + Number(found.pages !== pages);
  }
  for (const { row, url } of [...wrongKeys(db)]) {
    sql('UPDATE page SET url_key = ? WHERE id = ?').run(urlKey(url), row);
    did.countersSet++;
  }
};

/** The log has each link's fingerprint once, and no other: a link that was lost can then be admitted again. */
const repairLog = ({ db, sql }: Connection, { lost, repeated, unlogged }: Recount, did: Repaired): void => {
  if (lost.size > 0 || repeated > 0) {
    const met = createFingerprintTable();
    for (const { id, prints } of seenLog(db)) {
      const kept = prints.filter((print) => !lost.has(print) && met.add(print));
      if (kept.length < prints.length) replacePrints(sql, { id, prints: kept });
      did.printsDropped += prints.length - kept.length;
    }
  }
  if (unlogged.size > 0) logPrints(sql, unlogged);
  did.printsAdded = unlogged.size;
  // The snapshot beside the database is of the log as it was.
  if (did.printsAdded + did.printsDropped > 0) sql("DELETE FROM meta WHERE name = 'snapshot'").run();
};

/** Counters that are told of when they were wrong. */
const COUNTERS = ['waiting', 'leased', 'parked', 'held', 'pages', 'sites', 'sitesParked', 'sitesHeld'] as const;

const repairTally = (
  { sql }: Connection,
  { rows, plan, did }: { rows: Recount; plan: RepairPlan; did: Repaired },
): void => {
  const former = readTally(sql);
  const { archive, archivedBytes, seedLines } = plan;
  const marks = { ...former.marks };
  // Where links were lost, seeds may be among them: all are admitted again, and those that are known are left alone.
  for (const name of Object.keys(marks).filter((one) => one.startsWith('seeds')))
    marks[name] = rows.lost.size > 0 ? 0 : Math.min(marks[name]!, seedLines);
  const { forgotten, lease, moment } = former;
  const kept = { forgotten, lease, moment, marks, archive, archivedBytes, changes: former.changes + 1 };
  const tally = { ...rows.tally, ...kept };
  for (const name of [...COUNTERS, 'archivedBytes'] as const) if (former[name] !== tally[name]) did.countersSet++;
  writeTally(sql, tally);
};

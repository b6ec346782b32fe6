/**
 * Puts a damaged crawl right in its database, in one transaction: what must be fetched again waits again, counters
 * follow rows.
 */

import type { DatabaseSync } from 'node:sqlite';
import { StoreFault } from '../../frontier/store.ts';
import type { FingerprintTable } from '../../lib/fingerprint-table.ts';
import { createFingerprintTable } from '../../lib/fingerprint-table.ts';
import type { ArchiveEnd } from '../../model/census.ts';
import type { CanonicalUrl, Link } from '../../model/link.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { preparing, readTally } from './book.ts';
import type { Checked } from './check.ts';
import { storeFault } from './fault.ts';
import { putFirst, type LineEnds } from './line.ts';
import { knowsLink, mendLines, siteNamedFor } from './repair-lines.ts';
import { openDatabase, SITE_IDLE, SITE_WAITING } from './schema.ts';
import { survey, type Survey } from './survey.ts';
import { replaySeen } from './snapshot.ts';

export interface RepairPlan {
  /** Pages whose record is damaged or missing: their rows go, their links wait again. */
  readonly pagesBack: ReadonlySet<number>;
  /** Rows of pages that are there twice. */
  readonly pagesGone: ReadonlySet<number>;
  /** Records without a page: their links wait again, if they are known and nowhere else. */
  readonly urlsBack: ReadonlySet<string>;
  /** Sites whose line is broken, or holds what it should not. */
  readonly lines: ReadonlySet<number>;
  /** There are blocks in no line. */
  readonly orphanBlocks: boolean;
  /**
   * Where the settled part of the archive ends from now on, and how many bytes it has without the openings of files.
   */
  readonly archive: ArchiveEnd;
  readonly archivedBytes: number;
  /** How many seed lines there are: the mark is never beyond them. */
  readonly seedLines: number;
}

export interface Repaired {
  pagesBack: number;
  pagesGone: number;
  urlsBack: number;
  linesMended: number;
  linksAdopted: number;
  printsAdded: number;
  printsDropped: number;
  countersSet: number;
}

export const repairDatabase = (path: string, plan: RepairPlan, onProgress: (linksDone: number) => void): Repaired => {
  let db: DatabaseSync | undefined;
  try {
    db = openDatabase(path);
    const checked = { db, sql: preparing(db) };
    db.exec('BEGIN IMMEDIATE');
    const repaired = repair(checked, plan, onProgress);
    db.exec('COMMIT');
    return repaired;
  } catch (error) {
    if (db?.isTransaction) db.exec('ROLLBACK');
    throw storeFault(error);
  } finally {
    db?.close();
  }
};

const repair = (checked: Checked, plan: RepairPlan, onProgress: (linksDone: number) => void): Repaired => {
  const did: Repaired = {
    pagesBack: 0,
    pagesGone: 0,
    urlsBack: 0,
    linesMended: 0,
    linksAdopted: 0,
    printsAdded: 0,
    printsDropped: 0,
    countersSet: 0,
  };
  for (const id of plan.pagesGone)
    did.pagesGone += Number(checked.sql('DELETE FROM page WHERE id = ?').run(id).changes);
  // The newest first: each is put at the head of its line, so in the end they stand in their old order.
  for (const id of [...plan.pagesBack].sort((a, b) => b - a)) if (putPageBack(checked, id)) did.pagesBack++;
  if (plan.lines.size > 0 || plan.orphanBlocks) Object.assign(did, mendLines(checked, plan.lines));
  if (plan.urlsBack.size > 0) did.urlsBack = putUrlsBack(checked, plan.urlsBack);

  const rows = survey(checked, { needsPlace: false, onProgress });
  mendCounts(checked, rows, did);
  mendLog(checked, rows, did);
  writeTally(checked, { rows, plan, did });
  return did;
};

const putPageBack = (checked: Checked, id: number): boolean => {
  const page = checked.sql('SELECT site, url, depth, via FROM page WHERE id = ?').get(id) as
    | { site: number; url: string; depth: number; via: string }
    | undefined;
  if (!page) return false;
  checked.sql('DELETE FROM page WHERE id = ?').run(id);
  putLinkFirst(checked, page);
  return true;
};

const putLinkFirst = (
  checked: Checked,
  { site: id, url, depth, via }: { site: number; url: string; depth: number; via: string },
): void => {
  const site = checked.sql('SELECT name, line, head_at FROM site WHERE id = ?').get(id) as unknown as LineEnds & {
    name: string;
  };
  const link: Link = { url: url as CanonicalUrl, site: site.name, depth, via, hops: 0, fallback: false, first: true };
  // A robots.txt leads to nothing but sitemaps. What such a sitemap lists cannot be told from a page, and waits as one.
  putFirst(checked, site, [{ link: via.endsWith('/robots.txt') ? { ...link, sitemap: 'named' } : link, tries: 0 }]);
  checked
    .sql('UPDATE site SET waiting = waiting + 1, line = ?, head_at = ? WHERE id = ?')
    .run(site.line, site.head_at, id);
};

const putUrlsBack = (checked: Checked, urls: ReadonlySet<string>): number => {
  const seen = seenOf(checked);
  let count = 0;
  for (const url of urls) {
    const site = siteNamedFor(checked, url);
    if (site === null || !seen.has(fingerprint(url)) || knowsLink(checked, site, url)) continue;
    putLinkFirst(checked, { site: site.id, url, depth: 0, via: '' });
    count++;
  }
  return count;
};

const seenOf = ({ db }: Checked): FingerprintTable => {
  const seen = createFingerprintTable();
  replaySeen(db, 0, (print) => seen.add(print));
  return seen;
};

const mendCounts = ({ sql }: Checked, rows: Survey, did: Repaired): void => {
  for (const fault of rows.faults) {
    if (fault.kind === 'link-unseen') continue; // the log is next
    if (fault.kind === 'rest') {
      sql('UPDATE site SET state = ? WHERE id = ?').run(fault.waits ? SITE_WAITING : SITE_IDLE, fault.site);
      continue;
    }
    if (fault.kind !== 'count')
      throw new StoreFault(
        `the repair met what it cannot mend (${fault.kind})`,
        'nothing was changed; restore the crawl from a copy',
      );
    sql(`UPDATE site SET ${fault.what} = ? WHERE id = ?`).run(fault.is, fault.site);
    did.countersSet++;
  }
};

/** The log has each link's fingerprint once, and no other: a link that was lost can then be admitted again. */
const mendLog = (checked: Checked, rows: Survey, did: Repaired): void => {
  const unseen = rows.faults.flatMap((fault) => (fault.kind === 'link-unseen' ? [fault.print] : []));
  did.printsAdded = unseen.length;
  if (rows.lost.size > 0 || rows.repeated > 0) did.printsDropped = dropPrints(checked, rows.lost);
  if (unseen.length > 0)
    checked.sql('INSERT INTO seen (fingerprints) VALUES (?)').run(new Uint8Array(BigUint64Array.from(unseen).buffer));
  // The snapshot beside the database is of the log as it was.
  if (did.printsAdded + did.printsDropped > 0) checked.sql("DELETE FROM meta WHERE name = 'snapshot'").run();
};

const dropPrints = ({ sql }: Checked, lost: FingerprintTable): number => {
  const met = createFingerprintTable();
  let dropped = 0;
  const { max } = sql('SELECT coalesce(max(id), 0) AS max FROM seen').get() as { max: number };
  for (let id = 0; id <= max; id++) {
    const row = sql('SELECT fingerprints FROM seen WHERE id = ?').get(id) as { fingerprints: Uint8Array } | undefined;
    if (!row) continue;
    const prints = new BigUint64Array(row.fingerprints.slice().buffer);
    const kept = prints.filter((print) => !lost.has(print) && met.add(print));
    if (kept.length === prints.length) continue;
    dropped += prints.length - kept.length;
    sql('UPDATE seen SET fingerprints = ? WHERE id = ?').run(new Uint8Array(kept.buffer), id);
  }
  return dropped;
};

const writeTally = (
  { db, sql }: Checked,
  { rows, plan, did }: { rows: Survey; plan: RepairPlan; did: Repaired },
): void => {
  const former = readTally(db);
  const { waiting, leased, parked, held, settled, pages, sites, sitesParked, sitesHeld } = rows.counted;
  const marks = { ...former.marks };
  // Where links were lost, seeds may be among them: all are admitted again, and those that are known are left alone.
  if (marks.seeds !== undefined) marks.seeds = rows.lost.size > 0 ? 0 : Math.min(marks.seeds, plan.seedLines);
  const tally = {
    ...former,
    waiting,
    leased,
    parked,
    held,
    settled,
    pages,
    sites,
    sitesParked,
    sitesHeld,
    marks,
    archive: plan.archive,
    archivedBytes: plan.archivedBytes,
    changes: former.changes + 1,
  };
  for (const name of [
    'waiting',
    'leased',
    'parked',
    'held',
    'pages',
    'sites',
    'sitesParked',
    'sitesHeld',
    'archivedBytes',
  ] as const) {
    if (former[name] !== tally[name]) did.countersSet++;
  }
  sql("INSERT OR REPLACE INTO meta (name, value) VALUES ('tally', ?)").run(JSON.stringify(tally));
};

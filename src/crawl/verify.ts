/** Do the parts of a crawl agree, and can what is damaged be put right? */

import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openArchive } from '../archive/files.ts';
import { writeCount } from '../lib/units.ts';
import { UsageError } from '../model/read-settings.ts';
import {
  integrityOf,
  isCorrupt,
  isLogWhole,
  isUnmade,
  openToCheck,
  placedPages,
  tallyOf,
  type Checked,
} from '../store/sqlite/check.ts';
import { repairDatabase, type Repaired, type RepairPlan } from '../store/sqlite/repair.ts';
import { survey } from '../store/sqlite/survey.ts';
import { FILES } from './folder.ts';
import { lockCrawl, type Lock } from './lock.ts';
import { checkArchive, isAfter } from './verify/archive.ts';
import { createFinder, type Finder, type Found } from './verify/damage.ts';
import { DEAD_FILE, readDead, writeDead, type DeadSpan } from '../archive/dead-list.ts';
import { fillDead } from './verify/fill.ts';
import { checkIdentity, checkSeedFile } from './verify/folder-check.ts';
import type { Figures, VerifyOptions } from './verify/options.ts';
import { tellRows } from './verify/rows.ts';
import { checkShared, isInSharedStore } from './verify/shared.ts';

export type { Damage, DamageKind, Found } from './verify/damage.ts';
export type { Figures, VerifyOptions, VerifyProgress } from './verify/options.ts';

export interface VerifyReport {
  readonly found: Found;
  readonly figures: Figures;
  /** What a repair did, a sentence for each kind; null when none was made. */
  readonly repaired: readonly string[] | null;
  /** What is still wrong after the repair; null when none was made. */
  readonly after: Found | null;
}

interface Checkup {
  readonly found: Finder;
  readonly figures: Figures;
  /** What a repair would do; null when nothing can be said, because the database cannot be read. */
  readonly plan: (RepairPlan & { /** What is to be listed besides. */ readonly dead: readonly DeadSpan[] }) | null;
}

/** Throws a UsageError when there is no crawl, or another process has it open. */
export const verifyCrawl = async (options: VerifyOptions): Promise<VerifyReport> => {
  checkIdentity(options.dir, createFinder()); // before the lock: a directory that is no crawl is left as it is
  const isShared = isInSharedStore(options.dir);
  if (options.repair && isShared)
    throw new UsageError(
      'a crawl in Redis or PostgreSQL cannot be repaired: leave --repair away, and restore what is damaged from a copy',
    );
  const lock = lockOf(options.dir);
  try {
    const { found, figures, plan } = await (isShared ? sharedCheckup : checkup)(options);
    if (!options.repair || found.count === 0 || plan === null || found.advice.length > 0)
      return { found, figures, repaired: null, after: null };
    const repaired = repair(options, plan);
    const again = await checkup(options);
    return { found, figures: again.figures, repaired, after: again.found };
  } finally {
    lock.release();
  }
};

const lockOf = (dir: string): Lock => {
  try {
    return lockCrawl(dir);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `crawl "${dir}" cannot be locked (${(error as Error).message}): make its directory writable for this user`,
    );
  }
};

const checkup = async (options: VerifyOptions): Promise<Checkup> => {
  const { dir } = options;
  const found = createFinder();
  const figures: Figures = { pages: 0, records: 0, files: 0, archiveBytes: 0, links: 0, sites: 0 };
  const needsPlace = checkIdentity(dir, found);
  const path = join(dir, FILES.store);
  if (!existsSync(path) || isUnmade(path)) {
    if (existsSync(join(dir, FILES.warc)))
      found.add({ kind: 'database', file: FILES.store, says: `${FILES.store} is missing, though there is an archive` });
    else found.leave('the store was not made yet');
    await checkSeedFile(dir, 0, found);
    return { found, figures, plan: null };
  }
  let checked: Checked | null = null;
  try {
    checked = openToCheck(path);
    return await checkParts(checked, { ...options, found, figures, needsPlace });
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    found.add({
      kind: 'database',
      file: FILES.store,
      says: `${FILES.store} cannot be read: ${(error as Error).message}`,
    });
    return { found, figures, plan: null };
  } finally {
    checked?.db.close();
  }
};

/** Only the store can tell whether it is whole; the archive and its pages are checked as everywhere. */
const sharedCheckup = async (options: VerifyOptions): Promise<Checkup> => {
  const found = createFinder();
  checkIdentity(options.dir, found);
  const figures = await checkShared({ ...options, found });
  return { found, figures, plan: null };
};

interface PartsOptions extends VerifyOptions {
  readonly found: Finder;
  readonly figures: Figures;
  readonly needsPlace: boolean;
}

const checkParts = async (
  checked: Checked,
  { dir, found, figures, needsPlace, onProgress }: PartsOptions,
): Promise<Checkup> => {
  const storeBytes = statSync(join(dir, FILES.store)).size;
  onProgress({ phase: 'database', done: 0, total: storeBytes, unit: 'bytes' });
  for (const says of integrityOf(checked))
    found.add({ kind: 'database', file: FILES.store, says: `${FILES.store}: ${says}` });
  if (found.byKind.database) return { found, figures, plan: null }; // rows cannot be trusted from here on
  const tally = tallyOf(checked);
  if (tally === null)
    found.add({
      kind: 'database',
      file: FILES.store,
      says: `${FILES.store}: its counters are missing or cannot be read`,
    });
  if (!isLogWhole(checked))
    found.add({ kind: 'database', file: FILES.store, says: `${FILES.store}: the log of known URLs cannot be read` });
  if (tally === null || found.byKind.database) return { found, figures, plan: null };

  const seedLines = await checkSeedFile(dir, tally.marks.seeds ?? 0, found);
  const known =
    tally.waiting +
    tally.leased +
    tally.parked +
    tally.held +
    Object.values(tally.settled).reduce((sum, n) => sum + n, 0);
  const rows = survey(checked, {
    needsPlace,
    onProgress: (done) => onProgress({ phase: 'links', done, total: known, unit: 'links' }),
  });
  const rowPlan = tellRows(rows, tally, found);

  const dead = readDead(dir);
  const damageBefore = found.count;
  const archive = await checkArchive({
    dir: join(dir, FILES.warc),
    rows: placedPages(checked, rows.inOrder),
    settled: tally.archive,
    dead,
    found,
    onProgress: (done, total) => onProgress({ phase: 'archive', done, total, unit: 'bytes' }),
  });
  if (found.count === damageBefore && archive.archivedBytes !== tally.archivedBytes) {
    found.add({
      kind: 'counter',
      says: `the counter "archivedBytes" says ${writeCount(tally.archivedBytes)}, but there are ${writeCount(archive.archivedBytes)}`,
    });
  }
  Object.assign(figures, {
    pages: rows.counted.pages,
    records: archive.records,
    files: archive.files,
    archiveBytes: archive.bytes,
    links: rows.links,
    sites: rows.counted.sites,
  });
  const plan = {
    ...rowPlan,
    pagesBack: new Set([...archive.plan.pagesBack, ...rowPlan.pagesBack]),
    urlsBack: archive.plan.urlsBack,
    archive: archive.end,
    archivedBytes: archive.archivedBytes,
    seedLines,
    dead: [...archive.plan.dead, ...placesOf(checked, [...rowPlan.pagesGone, ...rowPlan.pagesBack])],
  };
  return { found, figures, plan };
};

/** The records of pages whose rows go, unless another page has the same. */
const placesOf = ({ sql }: Checked, pages: readonly number[]): DeadSpan[] =>
  pages.flatMap((id) => {
    const row = sql(`SELECT url, file, offset, group_length AS bytes FROM page WHERE id = ? AND file IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM page AS other WHERE other.file = page.file AND other.offset = page.offset AND other.id <> page.id)`).get(
      id,
    ) as { url: string; file: string; offset: number; bytes: number } | undefined;
    return row
      ? [{ file: row.file, offset: row.offset, bytes: row.bytes, why: `its page was not right: ${row.url}` }]
      : [];
  });

/**
 * The database first, in one transaction; then the list, then the bytes that are on it. Killed in between, the archive
 * has bytes without a page, bytes on the list that cannot be read, or an unsettled end: the next repair lists the first
 * and fills the second, a resume cuts the third.
 */
const repair = ({ dir, onProgress }: VerifyOptions, plan: NonNullable<Checkup['plan']>): string[] => {
  const did = repairDatabase(join(dir, FILES.store), plan, (done) =>
    onProgress({ phase: 'repair', done, total: 0, unit: 'links' }),
  );
  const former = readDead(dir);
  const fresh = plan.dead.filter((span) => !isAfter(span, plan.archive));
  // What lies behind the end is cut, and other records will lie there: it must not stay on the list.
  const dead = [...former.filter((span) => !isAfter(span, plan.archive)), ...fresh];
  if (fresh.length > 0 || dead.length < former.length) writeDead(dir, dead);
  // Opening the archive cuts it to its settled end, and closing it flushes what is left.
  openArchive({ dir: join(dir, FILES.warc), settled: plan.archive, warcinfo: unused, stamp: unused }).close();
  return sentences(did, { listed: fresh.length, filled: fillAll(dir, dead) });
};

const fillAll = (dir: string, dead: readonly DeadSpan[]): number => {
  const checked = openToCheck(join(dir, FILES.store));
  try {
    return fillDead(join(dir, FILES.warc), checked, dead);
  } finally {
    checked.db.close();
  }
};

const unused = (): never => {
  throw new Error('a repair appends no record');
};

const sentences = (did: Repaired, { listed, filled }: { listed: number; filled: number }): string[] => {
  const told: readonly [count: number, one: string, many: string][] = [
    [did.pagesBack, 'page waits again', 'pages wait again'],
    [did.urlsBack, 'link of a record without a page waits again', 'links of records without a page wait again'],
    [did.pagesGone, 'row of a page that was settled twice is gone', 'rows of pages that were settled twice are gone'],
    [listed, `stretch of the archive is listed in ${DEAD_FILE}`, `stretches of the archive are listed in ${DEAD_FILE}`],
    [
      filled,
      'damaged stretch was filled, so that other readers pass over it',
      'damaged stretches were filled, so that other readers pass over them',
    ],
    [did.linesMended, 'line of a site was laid anew', 'lines of sites were laid anew'],
    [did.linksAdopted, 'link of a stray block is back in its line', 'links of stray blocks are back in their lines'],
    [did.printsAdded, 'URL was added to the log of known URLs', 'URLs were added to the log of known URLs'],
    [
      did.printsDropped,
      'URL that was lost is not known any more, so that it can be found again',
      'URLs that were lost are not known any more, so that they can be found again',
    ],
    [did.countersSet, 'counter was set to what the rows say', 'counters were set to what the rows say'],
  ];
  return told
    .filter(([count]) => count > 0)
    .map(([count, one, many]) => `${writeCount(count)} ${count === 1 ? one : many}`);
};

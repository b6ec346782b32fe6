/** Do the parts of a crawl agree, and can what is damaged be put right? */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DEAD_FILE, readDead, writeDead, type DeadSpan } from '../archive/dead-list.ts';
import { openArchive } from '../archive/files.ts';
import type { Repaired, RepairPlan, StoredCrawl } from '../contract/stored-crawl.ts';
import { plural, writeCount } from '../lib/units.ts';
import { UsageError } from '../model/read-settings.ts';
import { databaseBytes, hasStore } from '../store/files.ts';
import { openStoredCrawl } from '../store/open.ts';
import { FILES, readIdentity, type Identity } from '../folder/folder.ts';
import { lockCrawl } from '../folder/lock.ts';
import { knownStore, storePlace } from '../folder/store-place.ts';
import { checkArchive, isAfter } from './verify/archive.ts';
import { createFinder, type Finder, type Found } from './verify/damage.ts';
import { fillDead } from './verify/fill.ts';
import { checkIdentity, checkSeedFile } from './verify/folder-check.ts';
import type { Figures, VerifyOptions } from './verify/options.ts';
import { placedPages } from './verify/placed.ts';
import { tellFaults, tellRows, type RowPlan } from './verify/rows.ts';
import { survey, type Survey } from './verify/survey.ts';

export type { Found } from './verify/damage.ts';
export type { VerifyProgress } from './verify/options.ts';

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
  /** What a repair would do; null when nothing can be said, because the store cannot be read. */
  readonly plan: (RepairPlan & { /** What is to be listed besides. */ readonly dead: readonly DeadSpan[] }) | null;
}

/** Throws a UsageError when there is no crawl, or another process has it open. */
export const verifyCrawl = async (options: VerifyOptions): Promise<VerifyReport> => {
  const { dir } = options;
  checkIdentity(dir, createFinder()); // before the lock: a directory that is no crawl is left as it is
  const lock = lockCrawl(dir);
  try {
    const { found, figures, plan } = await checkup(options);
    if (!options.repair || found.count === 0 || plan === null || found.advice.length > 0)
      return { found, figures, repaired: null, after: null };
    const repaired = await repair(options, plan);
    const again = await checkup(options);
    return { found, figures: again.figures, repaired, after: again.found };
  } finally {
    lock.release();
  }
};

/** The store of a crawl whose crawl.json may be damaged: then it is the embedded one, or nothing can be checked. */
const openCrawl = async (dir: string): Promise<{ crawl: StoredCrawl; identity: Identity | null; url: string }> => {
  const identity = identityOf(dir);
  const url = knownStore(identity?.settings.store);
  return { identity, url, crawl: await openStoredCrawl({ ...storePlace(dir, identity, url), say: () => {} }) };
};

/** Null when crawl.json cannot be read: the check says so. */
const identityOf = (dir: string): Identity | null => {
  try {
    return readIdentity(dir);
  } catch {
    return null;
  }
};

const NO_REPAIR = 'a store on a server cannot be repaired: restore it from a copy';

const checkup = async (options: VerifyOptions): Promise<Checkup> => {
  const { dir } = options;
  const figures: Figures = { pages: 0, records: 0, files: 0, archiveBytes: 0, links: 0, sites: 0 };
  const identity = identityOf(dir);
  if (!hasStore(dir, knownStore(identity?.settings.store))) {
    const found = createFinder();
    checkIdentity(dir, found);
    if (existsSync(join(dir, FILES.warc)))
      found.add({ kind: 'database', file: FILES.store, says: `${FILES.store} is missing, though there is an archive` });
    else found.leave('the store was not made yet');
    await checkSeedFile(dir, 0, found);
    return { found, figures, plan: null };
  }
  const { crawl } = await openCrawl(dir);
  try {
    const found = createFinder(crawl.repair ? undefined : NO_REPAIR);
    const needsPlace = checkIdentity(dir, found);
    if (options.repair && !crawl.repair)
      throw new UsageError(
        'a crawl in Redis or PostgreSQL cannot be repaired: omit --repair, and restore what is damaged from a copy',
      );
    return await checkParts(crawl, { ...options, found, figures, needsPlace, identity });
  } finally {
    await crawl.close();
  }
};

interface PartsOptions extends VerifyOptions {
  readonly found: Finder;
  readonly figures: Figures;
  readonly needsPlace: boolean;
  readonly identity: Identity | null;
}

const checkParts = async (crawl: StoredCrawl, options: PartsOptions): Promise<Checkup> => {
  const { dir, found, figures, identity, onProgress } = options;
  onProgress({ phase: 'store', done: 0, total: databaseBytes(dir), unit: 'bytes' });
  const { faults, whole } = await survey(crawl, {
    shards: identity && storePlace(dir, identity, '').shards,
    needsPlace: options.needsPlace,
    onProgress: (done, total) => onProgress({ phase: 'links', done, total, unit: 'links' }),
  });
  const rowPlan = tellFaults(faults, found);
  if (whole === null) return { found, figures, plan: null }; // rows cannot be trusted
  // What a member settles meanwhile looks like damage.
  if ((await crawl.census()).changes !== whole.census.changes)
    throw new UsageError('another process works on this crawl: stop it, then check again');
  tellRows(whole, found);
  const { marks } = whole.census;
  const mark = marks[identity?.member === undefined ? 'seeds' : `seeds:${identity.member}`] ?? 0;
  const seedLines = await checkSeedFile(dir, mark, found);
  const archive = await checkRecords(crawl, { ...options, whole });
  Object.assign(figures, {
    pages: whole.census.pages,
    records: archive.records,
    files: archive.files,
    archiveBytes: archive.bytes,
    links: whole.links,
    sites: whole.sites,
  });
  const pagesBack = new Set([...archive.plan.pagesBack, ...rowPlan.pagesBack]);
  const plan = {
    ...rowPlan,
    pagesBack,
    urlsBack: archive.plan.urlsBack,
    archive: archive.end,
    archivedBytes: archive.archivedBytes,
    seedLines,
    dead: [...archive.plan.dead, ...(await placesOf(crawl, rowPlan))],
  };
  return { found, figures, plan };
};

const checkRecords = async (
  crawl: StoredCrawl,
  { dir, found, whole, onProgress }: PartsOptions & { readonly whole: Survey },
): ReturnType<typeof checkArchive> => {
  const { tally, inOrder, census } = whole;
  const damageBefore = found.count;
  const archive = await checkArchive({
    dir: join(dir, FILES.warc),
    pages: placedPages(crawl, inOrder),
    settled: tally.archive,
    dead: [...readDead(dir), ...tally.dead.map((one) => ({ ...one, why: 'it was not settled' }))],
    found,
    onProgress: (done, total) => onProgress({ phase: 'archive', done, total, unit: 'bytes' }),
  });
  // Members count their archives together, and here is one of them.
  const isWhole = crawl.repair !== undefined && tally.elsewhere.length === 0;
  if (isWhole && found.count === damageBefore && archive.archivedBytes !== census.archivedBytes) {
    found.add({
      kind: 'counter',
      says: `the counter "archivedBytes" says ${writeCount(census.archivedBytes)}, but there are ${writeCount(archive.archivedBytes)}`,
    });
  }
  return archive;
};

/** The records of pages whose rows go, unless another page has the same. */
const placesOf = async (crawl: StoredCrawl, { pagesGone, pagesBack }: RowPlan): Promise<DeadSpan[]> => {
  if (pagesGone.size + pagesBack.size === 0) return [];
  const spans = new Map<string, DeadSpan>();
  const kept = new Set<string>();
  for await (const { row, url, file, offset, groupLength } of placedPages(crawl, true)) {
    const place = `${file} ${offset}`;
    if (!pagesGone.has(row) && !pagesBack.has(row)) kept.add(place);
    else spans.set(place, { file, offset, bytes: groupLength, why: `its page was not right: ${url}` });
  }
  return [...spans].flatMap(([place, span]) => (kept.has(place) ? [] : [span]));
};

/**
 * The store first, in one transaction; then the list, then the bytes that are on it. Killed in between, the archive has
 * bytes without a page, bytes on the list that cannot be read, or an unsettled end: the next repair lists the first and
 * fills the second, a resume cuts the third.
 */
const repair = async ({ dir, onProgress }: VerifyOptions, plan: NonNullable<Checkup['plan']>): Promise<string[]> => {
  const { crawl } = await openCrawl(dir);
  try {
    const did = await crawl.repair!(plan, (done) => onProgress({ phase: 'repair', done, total: 0, unit: 'links' }));
    const former = readDead(dir);
    const fresh = plan.dead.filter((span) => !isAfter(span, plan.archive));
    // What lies after the end is cut, and other records will lie there: it must not stay on the list.
    const dead = [...former.filter((span) => !isAfter(span, plan.archive)), ...fresh];
    if (fresh.length > 0 || dead.length < former.length) writeDead(dir, dead);
    // Opening the archive cuts it to its settled end, and closing it flushes what is left.
    openArchive({ dir: join(dir, FILES.warc), settled: plan.archive, warcinfo: unused, stamp: unused }).close();
    const filled = await fillDead(join(dir, FILES.warc), () => placedPages(crawl, true), dead);
    return sentences(did, { listed: fresh.length, filled });
  } finally {
    await crawl.close();
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
    [did.queuesMended, 'queue of a site was laid anew', 'queues of sites were laid anew'],
    [did.linksAdopted, 'link of a stray block is back in its queue', 'links of stray blocks are back in their queues'],
    [did.printsAdded, 'URL was added to the log of known URLs', 'URLs were added to the log of known URLs'],
    [
      did.printsDropped,
      'URL that was lost is not known any more, so that it can be found again',
      'URLs that were lost are not known any more, so that they can be found again',
    ],
    [did.countersSet, 'counter was set to what the rows say', 'counters were set to what the rows say'],
  ];
  return told.filter(([count]) => count > 0).map(([count, one, many]) => plural(count, one, many));
};

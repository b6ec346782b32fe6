/** Do the parts of a crawl agree, and can what is damaged be put right? */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readDead } from '../archive/dead-list.ts';
import type { StoredCrawl } from '../contract/stored-crawl.ts';
import { plural, writeCount } from '../lib/units.ts';
import { UsageError } from '../model/read-settings.ts';
import { databaseBytes, hasStore } from '../store/files.ts';
import { FILES } from '../folder/folder.ts';
import { identitiesOf, shortName } from '../folder/gathering.ts';
import { lockCrawl, type Lock } from '../folder/lock.ts';
import { knownStore, storePlace } from '../folder/store-place.ts';
import { checkArchive, type ArchiveReport } from './verify/archive.ts';
import { createFinder, type Damage, type Finder, type Found } from './verify/damage.ts';
import { checkIdentity, checkSeedFile } from './verify/folder-check.ts';
import { lostMembers, mendShared } from './verify/mend-shared.ts';
import type { Figures, NotGiven, VerifyOptions } from './verify/options.ts';
import type { PartPlan, Plan } from './verify/plan.ts';
import { identityOf, openParts, rowsElsewhere, rowsMissing, type Part, type Parts } from './verify/parts.ts';
import { placedPages } from './verify/placed.ts';
import { repairEmbedded } from './verify/repair-embedded.ts';
import { tellFaults, tellRows } from './verify/rows.ts';
import { survey, type Survey } from './verify/survey.ts';

export type { Found } from './verify/damage.ts';
export type { NotGiven, VerifyProgress } from './verify/options.ts';

export interface VerifyReport {
  readonly found: Found;
  readonly figures: Figures;
  /** Members that settled links and were not looked at. */
  readonly notGiven: readonly NotGiven[];
  /** What a repair did, a sentence for each kind; null when none was made. */
  readonly repaired: readonly string[] | null;
  /** What is still wrong after the repair; null when none was made. */
  readonly after: Found | null;
}

interface Checkup {
  readonly found: Finder;
  readonly figures: Figures;
  readonly notGiven: readonly NotGiven[];
  /** Null when nothing can be said, because the store cannot be read. */
  readonly plan: Plan | null;
}

/** Throws a UsageError when there is no crawl, or another process has it open. */
export const verifyCrawl = async (options: VerifyOptions): Promise<VerifyReport> => {
  // Before the locks: a directory that is no crawl, or of another one, is left as it is.
  for (const dir of options.dirs) checkIdentity(dir, createFinder());
  if (options.dirs.length > 1) identitiesOf(options.dirs);
  const locks: Lock[] = [];
  try {
    for (const dir of options.dirs) locks.push(lockCrawl(dir));
    const { found, figures, notGiven, plan } = await checkup(options);
    const isDue = found.count > 0 || (options.lost ?? []).length > 0;
    if (!options.repair || !isDue || plan === null || !canMend(found))
      return { found, figures, notGiven, repaired: null, after: null };
    const repaired = await repair(options, plan);
    const again = await checkup({ ...options, lost: [] });
    return { found, figures: again.figures, notGiven: again.notGiven, repaired, after: again.found };
  } finally {
    for (const lock of locks) lock.release();
  }
};

/**
 * Where a repair of a shared store was killed, rows are left of links that wait again, and counters differ by them:
 * they agree once the rows are gone.
 */
const canMend = ({ advice, byKind }: Found): boolean =>
  advice.length === 0 || (advice.every((text) => text === NO_REPAIR) && (byKind['link-twice'] ?? 0) > 0);

const NO_REPAIR = 'this cannot be repaired in a store on a server: restore it from a copy';

const noFigures = (): Figures => ({ pages: 0, records: 0, files: 0, archiveBytes: 0, links: 0, sites: 0 });

const checkup = async (options: VerifyOptions): Promise<Checkup> => {
  const unbegun = options.dirs.find((dir) => !hasStore(dir, knownStore(identityOf(dir)?.settings.store)));
  if (unbegun !== undefined) return checkUnbegun(unbegun);
  const all = await openParts(options.dirs);
  try {
    const lost = lostMembers(all, options.lost ?? []);
    const found = createFinder(all.crawl.repair ? undefined : NO_REPAIR);
    const needsPlace = all.parts.map(({ dir }) => checkIdentity(dir, found)).every(Boolean);
    if (options.all)
      for (const { member, where, settled } of all.notGiven.filter((one) => !lost.includes(one.member)))
        found.add({
          kind: 'member-missing',
          says: `the member ${shortName(member)} (${where}) settled ${plural(settled, 'link')}, and its directory was not given`,
        });
    return { ...(await checkParts(all, { ...options, found, needsPlace })), notGiven: all.notGiven };
  } finally {
    await all.close();
  }
};

const checkUnbegun = async (dir: string): Promise<Checkup> => {
  const found = createFinder();
  checkIdentity(dir, found);
  if (existsSync(join(dir, FILES.warc)))
    found.add({ kind: 'database', file: FILES.store, says: `${FILES.store} is missing, though there is an archive` });
  else found.leave('the store was not made yet');
  await checkSeedFile(dir, 0, found);
  return { found, figures: noFigures(), notGiven: [], plan: null };
};

interface Checking extends VerifyOptions {
  readonly found: Finder;
  readonly needsPlace: boolean;
}

const checkParts = async (all: Parts, options: Checking): Promise<Omit<Checkup, 'notGiven'>> => {
  const { found, onProgress } = options;
  const { crawl, parts } = all;
  const { dir, identity } = parts[0]!;
  const bytes = parts.reduce((sum, part) => sum + databaseBytes(part.dir), 0);
  onProgress({ phase: 'store', done: 0, total: bytes, unit: 'bytes' });
  const { faults, whole } = await survey(crawl, {
    shards: identity && storePlace(dir, identity, '').shards,
    needsPlace: options.needsPlace,
    rowsElsewhere: (tally) => rowsElsewhere(all, tally),
    onProgress: (done, total) => onProgress({ phase: 'links', done, total, unit: 'links' }),
  });
  const rows = tellFaults(faults, found);
  if (whole === null) return { found, figures: noFigures(), plan: null }; // rows cannot be trusted
  // What a member settles meanwhile looks like damage; who took part was asked before the survey.
  const settled = (await crawl.members()).reduce((total, one) => total + one.settled, 0);
  const known = all.roster.reduce((total, one) => total + one.settled, 0);
  const isAtWork = all.roster.length > 0 && settled !== known;
  if (isAtWork || (await crawl.census()).changes !== whole.census.changes)
    throw new UsageError('another process works on this crawl: stop it, then check again');
  tellRows(whole, found);
  for (const part of parts) tellMissingRows(all, part, found);
  const archives: PartPlan[] = [];
  for (const part of parts) archives.push(await checkPart(part, { ...options, whole, isOne: parts.length === 1 }));
  const sum = (of: (one: PartPlan) => number): number => archives.reduce((total, one) => total + of(one), 0);
  const figures = {
    pages: whole.census.pages - [...whole.unmet.pages.values()].reduce((total, n) => total + n, 0),
    records: sum(({ records }) => records),
    files: sum(({ files }) => files),
    archiveBytes: sum(({ bytes: n }) => n),
    links: whole.links - whole.unmet.links,
    sites: whole.sites,
  };
  return { found, figures, plan: { rows, whole, archives } };
};

const tellMissingRows = (all: Parts, part: Part, found: Finder): void => {
  const missing = rowsMissing(all, part);
  if (missing === 0) return;
  const [settled, rows] = [plural(part.rows + missing, 'link'), writeCount(part.rows)];
  found.add({
    kind: 'rows-missing',
    says: `"${part.dir}" has the rows of ${rows}, but its member settled ${settled}: ${writeCount(missing)} are lost`,
    // Only with all at hand is it known which links nobody has.
    ...(all.notGiven.length > 0
      ? { advice: 'give the directories of all members, so that it is known what is lost' }
      : {}),
  });
};

interface PartOptions extends Checking {
  readonly whole: Survey;
  readonly isOne: boolean;
}

/** The seeds and the archive of one directory. */
const checkPart = async (part: Part, options: PartOptions): Promise<PartPlan> => {
  const { dir, identity, crawl } = part;
  const { whole, isOne } = options;
  const found = isOne ? options.found : inDirectory(dir, options.found);
  const mark = whole.census.marks[identity?.member === undefined ? 'seeds' : `seeds:${identity.member}`] ?? 0;
  const seedLines = await checkSeedFile(dir, mark, found);
  return { ...(await checkRecords(crawl, { ...options, found, dir })), dir, seedLines };
};

/** Files of seeds and settings have the same names everywhere. */
const inDirectory = (dir: string, found: Finder): Finder => ({
  ...found,
  get count() {
    return found.count;
  },
  add: (damage: Damage) => found.add({ ...damage, says: `"${dir}": ${damage.says}` }),
  leave: (text) => found.leave(`"${dir}": ${text}`),
});

const checkRecords = async (
  crawl: StoredCrawl,
  { dir, found, whole, isOne, onProgress }: PartOptions & { readonly dir: string },
): Promise<ArchiveReport> => {
  const tally = isOne ? whole.tally : await tallyOf(crawl);
  const damageBefore = found.count;
  const archive = await checkArchive({
    dir: join(dir, FILES.warc),
    pages: placedPages(crawl, isOne && whole.inOrder),
    settled: tally.archive,
    dead: [...readDead(dir), ...tally.dead.map((one) => ({ ...one, why: 'it was not settled' }))],
    found,
    onProgress: (done, total) => onProgress({ phase: 'archive', done, total, unit: 'bytes' }),
  });
  // Members count their archives together, and here is one of them.
  const isWhole = crawl.repair !== undefined && tally.elsewhere.length === 0;
  if (isWhole && found.count === damageBefore && archive.archivedBytes !== whole.census.archivedBytes) {
    found.add({
      kind: 'counter',
      says: `the counter "archivedBytes" says ${writeCount(whole.census.archivedBytes)}, but there are ${writeCount(archive.archivedBytes)}`,
    });
  }
  return archive;
};

const tallyOf = async (crawl: StoredCrawl): Promise<Survey['tally']> => {
  for await (const found of crawl.walk(['tally'])) if (found.kind === 'tally') return found;
  throw new Error('a walk over a crawl must end with its tally');
};

const repair = async (options: VerifyOptions, plan: Plan): Promise<string[]> => {
  const all = await openParts(options.dirs);
  try {
    const [first] = all.parts;
    const onProgress = (done: number): void => options.onProgress({ phase: 'repair', done, total: 0, unit: 'links' });
    if (first!.crawl.repair) return await repairEmbedded(first!, plan, onProgress);
    return await mendShared(all, { plan, lost: lostMembers(all, options.lost ?? []), onProgress });
  } finally {
    await all.close();
  }
};

/**
 * Meets every link of a crawl once and counts: is each in exactly one state, and do the counters say the same?
 *
 * Memory: 12 bytes per URL ever seen (the fingerprints, as a running crawl has them), 4 bytes per site and a bit
 * per block; what is wrong is kept besides. Nothing grows with the number of pages.
 */

import { createFingerprintTable, type FingerprintTable } from '../../lib/fingerprint-table.ts';
import { ANSWERED_OUTCOMES, type OutcomeName } from '../../model/outcome.ts';
import { fingerprint } from '../../url/fingerprint.ts';
import { shardOf } from '../../url/shard.ts';
import { replaySeen } from './snapshot.ts';
import { eachRow, type Checked } from './check.ts';
import { createVisited, walkLine, type SiteEnds, type Visited } from './line-walk.ts';
import type { Waiting } from '../link-text.ts';
import { SITE_HELD, SITE_IDLE, SITE_LEASED, SITE_PARKED, SITE_WAITING, shardsIn } from './schema.ts';
import { countSettled, emptyTally, type Tally } from './tally.ts';

/** Something of a link, a line or a counter that is not as it should be. */
export type RowFault =
  | {
      readonly kind: 'link-twice' | 'link-unseen';
      readonly url: string;
      readonly print: bigint;
      readonly site: number;
      readonly page: number | null;
    }
  | { readonly kind: 'line'; readonly site: number; readonly name: string; readonly says: string }
  | { readonly kind: 'page'; readonly page: number; readonly url: string; readonly says: string }
  | { readonly kind: 'row'; readonly says: string }
  /** Links wait, but it is not called; or it would be called for none. */
  | { readonly kind: 'rest'; readonly site: number; readonly name: string; readonly waits: boolean }
  | {
      readonly kind: 'count';
      readonly site: number;
      readonly name: string;
      readonly what: 'waiting' | 'pages';
      readonly is: number;
      readonly said: number;
    };

export interface Survey {
  /** The counters as the rows say. */
  readonly counted: Pick<
    Tally,
    'waiting' | 'leased' | 'parked' | 'held' | 'settled' | 'pages' | 'sites' | 'sitesParked' | 'sitesHeld'
  >;
  readonly links: number;
  /** Whether the numbers of pages follow the order of their places. */
  readonly inOrder: boolean;
  readonly faults: readonly RowFault[];
  readonly orphanBlocks: readonly number[];
  readonly orphanPacks: readonly number[];
  /** Fingerprints of the log that no link has. */
  readonly lost: FingerprintTable;
  /** Fingerprints that are in the log more than once. */
  readonly repeated: number;
}

export interface SurveyOptions {
  /** Whether an answer must have a record: not when nothing was kept at some time, or when nobody knows. */
  readonly needsPlace: boolean;
  readonly onProgress: (linksDone: number) => void;
}

const PROGRESS_EVERY = 1_000;

interface Course {
  readonly checked: Checked;
  readonly counted: Tally;
  readonly faults: RowFault[];
  /** Fingerprints of the log whose link was not met yet. */
  readonly seen: FingerprintTable;
  /** Links whose fingerprint was not there: met before, or never in the log. */
  readonly suspects: Extract<RowFault, { kind: 'link-twice' | 'link-unseen' }>[];
  readonly visited: Visited;
  readonly sitePages: Uint32Array;
  readonly onProgress: (linksDone: number) => void;
  links: number;
}

export const survey = (checked: Checked, { needsPlace, onProgress }: SurveyOptions): Survey => {
  const { max } = checked.sql('SELECT coalesce(max(id), 0) AS max FROM site').get() as { max: number };
  const { known } = checked.sql('SELECT coalesce(sum(length(fingerprints)), 0) / 8 AS known FROM seen').get() as {
    known: number;
  };
  // with room for all: a table that grows leaves its former rooms to the garbage collector
  const seen = createFingerprintTable(known);
  let repeated = 0;
  replaySeen(checked.db, 0, (print) => void (seen.add(print) || repeated++));
  const course: Course = {
    checked,
    seen,
    counted: emptyTally(),
    faults: [],
    suspects: [],
    visited: createVisited(),
    sitePages: new Uint32Array(max + 1),
    onProgress,
    links: 0,
  };
  const inOrder = surveyPages(course, needsPlace);
  surveySites(course);
  judgeSuspects(course);
  const { counted, faults, links } = course;
  return {
    counted,
    links,
    inOrder,
    faults,
    orphanBlocks: orphansOf(course, 'block'),
    orphanPacks: orphansOf(course, 'pack'),
    lost: seen,
    repeated,
  };
};

const meet = (course: Course, of: { url: string; site: number; page: number | null }): bigint => {
  const print = fingerprint(of.url);
  if (!course.seen.remove(print)) course.suspects.push({ kind: 'link-twice', print, ...of });
  if (++course.links % PROGRESS_EVERY === 0) course.onProgress(course.links);
  return print;
};

type PageRow = readonly [
  id: number,
  site: number,
  known: number | null,
  urlKey: number,
  url: string,
  outcome: OutcomeName,
  file: string | null,
  offset: number,
];

/** Whether the pages are in the order of their places. */
const surveyPages = (course: Course, needsPlace: boolean): boolean => {
  const { counted, faults, sitePages } = course;
  let inOrder = true;
  let last = { file: '', offset: 0 };
  const rows = eachRow<PageRow>(
    course.checked.sql,
    `SELECT page.id, page.site, site.id, url_key, url, outcome, file, offset
    FROM page LEFT JOIN site ON site.id = page.site ORDER BY page.id`,
  );
  for (const [id, site, known, urlKey, url, outcome, file, offset] of rows) {
    const print = meet(course, { url, site, page: id });
    countSettled(counted, outcome);
    const answered = outcome in ANSWERED_OUTCOMES;
    if (known === null)
      faults.push({ kind: 'row', says: `the page ${url} belongs to site ${site}, which is not there` });
    else if (answered) sitePages[site]!++;
    const page = { kind: 'page', page: id, url } as const;
    if (Number(print >> 11n) !== urlKey) faults.push({ ...page, says: 'its row has the key of another URL' });
    else if (answered && needsPlace && file === null)
      faults.push({ ...page, says: `its outcome is ${outcome}, but it has no record` });
    else if (!answered && file !== null)
      faults.push({ ...page, says: `its outcome is ${outcome}, but it has a record` });
    if (file === null) continue;
    inOrder &&= file > last.file || (file === last.file && offset >= last.offset);
    last = { file, offset };
  }
  return inOrder;
};

interface SiteRow extends SiteEnds {
  readonly shard: number;
  readonly state: number;
  readonly waiting: number;
  readonly pages: number;
  readonly leased: string | null;
}

type SiteColumns = [number, string, number, number, number, number, string | null, string, number];

function* sitesOf({ sql }: Checked): Generator<SiteRow> {
  const rows = eachRow<SiteColumns>(
    sql,
    'SELECT id, name, shard, state, waiting, pages, leased, line, head_at FROM site ORDER BY id',
  );
  for (const [id, name, shard, state, waiting, pages, leased, line, head_at] of rows)
    yield { id, name, shard, state, waiting, pages, leased, line, head_at };
}

const surveySites = (course: Course): void => {
  const { counted, faults, sitePages, checked } = course;
  const shards = shardsIn(checked.db);
  for (const site of sitesOf(checked)) {
    const { id, name, state } = site;
    counted.sites++;
    const waiting = countLine(course, site);
    switch (state) {
      case SITE_PARKED:
        counted.parked += waiting;
        counted.sitesParked++;
        break;
      case SITE_HELD:
        counted.held += waiting;
        counted.sitesHeld++;
        break;
      case SITE_LEASED:
      case SITE_WAITING:
      case SITE_IDLE:
        counted.waiting += waiting;
        break;
      default:
        faults.push({ kind: 'row', says: `the site ${name} has the unknown state ${state}` });
    }
    const shard = shardOf(name, shards);
    if (site.shard !== shard)
      faults.push({ kind: 'row', says: `the site ${name} is in shard ${site.shard}, but belongs to ${shard}` });
    if ((state === SITE_WAITING && waiting === 0) || (state === SITE_IDLE && waiting > 0))
      faults.push({ kind: 'rest', site: id, name, waits: waiting > 0 });
    surveyLease(course, site);
    const isPages = sitePages[id]!;
    if (site.waiting !== waiting)
      faults.push({ kind: 'count', site: id, name, what: 'waiting', is: waiting, said: site.waiting });
    if (site.pages !== isPages)
      faults.push({ kind: 'count', site: id, name, what: 'pages', is: isPages, said: site.pages });
  }
};

const countLine = (course: Course, site: SiteRow): number => {
  let waiting = 0;
  const broken = walkLine({ sql: course.checked.sql, site, visited: course.visited }, ({ link }) => {
    waiting++;
    meet(course, { url: link.url, site: site.id, page: null });
  });
  if (broken !== null) course.faults.push({ kind: 'line', site: site.id, name: site.name, says: broken });
  return waiting;
};

const surveyLease = (course: Course, { id, name, state, leased }: SiteRow): void => {
  if ((state === SITE_LEASED) !== (leased !== null))
    course.faults.push({
      kind: 'row',
      says: `the site ${name} is ${leased === null ? 'leased without a link' : 'not leased, but has a leased link'}`,
    });
  if (leased === null) return;
  try {
    meet(course, { url: (JSON.parse(leased) as Waiting).link.url, site: id, page: null });
    course.counted.leased++;
  } catch {
    course.faults.push({ kind: 'row', says: `the leased link of the site ${name} cannot be read` });
  }
};

/** A fingerprint that is in the log after all was met twice; one that is not was never logged. */
const judgeSuspects = ({ suspects, faults, checked }: Course): void => {
  if (suspects.length === 0) return;
  const unlogged = new Set(suspects.map((one) => one.print));
  replaySeen(checked.db, 0, (print) => unlogged.delete(print));
  for (const one of suspects) faults.push(unlogged.delete(one.print) ? { ...one, kind: 'link-unseen' } : one);
};

const orphansOf = ({ checked, visited }: Course, table: 'block' | 'pack'): number[] => {
  const met = table === 'block' ? visited.blocks : visited.packs;
  return [...eachRow<[number]>(checked.sql, `SELECT id FROM ${table} ORDER BY id`)]
    .map(([id]) => id)
    .filter((id) => !met.has(id));
};

/** A stopped crawl in pieces, to move it to another store: one way over all rows, in little memory. */

import { StoreFault } from '../../frontier/store.ts';
import { numbersOf } from '../../lib/long-queue.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import type { PlacedPage } from '../../model/settlement.ts';
import { siteOf } from '../../url/site.ts';
import type { Piece } from '../shared-crawl.ts';
import { readTally } from './book.ts';
import { eachRow, openToCheck, type Checked } from './check.ts';
import { storeFault } from './fault.ts';
import { readWaiting, type Waiting } from '../link-text.ts';
import { packsOf, READ_IN_BLOCK } from './line.ts';
import { linksFrom } from './line-walk.ts';
import { openSqliteReader } from './reader.ts';
import { SITE_HELD, SITE_LEASED, SITE_PARKED } from './schema.ts';

/** Links of one piece: about 100 KB, so that a line of any length is never in memory as a whole. */
const LINKS_PER_PIECE = 500;
/** With the largest extracted values, 6 MiB. */
const PAGES_PER_PIECE = 100;

/** Throws a StoreFault when a link is leased, or a line is broken. */
export function* piecesOf(path: string): Generator<Piece> {
  let checked: Checked | undefined;
  try {
    checked = openToCheck(path);
    checkNoLease(checked);
    yield* sitePieces(checked);
    yield* robotsPieces(checked);
    yield* pagePieces(path);
    const { forgotten, archivedBytes, archive, marks } = readTally(checked.db);
    yield { kind: 'tally', forgotten, archivedBytes, archive, marks, notes: {} };
  } catch (error) {
    throw storeFault(error);
  } finally {
    checked?.db.close();
  }
}

/** The last moment that the store recorded: its clock never starts before it. */
export const lastMomentIn = (path: string): number => {
  const { db } = openToCheck(path);
  try {
    return readTally(db).moment;
  } finally {
    db.close();
  }
};

const checkNoLease = ({ sql }: Checked): void => {
  const leased = sql(`SELECT name FROM site WHERE state = ${SITE_LEASED} LIMIT 1`).get() as
    | { name: string }
    | undefined;
  if (leased)
    throw new StoreFault(`a link of "${leased.name}" is leased: the crawl was killed`, 'resume and stop it first');
};

interface SiteLine {
  readonly site: string;
  readonly line: string;
  readonly headAt: number;
}

type SiteRow = readonly [
  site: string,
  state: number,
  pages: number,
  dueAt: number,
  delayMs: number,
  crawlDelayMs: number,
  responseMs: number,
  failures: number,
  line: string,
  headAt: number,
];

function* sitePieces(checked: Checked): Generator<Piece> {
  const rows = eachRow<SiteRow>(
    checked.sql,
    'SELECT name, state, pages, due_at, delay_ms, crawl_delay_ms, response_ms, failures, line, head_at FROM site ORDER BY id',
  );
  for (const [site, state, pages, dueAt, delayMs, crawlDelayMs, responseMs, failures, line, headAt] of rows) {
    yield {
      kind: 'site',
      site,
      state: stateOf(state),
      pages,
      pace: { dueAt, delayMs, crawlDelayMs, responseMs, failures },
    };
    if (line !== '') yield* linePieces(checked, { site, line, headAt });
  }
}

const stateOf = (state: number): 'open' | 'parked' | 'held' =>
  state === SITE_PARKED ? 'parked' : state === SITE_HELD ? 'held' : 'open';

function* linePieces(checked: Checked, line: SiteLine): Generator<Piece> {
  let links: Waiting[] = [];
  for (const block of blocksOf(checked, line)) {
    links.push(...block);
    if (links.length < LINKS_PER_PIECE) continue;
    yield { kind: 'line', site: line.site, links };
    links = [];
  }
  if (links.length > 0) yield { kind: 'line', site: line.site, links };
}

type BlockRow = readonly [readTo: number, via: string, links: string];

function* blocksOf(checked: Checked, { site, line, headAt }: SiteLine): Generator<Waiting[]> {
  const select = checked.sql('SELECT read_to, via, links FROM block WHERE id = ?', 'arrays');
  let from = headAt;
  try {
    for (const id of numbersOf(line, packsOf(checked))) {
      const block = select.get(id) as unknown as BlockRow | undefined;
      if (!block) throw new Error(`block ${id} is missing`);
      const [readTo, via, text] = block;
      const lines = linksFrom({ links: text }, from === READ_IN_BLOCK ? readTo : from);
      if (lines === null) throw new Error(`block ${id} cannot be read`);
      yield lines.map((one) => readWaiting(one, via, site));
      from = READ_IN_BLOCK; // the site's row speaks of the first block alone
    }
  } catch (error) {
    throw new StoreFault(
      `the line of the site "${site}" is broken: ${(error as Error).message}`,
      'put it right by "gossamer verify --repair"',
      error,
    );
  }
}

type RobotsRow = readonly [string, number, number, RobotsRecord['verdict'], string, number | null];

/** A record has its origin alone; the site is that of its host. Those of one site need not follow each other. */
function* robotsPieces({ sql }: Checked): Generator<Piece> {
  const rows = eachRow<RobotsRow>(
    sql,
    'SELECT origin, fetched_at, expires_at, verdict, rules, crawl_delay_ms FROM robots ORDER BY rowid',
  );
  for (const [origin, fetchedAt, expiresAt, verdict, rules, crawlDelayMs] of rows) {
    yield {
      kind: 'robots',
      site: siteOf(new URL(origin).hostname),
      records: [{ origin, fetchedAt, expiresAt, verdict, rules, crawlDelayMs }],
    };
  }
}

function* pagePieces(path: string): Generator<Piece> {
  const reader = openSqliteReader(path);
  try {
    let pages: PlacedPage[] = [];
    for (const page of reader.pages({})) {
      if (pages.push(page) < PAGES_PER_PIECE) continue;
      yield { kind: 'pages', pages };
      pages = [];
    }
    if (pages.length > 0) yield { kind: 'pages', pages };
  } finally {
    reader.close();
  }
}

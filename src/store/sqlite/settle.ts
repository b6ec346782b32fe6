/** Ends leases: records first, then rows, in one transaction. */

import { settledOf, type Settled } from '../../frontier/store.ts';
import type { Page, Place, Settlement } from '../../model/settlement.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import { appendKept, keptBytes, placeOf } from '../kept.ts';
import { PAGE_COLUMNS, PAGE_MARKS, pageValues } from '../page-row.ts';
import type { Book } from './book.ts';
import type { Waiting } from '../link-text.ts';
import { appendToLine, putFirst, type LineEnds } from './line.ts';
import { SITE_IDLE, SITE_LEASED, SITE_PARKED, SITE_WAITING } from './schema.ts';
import { countSettled } from './tally.ts';

export interface LeasedSite extends LineEnds {
  id: number;
  name: string;
  shard: number;
  waiting: number;
  delay_ms: number;
  lease: number;
  leased: string;
}

export const LEASED_COLUMNS = 'id, name, shard, waiting, delay_ms, lease, leased, line, head_at';

export const settle = (book: Book, settlements: readonly Settlement[]): Settled => {
  const kept: { settlement: Settlement; site: LeasedSite }[] = [];
  const leases = new Set<number>();
  for (const settlement of settlements) {
    const site = inForce(book, settlement);
    if (!site || leases.has(settlement.lease)) continue;
    leases.add(settlement.lease);
    kept.push({ settlement, site });
  }
  // Append before the rows that point there: a crash in between leaves a tail, which the next start cuts.
  const places = appendRecords(
    book,
    kept.map((one) => one.settlement),
  );
  kept.forEach(({ settlement, site }, i) => settleOne(book, { settlement, site, place: places[i]! }));
  if (kept.length > 0) book.tally.changes++;
  const settled = new Set(kept.map(({ settlement }) => settlement));
  return settledOf(settlements, (one) => settled.has(one));
};

type LeasedRow = readonly [number, string, number, number, number, number, string, string, number];

const inForce = (book: Book, settlement: Settlement): LeasedSite | undefined => {
  const row = book
    .sql(`SELECT ${LEASED_COLUMNS} FROM site WHERE name = ? AND state = ${SITE_LEASED} AND lease = ?`, 'arrays')
    .get(settlement.site, settlement.lease) as unknown as LeasedRow | undefined;
  if (!row) return undefined;
  const [id, name, shard, waiting, delay_ms, lease, leased, line, head_at] = row;
  return { id, name, shard, waiting, delay_ms, lease, leased, line, head_at };
};

const appendRecords = (book: Book, settlements: readonly Settlement[]): (Place | null)[] => {
  const begins = appendKept(book.archive, settlements);
  book.tally.archive = book.archive.end();
  return settlements.map((settlement, i) => {
    book.tally.archivedBytes += keptBytes(settlement).length;
    return placeOf(settlement, begins[i]!);
  });
};

interface Settling {
  readonly settlement: Settlement;
  readonly site: LeasedSite;
  readonly place: Place | null;
}

const settleOne = (book: Book, { settlement, site, place }: Settling): void => {
  const { link, tries } = JSON.parse(site.leased) as Waiting;
  const { pace, fate } = settlement;
  let back = 1;
  let pages = 0;
  switch (fate) {
    case 'settled': {
      if (!settlement.page) throw new Error(`a settled visit of ${link.url} has no page`);
      const before = book.tally.pages;
      writePage(book, site.id, { page: settlement.page, place });
      pages = book.tally.pages - before;
      back = 0;
      break;
    }
    case 'retry':
      appendToLine(book, site, [{ link, tries }]);
      break;
    case 'returned':
      putFirst(book, site, [{ link, tries: tries - 1 }]);
      break;
    default:
      fate satisfies never;
  }
  if (settlement.robots) writeRobots(book, settlement.robots);
  const state = settlement.parked ? SITE_PARKED : site.waiting + back > 0 ? SITE_WAITING : SITE_IDLE;
  book
    .sql(`UPDATE site SET state = ?, waiting = waiting + ?, pages = pages + ?, due_at = ?, delay_ms = ?, crawl_delay_ms = ?,
      response_ms = ?, failures = ?, line = ?, head_at = ?, lease = NULL, holder = NULL, leased = NULL WHERE id = ?`)
    .run(
      state,
      back,
      pages,
      pace.dueAt,
      pace.delayMs,
      pace.crawlDelayMs,
      pace.responseMs,
      pace.failures,
      site.line,
      site.head_at,
      site.id,
    );
  book.tally.leased--;
  book.tally.waiting += back;
  if (settlement.parked) {
    book.tally.waiting -= site.waiting + back;
    book.tally.parked += site.waiting + back;
    book.tally.sitesParked++;
  } else if (site.waiting + back > 0) book.notBefore[site.shard] = Math.min(book.notBefore[site.shard]!, pace.dueAt);
};

export const writePage = (
  book: Pick<Book, 'sql' | 'tally'>,
  site: number,
  { page, place }: { page: Page; place: Place | null },
): void => {
  book.sql(`INSERT INTO page (site, ${PAGE_COLUMNS}) VALUES (?, ${PAGE_MARKS})`).run(site, ...pageValues(page, place));
  countSettled(book.tally, page.outcome);
};

export const writeRobots = (book: Pick<Book, 'sql'>, robots: RobotsRecord): void => {
  book
    .sql(
      'INSERT OR REPLACE INTO robots (origin, fetched_at, expires_at, verdict, rules, crawl_delay_ms) VALUES (?, ?, ?, ?, ?, ?)',
    )
    .run(robots.origin, robots.fetchedAt, robots.expiresAt, robots.verdict, robots.rules, robots.crawlDelayMs);
};

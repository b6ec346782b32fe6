/** What a person or the supervisor changes: leases freed, sites brought back, marks set. */

import { CLAIMS_MAX, type Order } from '../../frontier/store.ts';
import { unansweredPage } from '../../frontier/page.ts';
import type { Book } from './book.ts';
import type { Waiting } from '../link-text.ts';
import { putFirst } from './line.ts';
import { SITE_HELD, SITE_IDLE, SITE_LEASED, SITE_PARKED, SITE_WAITING } from './schema.ts';
import { LEASED_COLUMNS, writePage, type LeasedSite } from './settle.ts';

export const steer = (book: Book, orders: readonly Order[]): void => {
  for (const order of orders) obey(book, order);
  if (orders.length > 0) book.tally.changes++;
};

const obey = (book: Book, order: Order): void => {
  switch (order.kind) {
    case 'free':
      return free(book, order);
    case 'retry-parked':
      return retryParked(book);
    case 'release-held':
      return releaseHeld(book, order.sitePagesMax);
    case 'mark':
      book.tally.marks[order.name] = order.value;
      return;
    default:
      order satisfies never;
  }
};

const free = (book: Book, order: Extract<Order, { kind: 'free' }>): void => {
  const where = order.holder === null ? '' : 'AND holder = ?';
  const sites = book
    .sql(`SELECT ${LEASED_COLUMNS} FROM site WHERE state = ${SITE_LEASED} ${where}`)
    .all(...(order.holder === null ? [] : [order.holder])) as unknown as LeasedSite[];
  for (const site of sites) freeOne(book, site, order.counted && (order.culprit ?? site.lease) === site.lease);
};

const freeOne = (book: Book, site: LeasedSite, counted: boolean): void => {
  const now = book.clock.now();
  const { link, tries } = JSON.parse(site.leased) as Waiting;
  const claims = counted ? tries : tries - 1;
  const givenUp = claims >= CLAIMS_MAX;
  if (givenUp)
    writePage(book, site.id, {
      page: unansweredPage({ link, tries: claims, outcome: 'gave-up', at: now }),
      place: null,
    });
  else putFirst(book, site, [{ link, tries: claims }]);
  // A full delay from now: the call of the visit that died may have left a moment ago.
  const dueAt = now + site.delay_ms;
  book
    .sql(`UPDATE site SET state = ?, waiting = waiting + ?, due_at = ?, line = ?, head_at = ?,
      lease = NULL, holder = NULL, leased = NULL WHERE id = ?`)
    .run(
      site.waiting > 0 || !givenUp ? SITE_WAITING : SITE_IDLE,
      givenUp ? 0 : 1,
      dueAt,
      site.line,
      site.head_at,
      site.id,
    );
  book.tally.leased--;
  if (!givenUp) book.tally.waiting++;
  if (site.waiting > 0 || !givenUp) book.notBefore[site.shard] = Math.min(book.notBefore[site.shard]!, dueAt);
};

/** What a site is when it is no longer set aside. */
const BACK = `iif(waiting > 0, ${SITE_WAITING}, ${SITE_IDLE})`;

const retryParked = (book: Book): void => {
  // Not after a long back-off any more, but never before a full delay: its last call may just have left.
  const now = book.clock.now();
  book
    .sql(
      `UPDATE site SET state = ${BACK}, failures = 0, due_at = max(?, min(due_at, ? + delay_ms)) WHERE state = ${SITE_PARKED}`,
    )
    .run(now, now);
  book.tally.waiting += book.tally.parked;
  book.tally.parked = 0;
  book.tally.sitesParked = 0;
  book.notBefore.fill(-Infinity);
};

const releaseHeld = (book: Book, sitePagesMax: number | null): void => {
  const below = sitePagesMax ?? Number.MAX_SAFE_INTEGER;
  const { sites, links } = book
    .sql(`SELECT count(*) AS sites, coalesce(sum(waiting), 0) AS links FROM site
    WHERE state = ${SITE_HELD} AND pages < ?`)
    .get(below) as { sites: number; links: number };
  if (sites === 0) return;
  book.sql(`UPDATE site SET state = ${BACK} WHERE state = ${SITE_HELD} AND pages < ?`).run(below);
  book.tally.held -= links;
  book.tally.waiting += links;
  book.tally.sitesHeld -= sites;
  book.notBefore.fill(-Infinity);
};

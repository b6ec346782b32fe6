/** Leases due sites, one link each. */

import type { Ask, Claimed } from '../../frontier/store.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import type { Visit } from '../../model/visit.ts';
import type { Book } from './book.ts';
import { takeFirst, type LineEnds } from './line.ts';
import { SITE_HELD, SITE_LEASED, SITE_WAITING } from './schema.ts';

interface DueSite extends LineEnds {
  id: number;
  name: string;
  waiting: number;
  pages: number;
  due_at: number;
  delay_ms: number;
  crawl_delay_ms: number;
  response_ms: number;
  failures: number;
}

type DueRow = readonly [number, string, number, number, number, number, number, number, number, string, number];

const toDueSite = ([
  id,
  name,
  waiting,
  pages,
  due_at,
  delay_ms,
  crawl_delay_ms,
  response_ms,
  failures,
  line,
  head_at,
]: DueRow): DueSite => ({
  id,
  name,
  waiting,
  pages,
  due_at,
  delay_ms,
  crawl_delay_ms,
  response_ms,
  failures,
  line,
  head_at,
});

/** Answered from the index site_due alone, in its order: the cost of a claim does not grow with the frontier. */
export const DUE_SQL = `SELECT id, name, waiting, pages, due_at, delay_ms, crawl_delay_ms, response_ms, failures, line, head_at
  FROM site WHERE shard = ? AND state = ${SITE_WAITING} AND due_at <= ? ORDER BY due_at LIMIT ?`;
const NEXT_SQL = `SELECT due_at FROM site WHERE shard = ? AND state = ${SITE_WAITING} ORDER BY due_at LIMIT 1`;

export const claim = (book: Book, ask: Ask): Claimed => {
  const now = book.clock.now();
  const visits: Visit[] = [];
  const room = roomFor(book, ask);
  const turn = book.turn++;
  let nextDueAt = Infinity;
  for (let i = 0; i < ask.shards.length; i++) {
    const shard = ask.shards[(turn + i) % ask.shards.length]!;
    while (visits.length < room && book.notBefore[shard]! <= now) {
      const wanted = room - visits.length;
      const due = (book.sql(DUE_SQL, 'arrays').all(shard, now, wanted) as unknown as DueRow[]).map(toDueSite);
      for (const site of due) {
        if (ask.sitePagesMax !== null && site.pages >= ask.sitePagesMax) hold(book, site);
        else visits.push(lease(book, site, { ask, now }));
      }
      if (due.length < wanted) book.notBefore[shard] = nextDue(book, shard);
    }
    nextDueAt = Math.min(nextDueAt, Math.max(book.notBefore[shard]!, now));
  }
  if (visits.length > 0) book.tally.changes++;
  return { visits, nextDueAt: nextDueAt === Infinity ? null : nextDueAt };
};

/** Leases under way may each become a page: they count against the limit as if they had. */
const roomFor = (book: Book, ask: Ask): number =>
  ask.pagesMax === null ? ask.visits : Math.min(ask.visits, ask.pagesMax - book.tally.pages - book.tally.leased);

const nextDue = (book: Book, shard: number): number =>
  (book.sql(NEXT_SQL).get(shard) as { due_at: number } | undefined)?.due_at ?? Infinity;

const hold = (book: Book, site: DueSite): void => {
  book.sql(`UPDATE site SET state = ${SITE_HELD} WHERE id = ?`).run(site.id);
  book.tally.waiting -= site.waiting;
  book.tally.held += site.waiting;
  book.tally.sitesHeld++;
  book.tally.changes++;
};

const lease = (book: Book, site: DueSite, { ask, now }: { ask: Ask; now: number }): Visit => {
  const { link, tries } = takeFirst(book, site, site.name);
  const number = ++book.tally.lease;
  const delayMs = Math.max(site.delay_ms, ask.delayMs);
  // The clock moves before the call leaves: whatever happens to this visit, the site is not early.
  book
    .sql(`UPDATE site SET state = ${SITE_LEASED}, waiting = waiting - 1, line = ?, head_at = ?,
      due_at = ?, delay_ms = ?, lease = ?, holder = ?, leased = ? WHERE id = ?`)
    .run(
      site.line,
      site.head_at,
      now + delayMs,
      delayMs,
      number,
      ask.holder,
      JSON.stringify({ link, tries: tries + 1 }),
      site.id,
    );
  book.tally.waiting--;
  book.tally.leased++;
  return {
    site: site.name,
    lease: number,
    link,
    tries: tries + 1,
    claimedAt: now,
    leaseUntil: null, // one process owns this store
    pace: {
      dueAt: site.due_at,
      delayMs: site.delay_ms,
      crawlDelayMs: site.crawl_delay_ms,
      responseMs: site.response_ms,
      failures: site.failures,
    },
    robots: robotsOf(book, new URL(link.url).origin),
  };
};

export const robotsOf = ({ sql }: Pick<Book, 'sql'>, origin: string): RobotsRecord | null => {
  const row = sql(
    'SELECT fetched_at, expires_at, verdict, rules, crawl_delay_ms FROM robots WHERE origin = ?',
    'arrays',
  ).get(origin) as unknown as readonly [number, number, RobotsRecord['verdict'], string, number | null] | undefined;
  if (!row) return null;
  const [fetchedAt, expiresAt, verdict, rules, crawlDelayMs] = row;
  return { origin, fetchedAt, expiresAt, verdict, rules, crawlDelayMs };
};

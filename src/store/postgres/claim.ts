/** Leases due sites, one link each. */

import type { Ask, Claimed } from '../../frontier/store.ts';
import type { RobotsRecord } from '../../model/robots.ts';
import type { Visit } from '../../model/visit.ts';
import { arrayOf, type Book } from './book.ts';
import { readLine } from './line.ts';
import { lockKey, SETTINGS, SITE_HELD, SITE_LEASED, SITE_READY } from './schema.ts';

/**
 * Leases that ran out and are freed by one claim: when a process died there may be thousands, and other claims follow.
 */
const FREED_MAX = 500;

/**
 * Due sites shard by shard, in the order of the index site_due: nothing is sorted, and no row is locked that is not
 * leased or held. Rows that another process has locked are its own.
 */
const dueSites = (s: string): string => `
  SELECT d.id, coalesce(d.pages >= _site_pages_max, false) AS over
  FROM unnest(_shards) AS q(shard) CROSS JOIN LATERAL (
    SELECT k.id, k.pages FROM ${s}.site k WHERE k.shard = q.shard AND k.state = ${SITE_READY} AND k.due_at <= now_at
    ORDER BY k.due_at LIMIT wanted FOR UPDATE SKIP LOCKED
  ) d LIMIT wanted`;

/**
 * The clock moves before the call leaves: whatever happens to the visit, its site is not early. Answers with a row per
 * visit and, where sites of the shards asked for ran out, a row per shard with the moment of its next one.
 */
export const claimFunction = (s: string): string => `
  CREATE FUNCTION ${s}.claim(_member text, _run bigint, _shards int[], _visits int, _holder text, _delay float8, _pages_max bigint, _site_pages_max int,
    _lease_ms float8, _at float8)
  RETURNS TABLE (site text, lease bigint, link text, via text, tries int, claimed_at float8, until float8, due_at float8, delay_ms float8, crawl_delay_ms float8,
    response_ms float8, failures int, origin text, fetched_at float8, expires_at float8, verdict text, rules text, robots_delay_ms float8, shard int)
  LANGUAGE plpgsql ${SETTINGS} AS $$
  #variable_conflict use_column
  DECLARE
    now_at float8;
    room int := _visits;
    got int := 0;
    wanted int;
    found int;
    freed int := 0;
    back int := 0;
    held_sites bigint := 0;
    held_links bigint := 0;
    picked bigint[];
    over bigint[];
  BEGIN
    PERFORM ${s}.fence(_member, _run);
    now_at := ${s}.moment(_at);
    SELECT array_agg(e.id) INTO picked FROM (
      SELECT k.id FROM ${s}.site k WHERE k.state = ${SITE_LEASED} AND k.until <= now_at ORDER BY k.until LIMIT ${FREED_MAX} FOR UPDATE SKIP LOCKED) e;
    IF picked IS NOT NULL THEN
      freed := cardinality(picked);
      back := ${s}.free(_member, picked, NULL, true, NULL);
    END IF;

    IF _pages_max IS NOT NULL THEN
      -- Leases under way may each become a page: they count as if they had. No other process may count them at the same time.
      PERFORM pg_advisory_xact_lock(${lockKey(s, 'pages')});
      SELECT least(_visits, _pages_max - coalesce(sum(t.n), 0) + freed) INTO room FROM ${s}.tally t WHERE t.name IN ('pages', 'leased');
      now_at := ${s}.moment(_at);
    END IF;

    LOOP
      wanted := room - got;
      EXIT WHEN wanted <= 0;
      SELECT array_agg(d.id) FILTER (WHERE NOT d.over), array_agg(d.id) FILTER (WHERE d.over), count(*) INTO picked, over, found FROM (${dueSites(s)}) d;
      IF over IS NOT NULL THEN
        WITH held AS (UPDATE ${s}.site k SET state = ${SITE_HELD} WHERE k.id = ANY (over) RETURNING k.waiting)
        SELECT held_sites + count(*), held_links + sum(h.waiting) INTO held_sites, held_links FROM held h;
      END IF;
      IF picked IS NOT NULL THEN
        got := got + cardinality(picked);
        RETURN QUERY WITH took AS MATERIALIZED (
          SELECT k.*, nextval('${s}.lease') AS number, greatest(k.delay_ms, _delay) AS delay, b.via, b.links[k.head_at + 1] AS line,
            cardinality(b.links) <= k.head_at + 1 AS last
          FROM unnest(picked) AS p(id) JOIN ${s}.site k ON k.id = p.id LEFT JOIN ${s}.block b ON b.site = k.id AND b.position = k.head
        ), used_up AS (
          DELETE FROM ${s}.block b USING took t WHERE t.last AND b.site = t.id AND b.position = t.head
        ), leased AS (
          UPDATE ${s}.site k SET state = ${SITE_LEASED}, waiting = t.waiting - 1, due_at = now_at + t.delay, delay_ms = t.delay, lease = t.number, until = now_at + _lease_ms,
            holder = _member || '/' || _holder, tries = split_part(t.line, ' ', 1)::int + 1, leased = substr(t.line, strpos(t.line, ' ') + 1), leased_via = t.via,
            head = CASE WHEN t.last THEN t.head + 1 ELSE t.head END,
            head_at = CASE WHEN t.last THEN coalesce((SELECT n.read_to FROM ${s}.block n WHERE n.site = t.id AND n.position = t.head + 1), 0) ELSE t.head_at + 1 END
          FROM took t WHERE k.id = t.id
        )
        SELECT t.name, t.number, substr(t.line, strpos(t.line, ' ') + 1), t.via, split_part(t.line, ' ', 1)::int + 1, now_at, now_at + _lease_ms,
          t.due_at, t.delay_ms, t.crawl_delay_ms, t.response_ms, t.failures, r.origin, r.fetched_at, r.expires_at, r.verdict, r.rules, r.crawl_delay_ms, NULL::int
        FROM took t LEFT JOIN ${s}.robots r ON r.origin = split_part(split_part(t.line, '/', 1), ' ', 5) || '//' || split_part(t.line, '/', 3);
      END IF;
      EXIT WHEN found < wanted;
    END LOOP;

    IF got < _visits THEN
      RETURN QUERY SELECT NULL, NULL::bigint, NULL, NULL, NULL::int, now_at, NULL::float8, n.due_at, NULL::float8, NULL::float8, NULL::float8, NULL::int,
        NULL, NULL::float8, NULL::float8, NULL, NULL, NULL::float8, q.shard
      FROM unnest(_shards) AS q(shard) LEFT JOIN LATERAL (
        SELECT k.due_at FROM ${s}.site k WHERE k.shard = q.shard AND k.state = ${SITE_READY} ORDER BY k.due_at LIMIT 1) n ON true;
    END IF;
    IF got + held_sites + freed > 0 THEN
      PERFORM ${s}.tell(ARRAY['waiting', 'leased', 'held', 'sites_held', 'settled gave-up', 'changes'],
        ARRAY[back - got - held_links, got - freed, held_links, held_sites, freed - back, 1]);
    END IF;
  END $$;
`;

interface ClaimRow {
  /** Null in a row that tells of a shard. */
  readonly lease: number | null;
  readonly site: string;
  readonly link: string;
  readonly via: string;
  readonly tries: number;
  readonly claimed_at: number;
  readonly until: number | null;
  readonly due_at: number | null;
  readonly delay_ms: number;
  readonly crawl_delay_ms: number;
  readonly response_ms: number;
  readonly failures: number;
  readonly origin: string | null;
  readonly fetched_at: number;
  readonly expires_at: number;
  readonly verdict: RobotsRecord['verdict'];
  readonly rules: string;
  readonly robots_delay_ms: number | null;
  readonly shard: number;
}

export const claim = async (book: Book, ask: Ask, turn: number): Promise<Claimed> => {
  const { dueHints } = book;
  const rotated = ask.shards.map((_, i) => ask.shards[(turn + i) % ask.shards.length]!);
  const shards = dueHints.worthAsking(rotated, book.roughly());
  if (shards.length === 0) return { visits: [], nextDueAt: known(dueHints.next(ask.shards)) };
  const age = dueHints.age();
  const rows = await book.call<ClaimRow>('claim', [
    book.member,
    book.run,
    arrayOf(shards),
    ask.visits,
    ask.holder,
    ask.delayMs,
    ask.pagesMax,
    ask.sitePagesMax,
    ask.leaseMs,
    book.at(),
  ]);
  // Leases are numbered in the order in which sites were found due.
  const visits = rows
    .filter(({ lease }) => lease !== null)
    .map(visitOf)
    .sort((a, b) => a.lease - b.lease);
  if (rows.length > 0) book.heard(rows[0]!.claimed_at);
  const told = rows.filter(({ lease }) => lease === null);
  if (told.length === 0) return { visits, nextDueAt: visits.at(-1)?.claimedAt ?? null };
  const now = told[0]!.claimed_at;
  const dueAt = new Map(told.map(({ shard, due_at }) => [shard, due_at ?? Infinity]));
  dueHints.learn({ shards, dueAt, now, age });
  const asked = Math.min(...dueAt.values());
  return { visits, nextDueAt: known(Math.min(asked, dueHints.next(ask.shards.filter((shard) => !dueAt.has(shard))))) };
};

const known = (moment: number): number | null => (moment === Infinity ? null : moment);

const visitOf = (row: ClaimRow): Visit => ({
  site: row.site,
  lease: row.lease!,
  link: readLine(row.link, row.via, row.site),
  tries: row.tries,
  claimedAt: row.claimed_at,
  leaseUntil: row.until,
  pace: {
    dueAt: row.due_at!,
    delayMs: row.delay_ms,
    crawlDelayMs: row.crawl_delay_ms,
    responseMs: row.response_ms,
    failures: row.failures,
  },
  robots:
    row.origin === null
      ? null
      : {
          origin: row.origin,
          fetchedAt: row.fetched_at,
          expiresAt: row.expires_at,
          verdict: row.verdict,
          rules: row.rules,
          crawlDelayMs: row.robots_delay_ms,
        },
});

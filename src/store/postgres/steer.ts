/** What a person or the supervisor changes: leases freed, sites brought back, marks set. */

import { CLAIMS_MAX, type Order } from '../../frontier/store.ts';
import type { Book, Value, Verb } from './book.ts';
import { putFirst } from './line.ts';
import { SETTINGS, SITE_HELD, SITE_IDLE, SITE_LEASED, SITE_PARKED, SITE_READY } from './schema.ts';

/**
 * `free` works on sites whose rows the caller has locked and answers how many links wait again; the others are given
 * up. Each site waits a full delay from then (from the end of its lease where no moment is given), because its call may
 * just have left. Counters are the caller's.
 */
export const steerFunctions = (s: string): string => `
  CREATE FUNCTION ${s}.free(_member text, _ids bigint[], _at float8, _counted boolean, _culprit bigint) RETURNS int LANGUAGE plpgsql AS $$
  DECLARE
    waiting_again int;
  BEGIN
    WITH freed AS MATERIALIZED (
      SELECT k.id, k.head, k.head_at, k.waiting, k.leased, k.leased_via, coalesce(_at, k.until) AS at, c.tries, c.tries >= ${CLAIMS_MAX} AS given_up
      FROM unnest(_ids) AS u(id) JOIN ${s}.site k ON k.id = u.id
      CROSS JOIN LATERAL (SELECT CASE WHEN _counted AND coalesce(_culprit, k.lease) = k.lease THEN k.tries ELSE k.tries - 1 END AS tries) c
    ), back AS MATERIALIZED (
      SELECT * FROM freed f WHERE NOT f.given_up
    ), ${putFirst(s, 'back')}, given_up AS (
      INSERT INTO ${s}.page (member, site, url, outcome, at, duration_ms, content_type, bytes, title, language, redirect, digest, truncated, noindex,
        depth, via, tries, robots, detail, extracted)
      SELECT m.id, f.id, split_part(f.leased, ' ', 4), 'gave-up', f.at, 0, '', 0, '', '', '', '', '', false, split_part(f.leased, ' ', 1)::int, f.leased_via, f.tries, '', '', ''
      FROM ${s}.member m CROSS JOIN freed f WHERE m.name = _member AND f.given_up
    ), rested AS (
      UPDATE ${s}.site k SET
        state = CASE WHEN f.waiting > 0 OR NOT f.given_up THEN ${SITE_READY} ELSE ${SITE_IDLE} END, due_at = f.at + k.delay_ms,
        waiting = CASE WHEN f.given_up THEN f.waiting ELSE f.waiting + 1 END,
        head = CASE WHEN f.given_up THEN f.head ELSE f.head - 1 END, head_at = CASE WHEN f.given_up THEN f.head_at ELSE 0 END,
        lease = NULL, until = NULL, holder = NULL, tries = NULL, leased = NULL, leased_via = NULL
      FROM freed f WHERE k.id = f.id
    )
    SELECT count(*) FILTER (WHERE NOT f.given_up) INTO waiting_again FROM freed f;
    RETURN waiting_again;
  END $$;

  CREATE FUNCTION ${s}.free_held(_member text, _holder text, _counted boolean, _culprit bigint, _at float8) RETURNS void LANGUAGE plpgsql ${SETTINGS} AS $$
  DECLARE
    ids bigint[];
    back int;
  BEGIN
    SELECT array_agg(h.id) INTO ids FROM (
      SELECT k.id FROM ${s}.site k WHERE k.state = ${SITE_LEASED}
        AND CASE WHEN _holder IS NULL THEN starts_with(k.holder, _member || '/') ELSE k.holder = _member || '/' || _holder END
      ORDER BY k.id FOR UPDATE) h;
    IF ids IS NULL THEN RETURN; END IF;
    back := ${s}.free(_member, ids, ${s}.moment(_at), _counted, _culprit);
    PERFORM ${s}.tell(ARRAY['waiting', 'leased', 'settled gave-up', 'changes'], ARRAY[back, -cardinality(ids), cardinality(ids) - back, 1]);
  END $$;

  CREATE FUNCTION ${s}.retry_parked(_at float8) RETURNS void LANGUAGE plpgsql ${SETTINGS} AS $$
  DECLARE
    now_at float8 := ${s}.moment(_at);
    ids bigint[];
    links bigint;
  BEGIN
    SELECT array_agg(p.id), coalesce(sum(p.waiting), 0) INTO ids, links FROM (
      SELECT k.id, k.waiting FROM ${s}.site k WHERE k.state = ${SITE_PARKED} ORDER BY k.id FOR UPDATE) p;
    IF ids IS NULL THEN RETURN; END IF;
    -- Not after a long back-off any more, but never before a full delay: its last call may just have left.
    UPDATE ${s}.site k SET state = CASE WHEN k.waiting > 0 THEN ${SITE_READY} ELSE ${SITE_IDLE} END, failures = 0,
      due_at = greatest(now_at, least(k.due_at, now_at + k.delay_ms)) WHERE k.id = ANY (ids);
    PERFORM ${s}.tell(ARRAY['waiting', 'parked', 'sites_parked', 'changes'], ARRAY[links, -links, -cardinality(ids), 1]);
  END $$;

  CREATE FUNCTION ${s}.release_held(_site_pages_max int) RETURNS void LANGUAGE plpgsql ${SETTINGS} AS $$
  DECLARE
    ids bigint[];
    links bigint;
  BEGIN
    SELECT array_agg(h.id), coalesce(sum(h.waiting), 0) INTO ids, links FROM (
      SELECT k.id, k.waiting FROM ${s}.site k WHERE k.state = ${SITE_HELD} AND (_site_pages_max IS NULL OR k.pages < _site_pages_max) ORDER BY k.id FOR UPDATE) h;
    IF ids IS NULL THEN RETURN; END IF;
    UPDATE ${s}.site k SET state = ${SITE_READY} WHERE k.id = ANY (ids);
    PERFORM ${s}.tell(ARRAY['waiting', 'held', 'sites_held', 'changes'], ARRAY[links, -links, -cardinality(ids), 1]);
  END $$;

  CREATE FUNCTION ${s}.mark(_name text, _value float8) RETURNS void LANGUAGE plpgsql ${SETTINGS} AS $$
  BEGIN
    INSERT INTO ${s}.mark (name, value) VALUES (_name, _value) ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value;
    PERFORM ${s}.tell(ARRAY['changes'], ARRAY[1]);
  END $$;
`;

/** Each order is a call; the caller makes them one transaction. */
export const callOf = (book: Pick<Book, 'member' | 'at'>, order: Order): { verb: Verb; values: readonly Value[] } => {
  switch (order.kind) {
    case 'free':
      return {
        verb: 'free_held',
        values: [book.member, order.holder, order.counted, order.culprit ?? null, book.at()],
      };
    case 'retry-parked':
      return { verb: 'retry_parked', values: [book.at()] };
    case 'release-held':
      return { verb: 'release_held', values: [order.sitePagesMax] };
    case 'mark':
      return { verb: 'mark', values: [order.name, order.value] };
    default:
      return order satisfies never;
  }
};

/** Takes in links that were never seen. */

import type { Admitted } from '../../frontier/store.ts';
import type { Link } from '../../model/link.ts';
import { shardOf } from '../../url/shard.ts';
import { arrayOf, textsOf, type Book } from './book.ts';
import { BLOCK_CHARS_MAX, writeLine } from './line.ts';
import { keyOf, SETTINGS, SITE_HELD, SITE_IDLE, SITE_PARKED, SITE_READY } from './schema.ts';

/**
 * Sites of the batch by number; blocks as they would be if every link were new, each with the number of its site; links
 * with the number of their block. A first look locks nothing, because most links are known. Then the sites of new links
 * are locked, in the order of their ids: who holds a site is the only one that notes links of it, so a second look
 * decides.
 *
 * A link that comes more than once in a batch is sent once, with the `times` that it counts if it is forgotten. One
 * that comes again as first is sent a second time: it is taken `instead` of the former if there was no room for that.
 */
export const admitFunction = (s: string): string => `
  CREATE FUNCTION ${s}.admit(_member text, _run bigint, _site bigint[], _name text[], _shard int[], _of_block int[], _via text[], _first boolean[],
    _print bigint[], _block int[], _link text[], _times int[], _instead int[], _waiting_max int, _at float8, OUT admitted int, OUT forgotten int[])
  LANGUAGE plpgsql ${SETTINGS} AS $$
  DECLARE
    fresh boolean[];
    touched bigint[];
    room int[];
    sites int;
    now_waiting bigint;
    now_parked bigint;
    now_held bigint;
    forgotten_times bigint;
  BEGIN
    PERFORM ${s}.fence(_member, _run);
    SELECT array_agg(k.print IS NULL), array_agg(DISTINCT _site[_of_block[u.block]]) FILTER (WHERE k.print IS NULL) INTO fresh, touched
      FROM unnest(_print, _block) AS u(print, block) LEFT JOIN ${s}.seen k ON k.print = u.print;
    admitted := 0;
    forgotten := '{}';
    IF touched IS NULL THEN RETURN; END IF;

    INSERT INTO ${s}.site (id, name, shard, due_at)
      SELECT u.id, u.name, u.shard, ${s}.moment(_at) FROM unnest(_site, _name, _shard) AS u(id, name, shard)
      WHERE NOT EXISTS (SELECT FROM ${s}.site k WHERE k.id = u.id) ORDER BY u.id ON CONFLICT (id) DO NOTHING;
    GET DIAGNOSTICS sites = ROW_COUNT;
    PERFORM FROM ${s}.site k WHERE k.id = ANY (touched) ORDER BY k.id FOR UPDATE;
    IF _waiting_max IS NOT NULL THEN
      SELECT array_agg(_waiting_max - k.waiting) INTO room FROM unnest(_site) AS u(id) LEFT JOIN ${s}.site k ON k.id = u.id;
    END IF;

    WITH offered AS MATERIALIZED (
      SELECT u.print, u.block, u.link, u.nth::int AS nth, _of_block[u.block] AS site, _first[u.block] AS first, coalesce(_instead[u.nth], 0) AS instead
      FROM unnest(_print, _block, _link) WITH ORDINALITY AS u(print, block, link, nth)
      WHERE fresh[u.nth] AND NOT EXISTS (SELECT FROM ${s}.seen k WHERE k.print = u.print)
    ), ranked AS MATERIALIZED (
      SELECT o.*, _waiting_max IS NULL OR o.first OR count(*) FILTER (WHERE o.instead = 0) OVER (PARTITION BY o.site ORDER BY o.nth) <= room[o.site] AS fits
      FROM offered o
    ), taken AS MATERIALIZED (
      SELECT r.* FROM ranked r WHERE CASE r.instead WHEN 0 THEN r.fits ELSE NOT (SELECT o.fits FROM ranked o WHERE o.nth = r.instead) END
    ), noted AS (
      INSERT INTO ${s}.seen (print) SELECT t.print FROM taken t ORDER BY t.print
    ), made AS MATERIALIZED (
      SELECT t.block, min(t.site) AS site, bool_or(t.first) AS first, count(*)::int AS n, array_agg(t.link ORDER BY t.nth) AS links FROM taken t GROUP BY t.block
    ), numbered AS MATERIALIZED (
      SELECT m.*, row_number() OVER (PARTITION BY m.site, m.first ORDER BY m.block) AS nth, count(*) OVER (PARTITION BY m.site, m.first) AS of FROM made m
    ), laid AS (
      INSERT INTO ${s}.block (site, position, via, links)
      SELECT k.id, CASE WHEN b.first THEN k.head - b.of + b.nth - 1 ELSE k.tail + b.nth END, _via[b.block], b.links
      FROM numbered b JOIN ${s}.site k ON k.id = _site[b.site]
    ), totals AS MATERIALIZED (
      SELECT _site[b.site] AS id, sum(b.n)::int AS n, count(*) FILTER (WHERE b.first) AS firsts, count(*) FILTER (WHERE NOT b.first) AS ends
      FROM numbered b GROUP BY b.site
    ), kept_place AS (
      UPDATE ${s}.block b SET read_to = k.head_at FROM totals t JOIN ${s}.site k ON k.id = t.id
      WHERE t.firsts > 0 AND k.head_at > 0 AND b.site = k.id AND b.position = k.head
    ), grown AS (
      UPDATE ${s}.site k SET waiting = k.waiting + t.n, head = k.head - t.firsts, tail = k.tail + t.ends,
        head_at = CASE WHEN t.firsts > 0 THEN 0 ELSE k.head_at END, state = CASE k.state WHEN ${SITE_IDLE} THEN ${SITE_READY} ELSE k.state END
      FROM totals t WHERE k.id = t.id RETURNING k.state, t.n
    )
    SELECT coalesce(sum(g.n), 0), coalesce(sum(g.n) FILTER (WHERE g.state = ${SITE_PARKED}), 0), coalesce(sum(g.n) FILTER (WHERE g.state = ${SITE_HELD}), 0),
      (SELECT coalesce(array_agg(r.nth ORDER BY r.nth), '{}') FROM ranked r WHERE NOT r.fits)
    INTO admitted, now_parked, now_held, forgotten FROM grown g;
    SELECT coalesce(sum(coalesce(_times[u.nth], 1)), 0) INTO forgotten_times FROM unnest(forgotten) AS u(nth);

    now_waiting := admitted - now_parked - now_held;
    IF admitted > 0 OR forgotten_times > 0 OR sites > 0 THEN
      PERFORM ${s}.tell(ARRAY['waiting', 'parked', 'held', 'sites', 'forgotten', 'changes'],
        ARRAY[now_waiting, now_parked, now_held, sites, forgotten_times, 1]);
    END IF;
  END $$;
`;

/** The links of a batch as `admit` wants them. Numbers count from 1, as PostgreSQL's do. */
interface Batch {
  readonly links: Link[];
  readonly prints: bigint[];
  readonly lines: string[];
  readonly times: number[];
  readonly instead: number[];
  readonly blocks: number[];
  readonly sites: string[];
  readonly siteOfBlock: number[];
  readonly vias: string[];
  readonly firsts: boolean[];
}

/** The block under way at the end or at the head of a site's line. */
interface OpenBlock {
  readonly number: number;
  readonly via: string;
  chars: number;
}

const batchOf = (given: readonly Link[]): Batch => {
  const batch: Batch = {
    links: [],
    prints: [],
    lines: [],
    times: [],
    instead: [],
    blocks: [],
    sites: [],
    siteOfBlock: [],
    vias: [],
    firsts: [],
  };
  const met = new Map<bigint, number>();
  const numbers = new Map<string, number>();
  const open = { end: new Map<string, OpenBlock>(), head: new Map<string, OpenBlock>() };
  const blockFor = ({ site, via, first }: Link, chars: number): number => {
    const underWay = first ? open.head : open.end;
    let block = underWay.get(site);
    if (!block || block.via !== via || block.chars + chars > BLOCK_CHARS_MAX) {
      let number = numbers.get(site);
      if (number === undefined) numbers.set(site, (number = batch.sites.push(site)));
      block = { number: batch.siteOfBlock.push(number), via, chars: 0 };
      batch.vias.push(via);
      batch.firsts.push(first);
      underWay.set(site, block);
    }
    block.chars += chars;
    return block.number;
  };
  for (const link of given) {
    const print = keyOf(link.url);
    const former = met.get(print) ?? 0;
    if (former > 0 && (!link.first || batch.links[former - 1]!.first)) {
      if (!batch.links[former - 1]!.first) batch.times[former - 1]! += 1;
      continue;
    }
    const line = writeLine(link);
    met.set(print, batch.links.push(link));
    batch.prints.push(print);
    batch.lines.push(line);
    batch.times.push(1);
    batch.instead.push(former);
    batch.blocks.push(blockFor(link, line.length));
  }
  return batch;
};

export const admit = async (book: Book, given: readonly Link[], siteWaitingMax: number | null): Promise<Admitted> => {
  if (given.length === 0) return { admitted: 0, seen: 0, forgotten: 0, full: [] };
  const { links, sites, ...batch } = batchOf(given);
  const shards = sites.map((site) => shardOf(site, book.shards));
  const repeats = links.length < given.length || batch.instead.some((former) => former > 0);
  const [row] = await book.call<{ admitted: number; forgotten: number[] }>('admit', [
    book.member,
    book.run,
    arrayOf(sites.map(keyOf)),
    textsOf(sites),
    arrayOf(shards),
    arrayOf(batch.siteOfBlock),
    textsOf(batch.vias),
    arrayOf(batch.firsts),
    arrayOf(batch.prints),
    arrayOf(batch.blocks),
    textsOf(batch.lines),
    repeats ? arrayOf(batch.times) : null,
    repeats ? arrayOf(batch.instead) : null,
    siteWaitingMax,
    book.at(),
  ]);
  const { admitted, forgotten: places } = row!;
  if (admitted > 0) book.dueHints.forget(shards);
  const forgotten = places.reduce((sum, nth) => sum + batch.times[nth - 1]!, 0);
  return {
    admitted,
    seen: given.length - admitted - forgotten,
    forgotten,
    full: [...new Set(places.map((nth) => links[nth - 1]!.site))],
  };
};

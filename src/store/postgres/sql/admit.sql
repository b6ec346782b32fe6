-- Takes in links that were never seen. Gives their places, and the places of those for which their site had no room.
--
-- _site, _name, _shard     the sites of the batch, in any order
-- _of_block, _via, _first  blocks as they would be if every link were new: the number of their site, where their links
--                          were found, and whether they go to the head
-- _print, _block, _link    the links: fingerprint, number of the block, text
-- _times                   how often each came, which counts if it is forgotten; null: once
-- _instead                 the place of a link that came before as one for the end: this one, for the head, is taken if
--                          there was no room for that; 0 for none, and null when there are none
--
-- A first look locks nothing, because most links are known. Then the sites of new links are locked, in the order of
-- their ids: who holds a site is the only one that notes links of it, so a second look decides.
CREATE FUNCTION @crawl.admit(_member text, _run bigint, _site bigint[], _name text[], _shard int[], _of_block int[],
  _via text[], _first boolean[], _print bigint[], _block int[], _link text[], _times int[], _instead int[],
  _waiting_max int, _at float8, OUT taken int[], OUT forgotten int[])
LANGUAGE plpgsql @settings AS $$
DECLARE
  admitted int := 0;
  fresh boolean[];
  touched bigint[];
  room int[];
  new_sites bigint[];
  sites int;
  now_parked bigint;
  now_held bigint;
  times bigint;
BEGIN
  PERFORM @crawl.fence(_member, _run);
  SELECT array_agg(k.print IS NULL), array_agg(DISTINCT _site[_of_block[u.block]]) FILTER (WHERE k.print IS NULL)
    INTO fresh, touched FROM unnest(_print, _block) AS u(print, block) LEFT JOIN @crawl.seen k ON k.print = u.print;
  taken := '{}';
  forgotten := '{}';
  IF touched IS NULL THEN RETURN; END IF;

  -- As waiting ones, which they are in the end: the update that follows then changes no index.
  WITH added AS (
    INSERT INTO @crawl.site (id, name, shard, due_at, state)
    SELECT u.id, u.name, u.shard, @crawl.moment(_at), @waiting FROM unnest(_site, _name, _shard) AS u(id, name, shard)
    WHERE NOT EXISTS (SELECT FROM @crawl.site k WHERE k.id = u.id) ORDER BY u.id ON CONFLICT (id) DO NOTHING
    RETURNING id
  )
  SELECT count(*), array_agg(a.id) INTO sites, new_sites FROM added a;
  PERFORM FROM @crawl.site k WHERE k.id = ANY (touched) ORDER BY k.id FOR UPDATE;
  IF _waiting_max IS NOT NULL THEN
    SELECT array_agg(_waiting_max - k.waiting) INTO room
      FROM unnest(_site) AS u(id) LEFT JOIN @crawl.site k ON k.id = u.id;
  END IF;

  WITH offered AS MATERIALIZED (
    SELECT u.print, u.block, u.link, u.nth::int AS nth, _of_block[u.block] AS site, _first[u.block] AS first,
      coalesce(_instead[u.nth], 0) AS instead
    FROM unnest(_print, _block, _link) WITH ORDINALITY AS u(print, block, link, nth)
    WHERE fresh[u.nth] AND NOT EXISTS (SELECT FROM @crawl.seen k WHERE k.print = u.print)
  ), ranked AS MATERIALIZED (
    SELECT o.*, _waiting_max IS NULL OR o.first
      OR count(*) FILTER (WHERE o.instead = 0) OVER (PARTITION BY o.site ORDER BY o.nth) <= room[o.site] AS fits
    FROM offered o
  ), taken AS MATERIALIZED (
    SELECT r.* FROM ranked r
    WHERE CASE r.instead WHEN 0 THEN r.fits ELSE NOT (SELECT o.fits FROM ranked o WHERE o.nth = r.instead) END
  ), noted AS (
    INSERT INTO @crawl.seen (print) SELECT t.print FROM taken t ORDER BY t.print
  ), made AS MATERIALIZED (
    SELECT t.block, min(t.site) AS site, bool_or(t.first) AS first, count(*)::int AS n,
      array_agg(t.link ORDER BY t.nth) AS links
    FROM taken t GROUP BY t.block
  ), numbered AS MATERIALIZED (
    SELECT m.*, row_number() OVER (PARTITION BY m.site, m.first ORDER BY m.block) AS nth,
      count(*) OVER (PARTITION BY m.site, m.first) AS of
    FROM made m
  ), laid AS (
    INSERT INTO @crawl.block (site, position, via, links)
    SELECT k.id, CASE WHEN b.first THEN k.head - b.of + b.nth - 1 ELSE k.tail + b.nth END, _via[b.block], b.links
    FROM numbered b JOIN @crawl.site k ON k.id = _site[b.site]
  ), totals AS MATERIALIZED (
    SELECT _site[b.site] AS id, sum(b.n)::int AS n, count(*) FILTER (WHERE b.first) AS firsts,
      count(*) FILTER (WHERE NOT b.first) AS ends
    FROM numbered b GROUP BY b.site
  ), kept_place AS (
    UPDATE @crawl.block b SET read_to = k.head_at FROM totals t JOIN @crawl.site k ON k.id = t.id
    WHERE t.firsts > 0 AND k.head_at > 0 AND b.site = k.id AND b.position = k.head
  ), grown AS (
    UPDATE @crawl.site k SET waiting = k.waiting + t.n, head = k.head - t.firsts, tail = k.tail + t.ends,
      head_at = CASE WHEN t.firsts > 0 THEN 0 ELSE k.head_at END,
      state = CASE k.state WHEN @idle THEN @waiting ELSE k.state END
    FROM totals t WHERE k.id = t.id RETURNING k.state, t.n
  )
  SELECT coalesce(sum(g.n), 0), coalesce(sum(g.n) FILTER (WHERE g.state = @parked), 0),
    coalesce(sum(g.n) FILTER (WHERE g.state = @held), 0),
    (SELECT coalesce(array_agg(r.nth ORDER BY r.nth), '{}') FROM ranked r WHERE NOT r.fits),
    (SELECT coalesce(array_agg(t.nth), '{}') FROM taken t)
    INTO admitted, now_parked, now_held, forgotten, taken FROM grown g;
  SELECT coalesce(sum(coalesce(_times[u.nth], 1)), 0) INTO times FROM unnest(forgotten) AS u(nth);

  IF sites > 0 THEN
    UPDATE @crawl.site k SET state = @idle WHERE k.id = ANY (new_sites) AND k.waiting = 0; -- there was no room
  END IF;
  IF admitted > 0 OR times > 0 OR sites > 0 THEN
    PERFORM @crawl.tell(jsonb_build_object('waiting', admitted - now_parked - now_held, 'parked', now_parked,
      'held', now_held, 'sites', sites, 'forgotten', times, 'changes', 1));
  END IF;
END $$;

-- Undoes settlements: the links of these pages wait again, first in their queues and in this order, and their rows go.
--
-- _ids       the rows; one that is not there is passed over
-- _texts     their links as they wait (waiting-text.sql)
-- _answered  1 for a page that a server answered
CREATE FUNCTION @crawl.take_back(_ids bigint[], _texts text[], _answered int[]) RETURNS void
LANGUAGE plpgsql @settings AS $$
DECLARE
  counted jsonb;
BEGIN
  PERFORM FROM @crawl.site k WHERE k.id = ANY (ARRAY(SELECT p.site FROM @crawl.page p WHERE p.id = ANY (_ids)))
    ORDER BY k.id FOR UPDATE;
  WITH back AS MATERIALIZED (
    SELECT p.id, p.site, p.member, p.outcome, p.via, p.warc_group_length AS bytes, u.text, u.answered,
      row_number() OVER (PARTITION BY p.site ORDER BY u.nth) AS nth, count(*) OVER (PARTITION BY p.site) AS of
    FROM unnest(_ids, _texts, _answered) WITH ORDINALITY AS u(id, text, answered, nth)
    JOIN @crawl.page p ON p.id = u.id
  ), gone AS (
    DELETE FROM @crawl.page p USING back b WHERE p.id = b.id
  ), totals AS MATERIALIZED (
    SELECT b.site, count(*)::int AS n, sum(b.answered)::int AS answered FROM back b GROUP BY b.site
  ), kept_place AS (
    UPDATE @crawl.block b SET read_to = k.head_at FROM totals t JOIN @crawl.site k ON k.id = t.site
    WHERE k.head_at > 0 AND b.site = k.id AND b.position = k.head
  ), laid AS (
    INSERT INTO @crawl.block (site, position, via, links)
    SELECT b.site, k.head - b.of + b.nth - 1, b.via, ARRAY[b.text] FROM back b JOIN @crawl.site k ON k.id = b.site
  ), grown AS (
    UPDATE @crawl.site k SET head = k.head - t.n, head_at = 0, waiting = k.waiting + t.n, pages = k.pages - t.answered,
      state = CASE k.state WHEN @idle THEN @waiting ELSE k.state END
    FROM totals t WHERE k.id = t.site RETURNING k.state, t.n, t.answered
  )
  SELECT jsonb_object_agg(c.name, c.n) INTO counted FROM (
    SELECT CASE g.state WHEN @parked THEN 'parked' WHEN @held THEN 'held' ELSE 'waiting' END AS name, sum(g.n) AS n
      FROM grown g GROUP BY 1
    UNION ALL SELECT 'pages', -sum(g.answered) FROM grown g
    UNION ALL SELECT 'archived', -sum(b.bytes) FROM back b
    UNION ALL SELECT 'settled ' || b.outcome, -count(*) FROM back b GROUP BY b.outcome
    UNION ALL SELECT 'by ' || b.member, -count(*) FROM back b GROUP BY b.member
  ) c;
  PERFORM @crawl.tell(counted || '{"changes": 1}');
END $$;

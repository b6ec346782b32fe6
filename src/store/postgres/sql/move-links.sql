-- Puts links whose visits have ended into other queues of their sites: `_moves` as settle takes them, with the texts of
-- the links and where they were found. A queue that is made is no new site: it is not counted as one. The caller has
-- locked the queues that are there.
CREATE FUNCTION @crawl.move_links(_moves json, _texts text[], _vias text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  m record;
  k @crawl.site;
  is_new boolean;
  takes_over boolean;
  after smallint;
BEGIN
  FOR m IN SELECT u.* FROM ROWS FROM (json_to_recordset(_moves) AS (site bigint, id bigint, name text, shard int,
      first boolean, parked boolean, held boolean, "isNews" boolean, "dueAt" float8, "delayMs" float8,
      "crawlDelayMs" float8, "responseMs" float8, failures int)) WITH ORDINALITY AS u(site, id, name, shard, first,
      parked, held, news, due_at, delay_ms, crawl_delay_ms, response_ms, failures, nth) LOOP
    INSERT INTO @crawl.site (id, name, shard, due_at) VALUES (m.id, m.name, m.shard, m.due_at)
      ON CONFLICT (id) DO NOTHING;
    is_new := FOUND;
    SELECT * INTO k FROM @crawl.site s WHERE s.id = m.id FOR UPDATE;
    takes_over := is_new OR m.news;
    after := CASE WHEN k.state = @leased THEN k.state
      WHEN takes_over THEN CASE WHEN m.parked THEN @parked WHEN m.held THEN @held ELSE @waiting END
      WHEN k.state = @idle THEN @waiting ELSE k.state END;
    IF m.first AND k.head_at > 0 THEN
      UPDATE @crawl.block b SET read_to = k.head_at WHERE b.site = k.id AND b.position = k.head;
    END IF;
    INSERT INTO @crawl.block (site, position, via, links)
      VALUES (k.id, CASE WHEN m.first THEN k.head - 1 ELSE k.tail + 1 END, _vias[m.nth], ARRAY[_texts[m.nth]]);
    UPDATE @crawl.site s SET state = after, waiting = k.waiting + 1,
      head = k.head - m.first::int, tail = k.tail + (NOT m.first)::int,
      head_at = CASE WHEN m.first THEN 0 ELSE k.head_at END WHERE s.id = m.id;
    IF takes_over THEN
      UPDATE @crawl.site s SET due_at = m.due_at, delay_ms = m.delay_ms, crawl_delay_ms = m.crawl_delay_ms,
        response_ms = m.response_ms, failures = m.failures WHERE s.id = m.id;
    END IF;
    PERFORM @crawl.tell(jsonb_build_object(
      'waiting', CASE WHEN after NOT IN (@parked, @held) THEN k.waiting + 1 ELSE 0 END
        - CASE WHEN k.state NOT IN (@parked, @held) THEN k.waiting ELSE 0 END,
      'parked', CASE after WHEN @parked THEN k.waiting + 1 ELSE 0 END
        - CASE k.state WHEN @parked THEN k.waiting ELSE 0 END,
      'held', CASE after WHEN @held THEN k.waiting + 1 ELSE 0 END
        - CASE k.state WHEN @held THEN k.waiting ELSE 0 END,
      'sites_parked', (after = @parked)::int - (k.state = @parked)::int));
  END LOOP;
END $$;

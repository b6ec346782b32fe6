-- Ends leases, all of the batch or none. Gives the places of those whose lease is not in force (from 1), and has then
-- written nothing; null when the batch is settled, also if that was an earlier call whose answer was lost.
--
-- `shut` when nothing was settled because the store went back in time, or may have: see reign.sql; _server is the one
-- that the member knows.
--
-- _file, _bytes, _archived  where the archive ends with this batch, and the bytes it adds
-- _returned                 sites whose link goes back to the head
-- _site to _failures        the settlements, an array for each of their parts; _answered is 1 or 0
-- _pages, _robots, _counted as keep_pages, keep_robots and tell take them
-- _moves                    links that go to another queue (fate `moved`), or null; objects: site, the id, name and
--                           shard of the queue, first, parked, isNews and the parts of its pace
CREATE FUNCTION @crawl.settle(_member text, _run bigint, _server text, _batch bigint, _file text,
  _bytes bigint, _archived bigint,
  _returned bigint[], _site bigint[], _lease text[], _fate text[], _parked boolean[], _answered int[],
  _due_at float8[], _delay float8[], _crawl_delay float8[], _response float8[], _failures int[],
  _pages json, _robots json, _counted jsonb, _moves json, _at float8,
  OUT refused int[], OUT shut boolean)
LANGUAGE plpgsql @settings AS $$
DECLARE
  now_at float8;
  me record;
  sums record;
  moved text[];
  moved_vias text[];
BEGIN
  shut := NOT @crawl.fence(_member, _run);
  SELECT m.id, m.batch INTO me FROM @crawl.member m WHERE m.name = _member FOR UPDATE;
  IF me.batch >= _batch THEN
    shut := false;
    RETURN;
  END IF;
  shut := shut OR NOT @crawl.is_open(_server) OR me.batch IS DISTINCT FROM _batch - 1;
  IF shut THEN RETURN; END IF;
  PERFORM FROM @crawl.site k WHERE k.id = ANY (_site || CASE WHEN _moves IS NULL THEN '{}' ELSE
    ARRAY(SELECT u.id FROM json_to_recordset(_moves) AS u(id bigint)) END) ORDER BY k.id FOR UPDATE;
  now_at := @crawl.moment(_at);
  SELECT array_agg(u.nth::int) INTO refused FROM unnest(_site, _lease) WITH ORDINALITY AS u(site, lease, nth)
    LEFT JOIN @crawl.site k ON k.id = u.site AND k.state = @leased
      AND k.lease = u.lease AND (k.until IS NULL OR k.until > now_at)
    WHERE k.id IS NULL;
  IF refused IS NOT NULL THEN RETURN; END IF;

  IF cardinality(_returned) > 0 THEN
    PERFORM @crawl.put_first(array_agg(k.id), array_agg(@crawl.with_tries(k.leased, @crawl.tries_of(k.leased) - 1)))
      FROM @crawl.site k WHERE k.id = ANY (_returned);
  END IF;
  IF _moves IS NOT NULL THEN
    SELECT array_agg(@crawl.with_tries(k.leased, @crawl.tries_of(k.leased) - 1) ORDER BY u.nth),
        array_agg(k.leased_via ORDER BY u.nth) INTO moved, moved_vias
      FROM ROWS FROM (json_to_recordset(_moves) AS (site bigint)) WITH ORDINALITY AS u(site, nth)
      JOIN @crawl.site k ON k.id = u.site;
  END IF;
  WITH ended AS MATERIALIZED (
    SELECT u.*, k.leased, k.leased_via, k.tail + (u.fate = 'retry')::int AS tail,
      k.waiting + (u.fate = 'retry')::int AS waiting, (u.fate IN ('retry', 'returned'))::int AS back
    FROM unnest(_site, _fate, _parked, _answered, _due_at, _delay, _crawl_delay, _response, _failures)
      AS u(site, fate, parked, answered, due_at, delay, crawl_delay, response, failures)
    JOIN @crawl.site k ON k.id = u.site
  ), put_last AS (
    INSERT INTO @crawl.block (site, position, via, links)
    SELECT e.site, e.tail, e.leased_via, ARRAY[e.leased] FROM ended e WHERE e.fate = 'retry'
  ), rested AS (
    UPDATE @crawl.site k SET
      state = CASE WHEN e.parked THEN @parked WHEN e.waiting > 0 THEN @waiting ELSE @idle END,
      tail = e.tail, waiting = e.waiting, pages = k.pages + e.answered,
      due_at = e.due_at, delay_ms = e.delay, crawl_delay_ms = e.crawl_delay, response_ms = e.response,
      failures = e.failures, lease = NULL, until = NULL, holder = NULL, leased = NULL, leased_via = NULL
    FROM ended e WHERE k.id = e.site
  )
  SELECT count(*) AS leases, sum(CASE WHEN e.parked THEN e.back - e.waiting ELSE e.back END) AS waiting,
    sum(e.waiting) FILTER (WHERE e.parked) AS parked, count(*) FILTER (WHERE e.parked) AS sites INTO sums FROM ended e;

  -- When all leases of the batch have ended: the other queue may have been one of them.
  IF _moves IS NOT NULL THEN PERFORM @crawl.move_links(_moves, moved, moved_vias); END IF;
  PERFORM @crawl.keep_pages(me.id, _pages);
  PERFORM @crawl.keep_robots(_robots);
  UPDATE @crawl.member m SET batch = _batch, archive_file = _file, archive_bytes = _bytes, settled_at = now_at
    WHERE m.name = _member;
  PERFORM @crawl.tell(_counted || jsonb_build_object('waiting', sums.waiting, 'leased', -sums.leases,
    'parked', coalesce(sums.parked, 0), 'sites_parked', sums.sites, 'archived', _archived,
    'by ' || me.id, json_array_length(_pages), 'changes', 1));
END $$;

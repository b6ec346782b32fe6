-- Leases due sites, one link each, and moves their clocks before a request leaves: whatever happens to the visit, the
-- site is not early. Leases that ran out are freed first, some at a time: when a process died there may be thousands.
--
-- _shards are looked through in that order. _delay is that of a site never visited; _pages_max and _site_pages_max are
-- budgets, _budgets has the sites with one of their own, _lease_ms is how long the leases hold, each null for no end.
--
-- Gives a row per visit and, where sites of the shards asked for ran out, a row without a lease per shard, with the
-- moment at which its next site is due.
-- _server is the one that the member knows: a row without a lease and a shard tells that the crawl is shut. After an
-- opening, at `floor`, every site waits a full delay, because what the store knows of its clock may be old.
-- _run_name and _first name the leases: the name of the run, a point, and numbers from _first on.
CREATE FUNCTION @crawl.claim(_member text, _run bigint, _server text, _run_name text, _first bigint, _shards int[],
  _visits int, _holder text, _delay float8, _pages_max bigint, _site_pages_max int, _budgets jsonb, _lease_ms float8,
  _at float8)
RETURNS TABLE (lease bigint, site text, "claimedAt" float8, "leaseUntil" float8, pace json, robots json, text text,
  via text, shard int, next_due_at float8, entry bigint)
LANGUAGE plpgsql @settings AS $$
#variable_conflict use_column
DECLARE
  now_at float8;
  room int := _visits;
  got int := 0;
  wanted int;
  found int;
  freed int := 0;
  back int := 0;
  put_off int := 0;
  held_sites bigint := 0;
  held_links bigint := 0;
  picked bigint[];
  over bigint[];
  early bigint[];
  floor float8;
  last_entry bigint := @crawl.last_entry();
BEGIN
  now_at := @crawl.moment(_at);
  IF NOT (@crawl.fence(_member, _run) AND @crawl.is_open(_server)) THEN
    RETURN QUERY SELECT NULL::bigint, NULL, now_at, NULL::float8, NULL::json, NULL::json, NULL, NULL, NULL::int,
      NULL::float8, last_entry;
    RETURN;
  END IF;
  SELECT m.value::float8 INTO floor FROM @crawl.meta m WHERE m.name = 'floor';
  SELECT array_agg(e.id) INTO picked FROM (
    SELECT k.id FROM @crawl.site k WHERE k.state = @leased AND k.until <= now_at
    ORDER BY k.until LIMIT 500 FOR UPDATE SKIP LOCKED) e;
  IF picked IS NOT NULL THEN
    freed := cardinality(picked);
    back := @crawl.free(_member, picked, NULL, true, NULL);
  END IF;

  IF _pages_max IS NOT NULL THEN
    -- Leases under way may each become a page: they count as if they had. No other process may count them meanwhile.
    PERFORM pg_advisory_xact_lock(@pages_lock);
    SELECT least(_visits, _pages_max - coalesce((c."all" ->> 'pages')::bigint, 0)
      - coalesce((c."all" ->> 'leased')::bigint, 0) + freed) INTO room FROM @crawl.counters() AS c("all");
    now_at := @crawl.moment(_at);
  END IF;

  LOOP
    wanted := room - got;
    EXIT WHEN wanted <= 0 OR now_at < floor + _delay;
    -- Shard by shard, in the order of the index site_due: nothing is sorted, and no row is locked that is not leased or
    -- held. Rows that another process has locked are its own.
    SELECT array_agg(d.id) FILTER (WHERE NOT d.over AND NOT d.early), array_agg(d.id) FILTER (WHERE d.over),
        array_agg(d.id) FILTER (WHERE d.early AND NOT d.over), count(*)
      INTO picked, over, early, found FROM (
        SELECT d.id, coalesce(now_at < floor + d.delay_ms, false) AS early, coalesce(d.pages >=
          CASE WHEN _budgets ? d.name THEN (_budgets ->> d.name)::bigint ELSE _site_pages_max END, false) AS over
        FROM unnest(_shards) AS q(shard) CROSS JOIN LATERAL (
          SELECT k.id, k.name, k.pages, k.delay_ms FROM @crawl.site k
          WHERE k.shard = q.shard AND k.state = @waiting AND k.due_at <= now_at
          ORDER BY k.due_at LIMIT wanted FOR UPDATE SKIP LOCKED
        ) d LIMIT wanted) d;
    IF over IS NOT NULL THEN
      WITH held AS (UPDATE @crawl.site k SET state = @held WHERE k.id = ANY (over) RETURNING k.waiting)
      SELECT held_sites + count(*), held_links + sum(h.waiting) INTO held_sites, held_links FROM held h;
    END IF;
    IF early IS NOT NULL THEN
      UPDATE @crawl.site k SET due_at = floor + k.delay_ms WHERE k.id = ANY (early);
      put_off := put_off + cardinality(early);
    END IF;
    IF picked IS NOT NULL THEN
      RETURN QUERY WITH took AS MATERIALIZED (
        SELECT k.id, k.name, k.waiting, k.head, k.head_at, @crawl.pace(k) AS pace,
          greatest(k.delay_ms, _delay) AS delay, _first + got + p.nth - 1 AS number,
          b.via, b.links[k.head_at + 1] AS link, cardinality(b.links) <= k.head_at + 1 AS last
        FROM unnest(picked) WITH ORDINALITY AS p(id, nth) JOIN @crawl.site k ON k.id = p.id
        LEFT JOIN @crawl.block b ON b.site = k.id AND b.position = k.head
      ), used_up AS (
        DELETE FROM @crawl.block b USING took t WHERE t.last AND b.site = t.id AND b.position = t.head
      ), leased AS (
        UPDATE @crawl.site k SET state = @leased, waiting = t.waiting - 1, due_at = now_at + t.delay,
          delay_ms = t.delay, lease = _run_name || '.' || t.number, until = now_at + _lease_ms,
          holder = _member || '/' || _holder,
          leased = @crawl.with_tries(t.link, @crawl.tries_of(t.link) + 1), leased_via = t.via,
          head = CASE WHEN t.last THEN t.head + 1 ELSE t.head END,
          head_at = CASE WHEN t.last THEN coalesce((SELECT n.read_to FROM @crawl.block n
            WHERE n.site = t.id AND n.position = t.head + 1), 0) ELSE t.head_at + 1 END
        FROM took t WHERE k.id = t.id
      )
      SELECT t.number, t.name, now_at, now_at + _lease_ms, t.pace,
        CASE WHEN r.origin IS NOT NULL THEN @crawl.record(r) END,
        @crawl.with_tries(t.link, @crawl.tries_of(t.link) + 1), t.via, NULL::int, NULL::float8,
        last_entry
      FROM took t LEFT JOIN @crawl.robots r
        ON r.origin = split_part(@crawl.url_of(t.link), '/', 1) || '//' || split_part(@crawl.url_of(t.link), '/', 3);
      got := got + cardinality(picked);
    END IF;
    EXIT WHEN found < wanted OR put_off >= 2000;
  END LOOP;

  IF got < _visits THEN
    RETURN QUERY SELECT NULL::bigint, NULL, now_at, NULL::float8, NULL::json, NULL::json, NULL, NULL, q.shard,
        CASE WHEN n.due_at < floor + _delay THEN floor + _delay ELSE n.due_at END, last_entry
      FROM unnest(_shards) AS q(shard) LEFT JOIN LATERAL (
        SELECT k.due_at FROM @crawl.site k WHERE k.shard = q.shard AND k.state = @waiting ORDER BY k.due_at LIMIT 1
      ) n ON true;
  END IF;
  IF got + held_sites + freed > 0 THEN
    PERFORM @crawl.tell(jsonb_build_object('waiting', back - got - held_links, 'leased', got - freed,
      'held', held_links, 'sites_held', held_sites, 'settled gave-up', freed - back, 'changes', 1));
  END IF;
END $$;

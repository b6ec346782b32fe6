-- Adds to counters, by name: those of the columns of `tally`, a row for all of them, and others, a row each. There are
-- far more slots than connections to one crawl, so that two rarely meet in one.
CREATE FUNCTION @crawl.tell(_by jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  my_slot int := pg_backend_pid() % 32;
BEGIN
  INSERT INTO @crawl.tally AS t (slot, waiting, leased, parked, held, pages, sites, sites_parked, sites_held, forgotten,
      archived, changes)
    SELECT my_slot, coalesce(u.waiting, 0), coalesce(u.leased, 0), coalesce(u.parked, 0), coalesce(u.held, 0),
      coalesce(u.pages, 0), coalesce(u.sites, 0), coalesce(u.sites_parked, 0), coalesce(u.sites_held, 0),
      coalesce(u.forgotten, 0), coalesce(u.archived, 0), coalesce(u.changes, 0)
    FROM jsonb_to_record(_by) AS u(waiting bigint, leased bigint, parked bigint, held bigint, pages bigint,
      sites bigint, sites_parked bigint, sites_held bigint, forgotten bigint, archived bigint, changes bigint)
    ON CONFLICT (slot) DO UPDATE SET waiting = t.waiting + EXCLUDED.waiting, leased = t.leased + EXCLUDED.leased,
      parked = t.parked + EXCLUDED.parked, held = t.held + EXCLUDED.held,
      pages = t.pages + EXCLUDED.pages, sites = t.sites + EXCLUDED.sites,
      sites_parked = t.sites_parked + EXCLUDED.sites_parked, sites_held = t.sites_held + EXCLUDED.sites_held,
      forgotten = t.forgotten + EXCLUDED.forgotten, archived = t.archived + EXCLUDED.archived,
      changes = t.changes + EXCLUDED.changes;
  INSERT INTO @crawl.counter AS t (slot, name, n)
    SELECT my_slot, u.key, u.value::bigint FROM jsonb_each_text(_by) u
    WHERE strpos(u.key, ' ') > 0 AND u.value <> '0' ORDER BY u.key
    ON CONFLICT (slot, name) DO UPDATE SET n = t.n + EXCLUDED.n;
END $$;
-- All counters, by name.
CREATE FUNCTION @crawl.counters() RETURNS json LANGUAGE sql STABLE AS $$
  SELECT json_object_agg(c.name, c.n) FROM (
    SELECT a.name, sum(a.n) AS n FROM (
      SELECT t.name, t.n FROM @crawl.counter t
      UNION ALL SELECT u.key, u.value::bigint FROM @crawl.tally t, jsonb_each_text(to_jsonb(t) - 'slot') u
    ) a GROUP BY a.name) c
$$;

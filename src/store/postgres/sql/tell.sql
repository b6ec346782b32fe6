-- Adds to counters, by name. There are far more slots than connections to one crawl, so that two rarely meet in one.
CREATE FUNCTION @crawl.tell(_by jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO @crawl.tally AS t (slot, name, n)
    SELECT pg_backend_pid() % 32, u.key, u.value::bigint FROM jsonb_each_text(_by) u WHERE u.value <> '0' ORDER BY u.key
    ON CONFLICT (slot, name) DO UPDATE SET n = t.n + EXCLUDED.n;
END $$;

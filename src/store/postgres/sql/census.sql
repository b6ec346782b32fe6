-- The state of the crawl from its counters, and from the due index up to a ceiling; the end of that member's archive.
-- The time is never before the last settlement. Without _due, what is due is not looked for, and null.
CREATE FUNCTION @crawl.census(_member text, _due boolean, _at float8, OUT now float8, OUT counters json, OUT marks json,
  OUT "sitesDue" int, OUT next json, OUT archive json)
LANGUAGE plpgsql @settings AS $$
DECLARE
  now_at float8;
  last_shard int;
BEGIN
  SELECT greatest(@crawl.moment(_at), max(m.settled_at)) INTO now_at FROM @crawl.member m;
  now := now_at;
  SELECT m.value::int - 1 INTO last_shard FROM @crawl.meta m WHERE m.name = 'shards';
  -- One statement: the counters and the sites of one moment.
  SELECT @crawl.counters(),
    coalesce((SELECT json_object_agg(m.name, m.value) FROM @crawl.mark m), '{}'),
    (SELECT json_build_object('file', m.archive_file, 'bytes', m.archive_bytes)
      FROM @crawl.member m WHERE m.name = _member),
    CASE WHEN _due THEN (SELECT count(*) FROM (
      SELECT FROM generate_series(0, last_shard) AS q(shard) CROSS JOIN LATERAL (
        SELECT FROM @crawl.site k WHERE k.shard = q.shard AND k.state = @waiting AND k.due_at <= now_at LIMIT @due_max
      ) d LIMIT @due_max) due) END
    INTO counters, marks, archive, "sitesDue";
  IF NOT _due OR "sitesDue" > 0 THEN RETURN; END IF;
  SELECT json_build_object('site', n.name, 'dueAt', n.due_at, 'failures', n.failures) INTO next
    FROM generate_series(0, last_shard) AS q(shard) CROSS JOIN LATERAL (
      SELECT k.name, k.due_at, k.failures FROM @crawl.site k
      WHERE k.shard = q.shard AND k.state = @waiting ORDER BY k.due_at LIMIT 1) n
    ORDER BY n.due_at LIMIT 1;
END $$;

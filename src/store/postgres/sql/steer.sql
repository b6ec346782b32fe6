-- Makes changes in their order: objects as the contract has them.
CREATE FUNCTION @crawl.steer(_member text, _run bigint, _changes json, _at float8) RETURNS void
LANGUAGE plpgsql @settings AS $$
DECLARE
  change json;
BEGIN
  PERFORM @crawl.fence(_member, _run);
  FOR change IN SELECT json_array_elements(_changes) LOOP
    CASE change ->> 'kind'
      WHEN 'free' THEN
        PERFORM @crawl.free_held(_member, change ->> 'holder', (change ->> 'counted')::boolean,
          (change ->> 'culprit')::bigint, _at);
      WHEN 'retry-parked' THEN
        PERFORM @crawl.bring_back(@parked, 'parked', NULL, NULL, NULL, _at);
      WHEN 'release-held' THEN
        PERFORM @crawl.bring_back(@held, 'held', (change -> 'sitePagesMax' ->> 'all')::int,
          (change -> 'sitePagesMax' -> 'sites')::jsonb, NULL, _at);
      WHEN 'release-refused' THEN
        PERFORM @crawl.bring_back(@held, 'held', NULL, NULL, change ->> 'scope', _at);
      WHEN 'mark' THEN
        INSERT INTO @crawl.mark (name, value) VALUES (change ->> 'name', (change ->> 'value')::float8)
          ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value;
        PERFORM @crawl.tell('{"changes": 1}');
    END CASE;
  END LOOP;
END $$;

-- Makes changes in their order: objects as the contract has them. Those that touch many sites are bring_back's.
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
          change ->> 'culprit', NULL, _at);
      WHEN 'mark' THEN
        INSERT INTO @crawl.mark (name, value) VALUES (change ->> 'name', (change ->> 'value')::float8)
          ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value;
        PERFORM @crawl.tell('{"changes": 1}');
      WHEN 'write' THEN
        PERFORM @crawl.write_entry(change -> 'entry' ->> 'id', change -> 'entry' ->> 'text', _at);
    END CASE;
  END LOOP;
END $$;

-- The number of the last entry of the journal, 0 before the first; and a new entry: gives its number, or that of the
-- one that has its id. Who writes is alone, so that there is no gap; who reads waits for nobody.
CREATE FUNCTION @crawl.last_entry() RETURNS bigint LANGUAGE sql STABLE AS
  $$ SELECT coalesce(max(j.number), 0) FROM @crawl.journal j $$;
CREATE FUNCTION @crawl.write_entry(_id text, _text text, _at float8) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE @crawl.journal IN SHARE ROW EXCLUSIVE MODE;
  INSERT INTO @crawl.journal (number, id, at, text) VALUES (@crawl.last_entry() + 1, _id, @crawl.moment(_at), _text)
    ON CONFLICT (id) DO NOTHING;
  RETURN (SELECT j.number FROM @crawl.journal j WHERE j.id = _id);
END $$;
-- Entries after that number, so many at the most, in their order.
CREATE FUNCTION @crawl.entries_after(_after bigint, _count int)
RETURNS TABLE (number bigint, id text, at float8, text text) LANGUAGE sql STABLE AS $$
  SELECT j.number, j.id, j.at, j.text FROM @crawl.journal j WHERE j.number > _after ORDER BY j.number LIMIT _count
$$;

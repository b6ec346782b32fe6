-- Lets a move go on if no other one has begun since.
CREATE FUNCTION @crawl.check_move(_move text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM @crawl.meta WHERE name = '@moving' AND value = _move FOR SHARE;
  IF NOT FOUND THEN RAISE EXCEPTION 'the crawl is not being moved by %', _move USING ERRCODE = 'GS002'; END IF;
END $$;

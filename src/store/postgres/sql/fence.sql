-- Keeps the calls of a member's former process out: its leases were freed and its archive cut, and a call of it may
-- still be on its way. Each call holds the fence open until it has ended; `enter` closes it while it counts the run up.
CREATE FUNCTION @crawl.fence(_member text, _run bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(@fence, hashtext(_member));
  PERFORM FROM @crawl.member WHERE name = _member AND run = _run;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'member % was opened again by another process', _member USING ERRCODE = 'GS001';
  END IF;
END $$;

-- Keeps the calls of a member's former process out: its leases were freed and its archive cut, and a call of it may
-- still be on its way. Each call holds the fence open until it has ended; `enter` closes it while it counts the run up.
-- False when the member is not known by this run: the store went back to a moment before it.
CREATE FUNCTION @crawl.fence(_member text, _run bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  known bigint;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(@fence, hashtext(_member));
  SELECT m.run INTO known FROM @crawl.member m WHERE m.name = _member;
  IF known > _run THEN
    RAISE EXCEPTION 'member % was opened again by another process', _member USING ERRCODE = 'GS001';
  END IF;
  RETURN coalesce(known = _run, false);
END $$;

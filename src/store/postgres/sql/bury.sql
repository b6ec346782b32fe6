-- Frees the leases of a member that was not heard for so long. It was silent long before, and what it had under way has
-- ended: their requests may have left, and each site waits a full delay from now.
CREATE FUNCTION @crawl.bury(_dead text, _dead_ms float8, _at float8) RETURNS void LANGUAGE plpgsql @settings AS $$
BEGIN
  PERFORM FROM @crawl.member m WHERE m.name = _dead AND NOT m.freed AND m.seen_at <= @crawl.moment(_at) - _dead_ms
    FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM @crawl.free_held(_dead, NULL, true, NULL, NULL, _at);
  UPDATE @crawl.member m SET freed = true WHERE m.name = _dead;
END $$;

-- Frees the leases of a holder of that member, or of all its holders (null).
CREATE FUNCTION @crawl.free_held(_member text, _holder text, _counted boolean, _culprit bigint, _at float8) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  ids bigint[];
  back int;
BEGIN
  SELECT array_agg(h.id) INTO ids FROM (
    SELECT k.id FROM @crawl.site k WHERE k.state = @leased AND CASE WHEN _holder IS NULL
      THEN starts_with(k.holder, _member || '/') ELSE k.holder = _member || '/' || _holder END
    ORDER BY k.id FOR UPDATE) h;
  IF ids IS NULL THEN RETURN; END IF;
  back := @crawl.free(_member, ids, @crawl.moment(_at), _counted, _culprit);
  PERFORM @crawl.tell(jsonb_build_object('waiting', back, 'leased', -cardinality(ids),
    'settled gave-up', cardinality(ids) - back, 'changes', 1));
END $$;

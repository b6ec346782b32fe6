-- Frees the leases of a holder of that member, or of all its holders (null), but for those of one run (null: of none).
CREATE FUNCTION @crawl.free_held(_member text, _holder text, _counted boolean, _culprit text, _but text, _at float8)
RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  ids bigint[];
  back int;
BEGIN
  SELECT array_agg(h.id) INTO ids FROM (
    SELECT k.id FROM @crawl.site k WHERE k.state = @leased AND CASE WHEN _holder IS NULL
      THEN starts_with(k.holder, _member || '/') ELSE k.holder = _member || '/' || _holder END
      AND (_but IS NULL OR NOT starts_with(k.lease, _but || '.'))
    ORDER BY k.id FOR UPDATE) h;
  IF ids IS NULL THEN RETURN; END IF;
  back := @crawl.free(_member, ids, @crawl.moment(_at), _counted, _culprit);
  PERFORM @crawl.tell(jsonb_build_object('waiting', back, 'leased', -cardinality(ids),
    'settled gave-up', cardinality(ids) - back, 'changes', 1));
END $$;

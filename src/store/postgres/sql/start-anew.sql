-- Frees the leases of this member's earlier terms, uncounted: their visits have ended. _run_name is that of its leases
-- from now on. Where the store forgot settlements (_file not null), its archive ends where the files do: what lies
-- between is listed as dead, and is _archived bytes; batches go on after _batch.
CREATE FUNCTION @crawl.start_anew(_member text, _run bigint, _run_name text, _batch bigint, _file text, _bytes bigint,
  _archived bigint, _at float8) RETURNS void LANGUAGE plpgsql @settings AS $$
BEGIN
  PERFORM @crawl.fence(_member, _run);
  PERFORM @crawl.free_held(_member, NULL, false, NULL, _run_name, _at);
  -- Batches without records are forgotten, too: as long as the store knows of fewer than the member, it seems set back.
  UPDATE @crawl.member m SET batch = greatest(m.batch, _batch), archive_file = coalesce(_file, m.archive_file),
    archive_bytes = coalesce(_bytes, m.archive_bytes) WHERE m.name = _member;
  IF _file IS NULL THEN RETURN; END IF;
  PERFORM @crawl.tell(jsonb_build_object('archived', _archived, 'changes', 1));
END $$;

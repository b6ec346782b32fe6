-- Opens the crawl for a process of that member: frees the leases of its former process, and gives the number of this
-- run, that of the last batch of settlements, and where the settled part of the archive ends.
CREATE FUNCTION @crawl.enter(_member text, _at float8, OUT run bigint, OUT batch bigint, OUT file text,
  OUT bytes bigint)
LANGUAGE plpgsql @settings AS $$
#variable_conflict use_column
BEGIN
  PERFORM pg_advisory_xact_lock(@fence, hashtext(_member));
  INSERT INTO @crawl.member AS m (name, run) VALUES (_member, 1) ON CONFLICT (name) DO UPDATE SET run = m.run + 1
    RETURNING m.run, m.batch, m.archive_file, m.archive_bytes INTO run, batch, file, bytes;
  PERFORM @crawl.free_held(_member, NULL, true, NULL, _at);
END $$;

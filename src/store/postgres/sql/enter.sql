-- Opens the crawl for a process of that member: frees the leases of its former process. Gives the number of this run,
-- those of the last batch of settlements and the last beat, where the settled part of the archive ends, which crawl and
-- which server this is. A process that has just begun is ready for any server.
CREATE FUNCTION @crawl.enter(_member text, _about json, _at float8, OUT run bigint, OUT batch bigint,
  OUT beats bigint, OUT file text, OUT bytes bigint, OUT made text, OUT present text)
LANGUAGE plpgsql @settings AS $$
#variable_conflict use_column
DECLARE
  shut text;
BEGIN
  PERFORM pg_advisory_xact_lock(@fence, hashtext(_member));
  present := @crawl.present();
  INSERT INTO @crawl.meta (name, value) VALUES ('server', present), ('made', gen_random_uuid()::text)
    ON CONFLICT (name) DO NOTHING;
  SELECT m.value INTO made FROM @crawl.meta m WHERE m.name = 'made';
  shut := @crawl.shut_for(_at);
  INSERT INTO @crawl.member AS m (name, run, seen_at, freed, about, ready)
    VALUES (_member, 1, @crawl.moment(_at), false, _about, coalesce(shut, ''))
    ON CONFLICT (name) DO UPDATE SET run = m.run + 1, seen_at = EXCLUDED.seen_at, freed = false,
      about = EXCLUDED.about, ready = EXCLUDED.ready
    RETURNING m.run, m.batch, m.beats, m.archive_file, m.archive_bytes INTO run, batch, beats, file, bytes;
  PERFORM @crawl.free_held(_member, NULL, true, NULL, NULL, _at);
  IF shut IS NOT NULL THEN PERFORM @crawl.open_for(shut, _at); END IF;
END $$;

-- This member lives. Gives the number of the last entry of the journal, how often the member was heard, which server
-- this is and what the crawl is shut for, where the member's archive ends for the store and its last batch there, which
-- other members are dead, how often the crawl has changed, and whether a lease has run out, which a claim frees.
--
-- _beats, _batch  what the member knows; `back` when the store knows less: it went back in time. The crawl is shut
--                 then, unless the member is putting that right already (_noticed)
-- _ready          what the member is ready for
CREATE FUNCTION @crawl.beat(_member text, _run bigint, _about json, _beats bigint, _batch bigint, _noticed boolean,
  _ready text, _dead_ms float8, _at float8, OUT entry bigint, OUT beats bigint, OUT back boolean, OUT present text,
  OUT shut text, OUT batch bigint, OUT file text, OUT bytes bigint, OUT dead text[], OUT changes bigint,
  OUT overdue boolean)
LANGUAGE plpgsql @settings AS $$
#variable_conflict use_column
DECLARE
  now_at float8 := @crawl.moment(_at);
  shut_at float8;
BEGIN
  back := NOT @crawl.fence(_member, _run);
  present := @crawl.present();
  SELECT back OR m.beats < _beats OR m.batch < _batch INTO back FROM @crawl.member m WHERE m.name = _member;
  back := coalesce(back, true);
  IF back AND NOT _noticed THEN
    UPDATE @crawl.meta m SET value = 'back ' || pg_current_xact_id() WHERE m.name = 'server' AND m.value = present;
  END IF;
  shut := @crawl.shut_for(_at);
  INSERT INTO @crawl.member AS m (name, run, beats, seen_at, freed, about, ready)
    VALUES (_member, _run, _beats + 1, now_at, false, _about, _ready)
    ON CONFLICT (name) DO UPDATE SET run = EXCLUDED.run, beats = greatest(m.beats + 1, EXCLUDED.beats),
      seen_at = now_at, freed = false, about = EXCLUDED.about, ready = EXCLUDED.ready
    RETURNING m.beats, m.batch, m.archive_file, m.archive_bytes INTO beats, batch, file, bytes;
  IF shut IS NOT NULL THEN
    SELECT split_part(m.value, ' ', 1)::float8 INTO shut_at FROM @crawl.meta m WHERE m.name = 'shut';
    -- A member that the store forgot altogether has fallen silent, and ended its visits, by then.
    IF shut_at <= now_at - _dead_ms AND @crawl.open_for(shut, _at) THEN shut := NULL; END IF;
  END IF;
  -- While the crawl is shut, what it says of when others were heard may be old: they have the same time again.
  SELECT array_agg(m.name) INTO dead FROM @crawl.member m
    WHERE NOT m.freed AND m.seen_at <= now_at - _dead_ms AND (shut IS NULL OR shut_at <= now_at - _dead_ms);
  entry := @crawl.last_entry();
  overdue := EXISTS (SELECT FROM @crawl.site k WHERE k.state = @leased AND k.until <= now_at);
  SELECT sum(t.changes) INTO changes FROM @crawl.tally t;
END $$;

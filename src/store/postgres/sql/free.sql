-- Frees the leases of sites whose rows the caller has locked; gives how many of the links wait again, the others are
-- given up. Each site waits a full delay from that moment (null: from the end of its lease), because its request may
-- just have left. Where a culprit is known, only its claim counts as a try. Counters are the caller's.
CREATE FUNCTION @crawl.free(_member text, _ids bigint[], _at float8, _counted boolean, _culprit text) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
  back bigint[];
  texts text[];
BEGIN
  UPDATE @crawl.site k SET leased = @crawl.with_tries(k.leased, @crawl.tries_of(k.leased) - 1)
    WHERE k.id = ANY (_ids) AND NOT (_counted AND coalesce(_culprit, k.lease) = k.lease);
  SELECT coalesce(array_agg(k.id), '{}'), array_agg(k.leased) INTO back, texts
    FROM @crawl.site k WHERE k.id = ANY (_ids) AND @crawl.tries_of(k.leased) < @claims_max;
  PERFORM @crawl.put_first(back, texts);
  INSERT INTO @crawl.page (member, site, url, outcome, time, duration_ms, content_type, bytes, title, language,
      redirect, digest, truncated, noindex, depth, via, tries, robots, detail, tls, charset,
      charset_guessed)
    SELECT m.id, k.id, @crawl.url_of(k.leased), 'gave-up', coalesce(_at, k.until), 0, '', 0, '', '',
      '', '', '', false, @crawl.depth_of(k.leased), k.leased_via, @crawl.tries_of(k.leased), '', '', '', '', false
    FROM @crawl.member m CROSS JOIN @crawl.site k
    WHERE m.name = _member AND k.id = ANY (_ids) AND @crawl.tries_of(k.leased) >= @claims_max;
  IF cardinality(back) < cardinality(_ids) THEN
    PERFORM @crawl.tell(jsonb_build_object('by ' || m.id, cardinality(_ids) - cardinality(back)))
      FROM @crawl.member m WHERE m.name = _member;
  END IF;
  UPDATE @crawl.site k SET state = CASE WHEN k.waiting > 0 THEN @waiting ELSE @idle END,
    due_at = coalesce(_at, k.until) + k.delay_ms,
    lease = NULL, until = NULL, holder = NULL, leased = NULL, leased_via = NULL
    WHERE k.id = ANY (_ids);
  RETURN cardinality(back);
END $$;

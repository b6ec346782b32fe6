-- Makes a crawl whole: a new one (null), or one that this move has filled. Indexes on random keys come last, because
-- they are sorted first then; fails when a URL is known twice. Counters are as the rows say.
CREATE FUNCTION @crawl.make_whole(_move text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF _move IS NOT NULL THEN PERFORM @crawl.check_move(_move); END IF;
  ALTER TABLE @crawl.seen ADD CONSTRAINT seen_pkey PRIMARY KEY (print);
  CREATE INDEX page_of_site ON @crawl.page (site, hashtextextended(url, 0));
  IF _move IS NULL THEN RETURN; END IF;
  INSERT INTO @crawl.counter (slot, name, n)
    SELECT 0, c.name, c.n FROM (
      SELECT CASE k.state WHEN @parked THEN 'parked' WHEN @held THEN 'held' ELSE 'waiting' END, sum(k.waiting)
        FROM @crawl.site k GROUP BY 1
      UNION ALL SELECT CASE k.state WHEN @parked THEN 'sites_parked' ELSE 'sites_held' END, count(*)
        FROM @crawl.site k WHERE k.state = @parked OR k.state = @held AND strpos(k.name, ' ') = 0 GROUP BY 1
      UNION ALL SELECT 'sites', count(*) FROM @crawl.site k WHERE strpos(k.name, ' ') = 0 -- no queues of origins
      UNION ALL SELECT 'pages', sum(k.pages) FROM @crawl.site k
      UNION ALL SELECT 'settled ' || p.outcome, count(*) FROM @crawl.page p GROUP BY p.outcome
      UNION ALL SELECT 'by ' || p.member, count(*) FROM @crawl.page p GROUP BY p.member
    ) AS c(name, n) WHERE c.n > 0;
  PERFORM setval('@crawl.found', (SELECT max(k.found) FROM @crawl.site k));
  DELETE FROM @crawl.meta WHERE name = '@moving';
  ANALYZE @crawl.site, @crawl.block, @crawl.robots, @crawl.seen, @crawl.page;
END $$;

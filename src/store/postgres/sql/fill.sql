-- Writes a part of a crawl that comes from another store, in that move. Counters of rows come with make_whole.
--
-- _sites   objects: id, name, shard, state, pages, found (its place in the order of sites) and the parts of the pace
-- _blocks  objects: site, via, links; those of a site follow each other, and go after what the site has
-- _prints  fingerprints of the links and pages
-- _pages, _robots as keep_pages and keep_robots take them; _tally what rows do not tell, or null
CREATE FUNCTION @crawl.fill(_move text, _member text, _sites json, _blocks json, _prints bigint[], _pages json,
  _robots json, _tally json)
RETURNS void LANGUAGE plpgsql @settings AS $$
BEGIN
  PERFORM @crawl.check_move(_move);
  INSERT INTO @crawl.site (id, found, name, shard, state, pages,
      due_at, delay_ms, crawl_delay_ms, response_ms, failures)
    SELECT u.* FROM json_to_recordset(_sites) AS u(id bigint, found bigint, name text, shard int, state smallint,
      pages int, "dueAt" float8, "delayMs" float8, "crawlDelayMs" float8, "responseMs" float8, failures int);
  -- A site that is not there has no id, which no block may be without.
  WITH laid AS (
    INSERT INTO @crawl.block (site, position, via, links)
    SELECT k.id, k.tail + row_number() OVER (PARTITION BY k.id ORDER BY u.nth), u.via, u.links
    FROM ROWS FROM (json_to_recordset(_blocks) AS (site bigint, via text, links text[]))
      WITH ORDINALITY AS u(site, via, links, nth) LEFT JOIN @crawl.site k ON k.id = u.site
    RETURNING site, cardinality(links) AS n
  )
  UPDATE @crawl.site k SET tail = k.tail + t.blocks, waiting = k.waiting + t.links,
    state = CASE k.state WHEN @idle THEN @waiting ELSE k.state END
    FROM (SELECT l.site, count(*) AS blocks, sum(l.n) AS links FROM laid l GROUP BY l.site) t WHERE k.id = t.site;
  INSERT INTO @crawl.seen (print) SELECT * FROM unnest(_prints);
  PERFORM @crawl.keep_pages(m.id, _pages) FROM @crawl.member m WHERE m.name = _member;
  PERFORM @crawl.keep_robots(_robots);
  IF _tally IS NULL THEN RETURN; END IF;
  PERFORM @crawl.tell(jsonb_build_object('forgotten', _tally -> 'forgotten', 'archived', _tally -> 'archivedBytes',
    'changes', 1));
  UPDATE @crawl.member m SET archive_file = _tally -> 'archive' ->> 'file',
    archive_bytes = (_tally -> 'archive' ->> 'bytes')::bigint WHERE m.name = _member;
  INSERT INTO @crawl.mark (name, value) SELECT u.key, u.value::float8 FROM json_each_text(_tally -> 'marks') u;
  INSERT INTO @crawl.meta (name, value) SELECT '@note' || u.key, u.value FROM json_each_text(_tally -> 'notes') u;
  INSERT INTO @crawl.journal (number, id, at, text) SELECT u.* FROM json_to_recordset(_tally -> 'journal')
    AS u(number bigint, id text, at float8, text text);
END $$;

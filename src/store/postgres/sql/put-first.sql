-- Puts the leased links of these sites, as these texts, at the head of their queues. The caller has locked the sites,
-- and ends the leases.
CREATE FUNCTION @crawl.put_first(_ids bigint[], _texts text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE @crawl.block b SET read_to = k.head_at FROM unnest(_ids) AS u(id) JOIN @crawl.site k ON k.id = u.id
    WHERE k.head_at > 0 AND b.site = k.id AND b.position = k.head;
  INSERT INTO @crawl.block (site, position, via, links)
    SELECT k.id, k.head - 1, k.leased_via, ARRAY[u.text]
    FROM unnest(_ids, _texts) AS u(id, text) JOIN @crawl.site k ON k.id = u.id;
  UPDATE @crawl.site k SET head = k.head - 1, head_at = 0, waiting = k.waiting + 1 WHERE k.id = ANY (_ids);
END $$;

-- The blocks of a site's queue after that one (null: from its head), so many at the most, each with the links that
-- still wait. Blocks are numbered without a gap, so that their numbers bound what is read, whatever the plan.
CREATE FUNCTION @crawl.queue(_site bigint, _after bigint, _blocks int)
RETURNS TABLE ("position" bigint, via text, links text[]) LANGUAGE sql STABLE AS $$
  SELECT b.position, b.via, b.links[CASE WHEN b.position = k.head THEN k.head_at ELSE b.read_to END + 1:]
  FROM @crawl.site k JOIN @crawl.block b ON b.site = k.id AND b.position
    BETWEEN greatest(k.head, _after + 1) AND least(k.tail, greatest(k.head, _after + 1) + _blocks - 1)
  WHERE k.id = _site
$$;

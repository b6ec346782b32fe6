-- Blocks that are in no queue. $1 and $2: after this site and position (null: from the first), $3: how many.
-- Result: a sentence, the id of the site and the position.
SELECT b.site::text AS site, b.position, format('block %s of waiting links of the site %s is in no queue',
  b.position, coalesce(k.name, b.site::text)) AS says
FROM @crawl.block b LEFT JOIN @crawl.site k ON k.id = b.site
WHERE ($1::bigint IS NULL OR (b.site, b.position) > ($1, $2::bigint))
  AND (k.id IS NULL OR b.position NOT BETWEEN k.head AND k.tail)
ORDER BY b.site, b.position LIMIT $3

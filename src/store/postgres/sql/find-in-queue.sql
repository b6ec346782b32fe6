-- Looks for a link in the queue of its site, as far as @blocks_max blocks. $1: the id of the site, $2: the URL.
-- Result: the text of the link and where it was found, null when it is not there; how many links wait before it, and
-- how many were looked at.
SELECT f.text, f.via, t.n + f.nth - 1 AS ahead, t.n + coalesce(f.nth, 0) AS "lookedAt"
FROM (SELECT) one LEFT JOIN LATERAL (
  SELECT q.position, q.via, u.text, u.nth
  FROM @crawl.queue($1, NULL, @blocks_max) q CROSS JOIN LATERAL unnest(q.links) WITH ORDINALITY AS u(text, nth)
  WHERE @crawl.url_of(u.text) = $2 LIMIT 1
) f ON true CROSS JOIN LATERAL (
  SELECT coalesce(sum(cardinality(q.links)), 0)::bigint AS n
  FROM @crawl.queue($1, NULL, @blocks_max) q WHERE f.position IS NULL OR q.position < f.position
) t

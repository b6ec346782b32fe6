-- Fingerprints of known URLs. $1: after this one (null: from the first), $2: how many. Result: a row unless there are
-- no more: the fingerprints, 8 bytes each, and the last.
SELECT string_agg(int8send(k.print), '') AS prints, max(k.print)::text AS last
FROM (SELECT print FROM @crawl.seen WHERE $1::bigint IS NULL OR print > $1 ORDER BY print LIMIT $2) k
HAVING count(*) > 0

-- Ids of sites in the order they were found. $1: after this place, $2: a text that is in their names, $3: how many.
-- Result: the ids, 8 bytes each, and the place of the last.
SELECT string_agg(int8send(f.id), '' ORDER BY f.found) AS ids, max(f.found) AS last
FROM (SELECT k.id, k.found FROM @crawl.site k WHERE k.found > $1 AND strpos(k.name, $2) > 0 ORDER BY k.found LIMIT $3) f
